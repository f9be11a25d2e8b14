"""Lines, and pieces of programs, that tests of the process's own streams share."""

from __future__ import annotations

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
OK = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
# What a server may say at any time.
NEWS = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'
# A server that answers each line, by what it finds in `sys`.
SERVE = """
import os, subprocess, sys
import linegate

def serve():
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(b'{"jsonrpc":"2.0","id":1,"result":{}}\\n')
        sys.stdout.buffer.flush()
"""
# Each guard, and the descriptors that it takes.
GUARDS = {"install()": {0, 1}, "gated_stdio()": {0, 1}, "guard_stdout()": {1}, "pump()": {0}}

# Whether everything is as it was.
CHECK = """
def same():
    return (sys.stdin, sys.stdout, [(os.fstat(d).st_ino, os.fstat(d).st_dev) for d in (0, 1, 2)])
before, descriptors = same(), set(os.listdir('/proc/self/fd')) if os.path.exists('/proc/self/fd') else None
"""
