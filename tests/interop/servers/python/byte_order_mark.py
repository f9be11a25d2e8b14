"""A writer of text that begins with a byte order mark, as on Windows."""

from serve import serve, write

write(b"\xef\xbb\xbf")
serve()
