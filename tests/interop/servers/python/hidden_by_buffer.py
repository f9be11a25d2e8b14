"""A banner that stays in a buffer and dies with it, but where Python does not buffer."""

import os

from serve import serve

print("Ready (buffered)")
serve()
os._exit(0)
