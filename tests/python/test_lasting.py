"""What holds without a `with`, and inside a signal handler: an entered guard stays, and the wire is clean."""

from __future__ import annotations

import io
import json
import os

import linegate
import pytest

from .conftest import Run
from .pieces import OK, PING, SERVE

WAYS = {
    "entered": "linegate.install().__enter__()",
    "stay": "linegate.install().stay()",
    "stay, though its end was looked at": (
        "def begin():\n    guard = linegate.install()\n    guard.__exit__\n    guard.stay()\nbegin()"
    ),
    "in a stack that is dropped": (
        "import contextlib\ndef begin():\n    contextlib.ExitStack().enter_context(linegate.install())\nbegin()"
    ),
    "handle kept to the end": "guard = linegate.install()\nguard.__enter__()",
}


@pytest.mark.parametrize("way", WAYS)
def test_an_entered_guard_stays_to_the_end_of_the_process(run: Run, way: str) -> None:
    code = SERVE + WAYS[way] + "\nimport atexit, ctypes, gc\ngc.collect()\n"
    code += "print('stray')\natexit.register(print, 'late')\nctypes.CDLL(None).puts(b'of C')\nserve()\n"
    ended = run(code, PING + b'{"a":1,"a":2}\n' + PING)
    lines = ended.stdout.splitlines(keepends=True)
    # The refused line ended the session; the server saw the first alone, and nothing else is on the wire.
    assert lines.count(OK) == 1 and all("jsonrpc" in json.loads(line) for line in lines)
    assert all(word in ended.stderr for word in ("stray", "late", "of C", "refused line 2"))


@pytest.mark.parametrize("end", ["guard.__exit__(None, None, None)", "stack.close()"])
def test_it_ends_where_it_is_asked_to(run: Run, end: str) -> None:
    code = "import contextlib\nguard = linegate.install()\nstack = contextlib.ExitStack()\n"
    code += "guard.__enter__()\n" if "guard" in end else "stack.enter_context(guard)\n"
    assert run(SERVE + code + f"print('stray')\n{end}\nprint('after')\n").stdout == b"after\n"


def test_an_async_guard_stays_too(run: Run) -> None:
    code = """
import asyncio, gc, linegate.aio
async def main():
    await linegate.aio.gated_stdio().__aenter__()
    gc.collect()
    print('stray')
asyncio.run(main())
print('stray')
"""
    ended = run("import linegate\n" + code)
    assert ended.stdout == b"" and ended.stderr.count("stray") == 2


SIGNALS = """
import signal
GOOD = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\\n'
def handler(*_):
    sys.stdout.buffer.write(HANDLED)
signal.signal(signal.SIGALRM, handler)
with linegate.guard_stdout(on_refused=lambda refused: None):
    signal.setitimer(signal.ITIMER_REAL, .0003, .0003)
    for _ in range(4000):
        sys.stdout.buffer.write(WRITTEN)
    signal.setitimer(signal.ITIMER_REAL, 0)
sys.stderr.write('whole')
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
@pytest.mark.parametrize(("handled", "written"), [("b'bad\\n'", "GOOD"), ("GOOD", "b'bad\\n'"), ("b'bad\\n'",) * 2])
def test_a_handler_that_writes_inside_the_gate_leaves_the_wire_clean(run: Run, handled: str, written: str) -> None:
    code = SIGNALS.replace("HANDLED", handled).replace("WRITTEN", written)
    ended = run("import sys, linegate\n" + code)
    assert ended.stderr.endswith("whole")
    lines = set(ended.stdout.splitlines())
    assert len(lines) <= 1 and all("jsonrpc" in json.loads(line) for line in lines)


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_a_handlers_line_waits_for_the_end_of_the_line_it_fell_into() -> None:
    note = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'

    class Slow(io.RawIOBase):
        """Takes seven bytes at a time, and has a handler run in between."""

        out = b""
        calls = 0

        def writable(self) -> bool:
            return True

        def write(self, data: bytes, /) -> int:  # type: ignore[override]
            self.calls += 1
            if self.calls == 2:
                wire.write(note)
            taken = bytes(data[:7])
            self.out += taken
            return len(taken)

    slow = Slow()
    wire = linegate.Wire(slow)
    wire.write(OK)
    assert slow.out == OK + note


def test_an_interrupt_inside_a_line_ends_the_wire() -> None:
    class Torn(io.RawIOBase):
        out = b""

        def write(self, data: bytes, /) -> int:  # type: ignore[override]
            if self.out:
                raise KeyboardInterrupt
            self.out = bytes(data[:7])
            return 7

    torn = Torn()
    wire = linegate.Wire(torn)
    with pytest.raises(KeyboardInterrupt):
        wire.write(OK)
    with pytest.raises(OSError, match="interrupted inside a line"):
        wire.write(OK)
    assert torn.out == OK[:7]


def test_the_stand_ins_take_what_servers_begin_with(run: Run) -> None:
    code = """
with linegate.install():
    sys.stdout.reconfigure(encoding='utf-8', errors='replace', newline='\\n', line_buffering=True, write_through=True)
    sys.stdin.reconfigure(encoding='utf-8')
    assert sys.stdout.line_buffering in (True, False) and sys.stdout.write_through in (True, False)
    assert (sys.stdin.line_buffering, sys.stdin.write_through) == (False, False)
    assert (sys.stdin.name, sys.stdin.mode, sys.stdout.name, sys.stdout.mode) == ('<stdin>', 'r', '<stdout>', 'w')
    try:
        sys.stdout.reconfigure(colour=True)
    except TypeError:
        serve()
"""
    assert run(SERVE + code, PING).stdout == OK


def test_a_message_that_is_printed_is_told_where_the_wire_is(run: Run) -> None:
    code = f"with linegate.install():\n    print({OK.decode().rstrip()!r})\n    print('{{}}')\n"
    ended = run(SERVE + code)
    assert ended.stdout == b"" and ended.stderr.count("goes to sys.stdout.buffer") == 1
