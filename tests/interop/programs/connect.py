"""The command that stands for a server made by ``forkserver.py``.

usage: connect.py SOCKET PROGRAM ARGUMENT

Hands its standard streams over and stays until that server has ended. Standard
library only, so that it starts at once.
"""

import contextlib
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as link:
    link.connect(sys.argv[1])
    socket.send_fds(link, ["\n".join(sys.argv[2:4]).encode()], [0, 1, 2])
    # Kept open here, they would hide the server's end from its reader.
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    with contextlib.suppress(ConnectionResetError):
        link.recv(1)
