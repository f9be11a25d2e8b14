"""A server's own standard input and output, gated: `install` for an SDK that takes what it finds in `sys`,
`gated_stdio` for code that takes streams, `guard_stdout` for the way out alone, `pump` for a program that insists on
descriptor 0.

All of them are context managers, restore everything when they end, and stand alone: a process has one standard input
and one standard output.
"""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from linegate._descriptors import STDIN, STDOUT, Moved, duplicate
from linegate._errors import ClosedError
from linegate._gate import Gate, session
from linegate._stream import CHUNK, wrap
from linegate._tell import OnRefused, tell, tell_refused
from linegate._wire import Wire

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from linegate._options import Options


class Stdio(NamedTuple):
    """Both streams of a gated server."""

    stdin: io.BufferedReader
    """Accepted lines of the client."""
    wire: Wire
    """The one writer of standard output."""


class _GuardedWire(Wire):
    """The wire of a guard, which ends with the guard: an SDK closes the stream that it found in `sys` when it is
    collected."""

    def close(self) -> None:
        pass

    def end(self) -> None:
        super().close()


class _Stray(io.TextIOBase):
    """What `sys.stdout` is under a guard: its text goes to standard error, with where it came from. Its buffer is the
    wire."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self.buffer = wire
        self._last: Optional[str] = None

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        place = _caller()
        if place != self._last:
            self._last = place
            tell(f"linegate: kept off the wire, printed {place}:\n")
        tell(text)
        return len(text)

    def fileno(self) -> int:
        # Standard error, as long as the guard stands: for a child process that is to write to its parent's output.
        return STDOUT


def _caller() -> str:
    """The place in the program that is printing."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return f"at {frame.f_code.co_filename}:{frame.f_lineno}"


@contextmanager
def guard_stdout(
    *, gate: Optional[Gate] = None, on_refused: Optional[OnRefused] = None, **options: Unpack[Options]
) -> Iterator[Wire]:
    """Keeps everything but a server's messages off standard output, and gives the wire.

    Until it ends, descriptor 1 is standard error, for C code and child processes too; what is printed goes there with
    a note of where it came from; what is written to `sys.stdout.buffer`, as SDKs do, is judged line by line.
    """
    with ExitStack() as stack:
        stdout = sys.stdout
        # What was printed before belongs to before.
        stdout.flush()
        moved = Moved(STDOUT)
        stack.callback(moved.restore)
        # What was printed in between, to an object that was kept, isn't for the wire.
        stack.callback(_flush, stdout)
        file = os.fdopen(duplicate(moved.private), "wb", buffering=0)
        wire = _GuardedWire(file, gate=gate, on_refused=on_refused, **options)
        stack.callback(wire.end)
        stray = _Stray(wire)
        sys.stdout = stray
        stack.callback(_put_back, "stdout", stray, stdout)
        yield wire


def _flush(stream: Any) -> None:
    with suppress(OSError, ValueError):
        stream.flush()


def _put_back(name: str, ours: Any, before: Any) -> None:
    # Somebody else's replacement is somebody else's to take back.
    if getattr(sys, name) is ours:
        setattr(sys, name, before)


@contextmanager
def gated_stdio(
    *, on_refused: Optional[OnRefused] = None, in_flight: int = 1024, **options: Unpack[Options]
) -> Iterator[Stdio]:
    """Gates this process's standard input and output as one session, and gives both.

    Refused requests are answered on the wire, between the server's own lines. Until it ends, descriptor 0 is the null
    device and descriptor 1 standard error. The options are the client's; see `session`.
    """
    client, server = session(in_flight=in_flight, **options)
    with guard_stdout(gate=server, on_refused=on_refused) as wire, ExitStack() as stack:
        moved = Moved(STDIN)
        stack.callback(moved.restore)
        file = os.fdopen(duplicate(moved.private), "rb", buffering=0)
        # A thread may still read it when the guard ends: it is left to it, and closed with the last reader.
        yield Stdio(wrap(file, gate=client, on_refused=on_refused, reply=replier(wire)), wire)


def replier(wire: Wire) -> Callable[[bytes], None]:
    """What answers refused requests on a wire."""

    def reply(line: bytes) -> None:
        # Where the client is gone, the server finds that out by itself.
        with suppress(OSError, ValueError, ClosedError):
            wire.send(line)

    return reply


@contextmanager
def install(
    *, on_refused: Optional[OnRefused] = None, in_flight: int = 1024, **options: Unpack[Options]
) -> Iterator[Stdio]:
    """Gates `sys.stdin` and `sys.stdout`, for an SDK that takes them from there. It must begin before the SDK does.

        with linegate.install():
            mcp.run()

    As of `gated_stdio`; and `sys.stdin` is the gated reader as text, `sys.stdout.buffer` the wire.
    """
    with gated_stdio(on_refused=on_refused, in_flight=in_flight, **options) as stdio:
        before = sys.stdin
        # Lines end with their line feed alone; the gate lets nothing but UTF-8 through.
        ours = io.TextIOWrapper(stdio.stdin, encoding="utf-8", newline="\n")
        sys.stdin = ours
        try:
            yield stdio
        finally:
            _put_back("stdin", ours, before)


@contextmanager
def pump(*, on_refused: Optional[OnRefused] = None, **options: Unpack[Options]) -> Iterator[Gate]:
    """Puts a pipe in the place of descriptor 0, into which a thread copies the accepted lines; gives the gate, for
    its counters.

    For what insists on the descriptor: C code, `asyncio.connect_read_pipe(sys.stdin)`. A child process that inherits
    it reads accepted lines too. Nothing is answered: standard output isn't touched. POSIX only.
    """
    if os.name != "posix":
        raise NotImplementedError("linegate.pump needs a POSIX system: its thread waits on two descriptors")
    gate = Gate(**options)
    moved = Moved(STDIN)
    inside, outside = os.pipe()
    stop_read, stop_write = os.pipe()
    os.dup2(inside, STDIN)
    os.close(inside)
    told = on_refused or tell_refused
    thread = threading.Thread(
        target=_copy, args=(duplicate(moved.private), outside, stop_read, gate, told), name="linegate-pump", daemon=True
    )
    thread.start()
    try:
        yield gate
    finally:
        # Gone from descriptor 0, the pipe has no reader, and the thread no reason to wait.
        moved.restore()
        os.close(stop_write)
        thread.join()


def _copy(source: int, sink: int, stop: int, gate: Gate, on_refused: OnRefused) -> None:
    import select

    try:
        while not gate.closed:
            if stop in select.select([source, stop], [], [])[0]:
                break
            chunk = os.read(source, CHUNK)
            lines, all_refused = gate.filter(chunk) if chunk else gate.close().drain()
            for refused in all_refused:
                on_refused(refused)
            view = memoryview(lines)
            while view:
                view = view[os.write(sink, view) :]
            if not chunk:
                break
    except OSError:
        # Nobody reads any more.
        pass
    finally:
        for descriptor in (source, sink, stop):
            os.close(descriptor)
