"""Stands in a pipeline and keeps a copy of the bytes that pass each way.

usage: tap.py STEM -- COMMAND ...

Bytes from stdin to the command are kept in STEM.in, those from the command to
stdout in STEM.out. Standard library only: it runs in any interpreter.
"""

import os
import subprocess
import sys
import threading


def pump(source: int, target: int, copy: str) -> None:
    with open(copy, "wb", buffering=0) as out:
        while chunk := os.read(source, 65536):
            out.write(chunk)
            try:
                rest = memoryview(chunk)
                while rest:
                    rest = rest[os.write(target, rest) :]
            except OSError:
                break  # the reader has gone; the other way may still be open
    os.close(target)


def main(stem: str, command: list[str]) -> int:
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert child.stdin and child.stdout
    # Each pump closes what it writes to, so the pipes are taken from the objects.
    to_child, from_child = os.dup(child.stdin.fileno()), child.stdout.fileno()
    child.stdin.close()
    up = threading.Thread(target=pump, args=(0, to_child, stem + ".in"), daemon=True)
    up.start()
    pump(from_child, 1, stem + ".out")
    return child.wait()


if __name__ == "__main__":
    split = sys.argv.index("--")
    status = main(sys.argv[1], sys.argv[split + 1 :])
    # Not through the interpreter's end: a daemon thread may hold stdin.
    os._exit(status if status >= 0 else 128 - status)
