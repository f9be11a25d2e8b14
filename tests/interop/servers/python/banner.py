"""A print at import, as libraries do that load something."""

from serve import serve

print("Loading model weights (3 files)...", flush=True)
serve()
