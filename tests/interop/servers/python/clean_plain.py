"""Clean: the server as it is."""

from serve import serve

serve()
