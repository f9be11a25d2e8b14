# mypy: ignore-errors
"""Imports the SDK once and forks a server for each connection, to save seconds.

usage: forkserver.py DESCRIPTOR

DESCRIPTOR is a listening Unix socket. ``connect.py`` sends its own descriptors 0
to 2 and a program with its argument; the fork runs that program on these descriptors,
to the interpreter's own end, as a freshly started one would. Ends with status 0 if
soon after SIGTERM no fork is left, else with 1.
"""

import gc
import os
import signal
import socket
import sys
import time

import anyio
import dirty
import server

PROGRAMS = {"server.py": server.main, "dirty.py": dirty.main}
PATIENCE_SECONDS = 5


def serve(connection: socket.socket) -> None:
    message, descriptors, _, _ = socket.recv_fds(connection, 4096, 3)
    for target, source in enumerate(descriptors):
        os.dup2(source, target)
        os.close(source)
    program, argument = message.decode().split("\n")
    # Its end tells connect.py when to end: not before this process has.
    connection.detach()
    PROGRAMS[program](argument)


def main(descriptor: int) -> None:
    listener = socket.socket(fileno=descriptor)
    # What the SDK only does for the first server, and collections in the forks.
    server.build(os.devnull)
    anyio.run(anyio.sleep, 0)
    gc.collect()
    gc.freeze()
    children = set()
    running = True

    def stop(*_) -> None:
        nonlocal running
        running = False

    signal.signal(signal.SIGTERM, stop)
    listener.settimeout(0.2)
    while running:
        reap(children)
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            continue
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            listener.close()
            connection.setblocking(True)
            return serve(connection)
        children.add(child)
        connection.close()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while children and time.monotonic() < deadline:
        reap(children)
        time.sleep(0.02)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        print(f"a forked server did not end: {child}", file=sys.stderr)
    sys.exit(1 if children else 0)


def reap(children: set) -> None:
    for child in list(children):
        if os.waitpid(child, os.WNOHANG)[0]:
            children.discard(child)


if __name__ == "__main__":
    main(int(sys.argv[1]))
