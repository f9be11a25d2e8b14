"""A word of farewell, when the client is about to close its end."""

import atexit

from serve import serve

atexit.register(print, "Server stopped, goodbye!")
serve()
