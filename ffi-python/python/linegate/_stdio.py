"""A server's own standard input and output, gated: `install` for an SDK that takes what it finds in `sys`,
`gated_stdio` for code that takes streams, `guard_stdout` for the way out alone, `pump` for a program that insists on
descriptor 0.

All of them are context managers: without `with` they do nothing, and Python warns of that. They restore everything when
they end, however that comes, and stand alone: a process has one standard input and one standard output.
"""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from linegate._descriptors import STDIN, STDOUT, Moved
from linegate._errors import ClosedError
from linegate._gate import Gate, gate_of, session
from linegate._guard import Guard, Undo
from linegate._options import encode
from linegate._stream import CHUNK, GatedRaw
from linegate._tell import OnRefused, hearer, tell
from linegate._waiting import Stop, Stoppable
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


class GuardedWire(Wire):
    """The wire of a guard, which ends with the guard: an SDK closes the stream that it found in `sys` when it is
    collected.

    A session that ends with a line of the server's own is over for both its sides: nothing that the server would still
    do for it could be answered. So its reader is sent to its end."""

    end_reader: Optional[Callable[[], object]] = None

    def _judge(self, line: bytes, strict: bool) -> bool:
        try:
            return super()._judge(line, strict)
        finally:
            if self.gate.closed and self.end_reader is not None:
                end_reader, self.end_reader = self.end_reader, None
                end_reader()
                tell("linegate: the server's own line ended the session: what the client still sends is left unread.\n")

    def close(self) -> None:
        pass

    def end(self) -> None:
        super().close()


class _Stray(io.TextIOBase):
    """What `sys.stdout` is under a guard: its text goes to standard error, with where it came from. Its buffer is the
    wire."""

    encoding = "utf-8"
    errors = "backslashreplace"
    name = "<stdout>"
    mode = "w"
    line_buffering = True
    write_through = True

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self.buffer = wire
        self._last: Optional[str] = None

    def writable(self) -> bool:
        return True

    def reconfigure(
        self,
        *,
        encoding: Optional[str] = None,
        errors: Optional[str] = None,
        newline: Optional[str] = None,
        line_buffering: Optional[bool] = None,
        write_through: Optional[bool] = None,
    ) -> None:
        """Taken, as servers begin with it, and without effect: nothing of this text is for the wire."""

    def write(self, text: str, /) -> int:
        place = _caller()
        if place != self._last:
            self._last = place
            hint = " (a message; what is for the wire goes to sys.stdout.buffer)" if _is_message(text) else ""
            tell(f"linegate: kept off the wire, printed {place}{hint}:\n")
        tell(text)
        return len(text)

    def fileno(self) -> int:
        # Standard error, as long as the guard stands: for a child process that is to write to its parent's output.
        return STDOUT


def _is_message(text: str) -> bool:
    if not text.startswith("{"):
        return False
    lines, _ = Gate(sender="server").filter(text.rstrip("\n").encode("utf-8", "surrogatepass") + b"\n")
    return bool(lines)


def _caller() -> str:
    """The place in the program that is printing."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename == __file__:
        if frame.f_back is None:
            return "by the interpreter"  # An `atexit` callback that is none of Python's own functions.
        frame = frame.f_back
    return f"at {frame.f_code.co_filename}:{frame.f_lineno}"


def guard_stdout(
    *, gate: Optional[Gate] = None, on_refused: Optional[OnRefused] = None, **options: Unpack[Options]
) -> Guard[Wire]:
    """Keeps everything but a server's messages off standard output, and gives the wire.

    Until it ends, descriptor 1 is standard error (the null device, where that is closed), for C code and child
    processes too; what is printed goes there with a note of where it came from; what is written to
    `sys.stdout.buffer`, as SDKs do, is judged line by line. `UsageError` if standard output is closed.
    """
    told = hearer(on_refused)
    made = gate_of(gate, options) if gate is not None else None
    encode(options)
    return Guard("linegate.guard_stdout", lambda undo: begin_stdout(undo, made, told, **options))


def begin_stdout(
    undo: Undo, gate: Optional[Gate], on_refused: Optional[OnRefused], **options: Unpack[Options]
) -> GuardedWire:
    """What `guard_stdout` does."""
    stdout: Any = sys.stdout
    if stdout is not None:
        # What was printed before belongs to before.
        stdout.flush()
    moved = Moved(STDOUT)
    undo.add(moved.restore)
    # What was printed in between, to an object that was kept, isn't for the wire.
    undo.add(partial(_flush, stdout))
    moved.move()
    file = moved.open("wb")
    undo.add(file.close)
    wire = GuardedWire(file, gate=gate, on_refused=on_refused, **options)
    undo.add(wire.end)
    stray = _Stray(wire)
    undo.add(partial(_put_back, "stdout", stray, stdout))
    sys.stdout = stray
    return wire


def _flush(stream: Any) -> None:
    if stream is not None:
        with suppress(OSError, ValueError):
            stream.flush()


def _put_back(name: str, ours: Any, before: Any) -> None:
    # Somebody else's replacement is somebody else's to take back.
    if getattr(sys, name) is ours:
        setattr(sys, name, before)


def gated_stdio(
    *, on_refused: Optional[OnRefused] = None, in_flight: int = 1024, **options: Unpack[Options]
) -> Guard[Stdio]:
    """Gates this process's standard input and output as one session, and gives both.

    Refused requests are answered on the wire, between the server's own lines. Where the session ends with a line of the
    server's own, so does what it reads. Until the guard ends, descriptor 0 is the null device and descriptor 1 standard
    error. The options are the client's; see `session`. `UsageError` if one of the
    two is closed.
    """
    # What can't be is told at once, by whichever line it stands in.
    told, gates = hearer(on_refused), session(in_flight=in_flight, **options)
    return Guard("linegate.gated_stdio", lambda undo: _begin_stdio(undo, told, gates))


def _begin_stdio(undo: Undo, on_refused: OnRefused, gates: tuple[Gate, Gate]) -> Stdio:
    client, server = gates
    wire = begin_stdout(undo, server, on_refused)
    moved = Moved(STDIN)
    undo.add(moved.restore)
    moved.move()
    # A thread may still read it when the guard ends. It is closed with the last reader.
    raw = GatedRaw(Stoppable(moved.open("rb")), client, on_refused, replier(wire))
    undo.add(raw.end)
    wire.end_reader = raw.end
    return Stdio(io.BufferedReader(raw, CHUNK), wire)


def replier(wire: Wire) -> Callable[[bytes], None]:
    """What answers refused requests on a wire."""

    def reply(line: bytes) -> None:
        # Where the client is gone, the server finds that out by itself.
        with suppress(OSError, ValueError, ClosedError):
            wire.send(line)

    return reply


def install(
    *, on_refused: Optional[OnRefused] = None, in_flight: int = 1024, **options: Unpack[Options]
) -> Guard[Stdio]:
    """Gates `sys.stdin` and `sys.stdout`, for an SDK that takes them from there. It must begin before the SDK does.

        with linegate.install():
            mcp.run()

    As of `gated_stdio`; and `sys.stdin` is the gated reader as text, `sys.stdout.buffer` the wire.
    `linegate.install().stay()` lasts to the end of the process.
    """
    told, gates = hearer(on_refused), session(in_flight=in_flight, **options)
    return Guard("linegate.install", lambda undo: _begin_install(undo, told, gates))


def _begin_install(undo: Undo, on_refused: OnRefused, gates: tuple[Gate, Gate]) -> Stdio:
    stdio = _begin_stdio(undo, on_refused, gates)
    before = sys.stdin
    # Lines end with their line feed alone; the gate lets nothing but UTF-8 through.
    ours: Any = io.TextIOWrapper(stdio.stdin, encoding="utf-8", newline="\n")
    ours.mode = "r"
    undo.add(partial(_put_back, "stdin", ours, before))
    sys.stdin = ours
    return stdio


def pump(*, on_refused: Optional[OnRefused] = None, **options: Unpack[Options]) -> Guard[Gate]:
    """Puts a pipe in the place of descriptor 0, into which a thread copies the accepted lines; gives the gate, for
    its counters.

    For what insists on the descriptor: C code, `asyncio.connect_read_pipe(sys.stdin)`. A child process that inherits
    it reads accepted lines too, and may keep it: that doesn't hold up the end. Nothing is answered: standard output
    isn't touched. POSIX only. `UsageError` if standard input is closed.
    """
    if os.name != "posix":
        raise NotImplementedError("linegate.pump needs a POSIX system: its thread waits on two descriptors")
    told, gate = hearer(on_refused), Gate(**options)
    return Guard("linegate.pump", lambda undo: _begin_pump(undo, told, gate))


def _begin_pump(undo: Undo, on_refused: OnRefused, gate: Gate) -> Gate:
    moved = Moved(STDIN)
    undo.add(moved.restore)
    # Before anything is opened, which would get the number of a closed descriptor 0.
    moved.move()
    inside, outside = map(io.FileIO, os.pipe(), ("rb", "wb"))
    stop = Stop()
    threads: list[threading.Thread] = []
    undo.add(stop.close)
    undo.add(partial(_join, threads))
    undo.add(stop.set)
    undo.add(inside.close)
    os.dup2(inside.fileno(), STDIN)
    inside.close()
    given = (moved.open("rb"), outside, stop, gate, on_refused)
    threads.append(threading.Thread(target=_copy, args=given, name="linegate-pump", daemon=True))
    threads[0].start()
    return gate


def _join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        # One that an interrupt kept from its start has no identity, and none that waits for it.
        if thread.ident is not None:
            thread.join()


def _copy(source: io.FileIO, sink: io.FileIO, stop: Stop, gate: Gate, on_refused: OnRefused) -> None:
    with source, sink, suppress(OSError):  # Nobody reads any more.
        # A child that was given descriptor 0 may hold the pipe and never read it.
        os.set_blocking(sink.fileno(), False)
        while not gate.closed and stop.readable(source):
            chunk = source.read(CHUNK)
            if chunk is None:
                continue
            lines, all_refused = gate.filter(chunk) if chunk else gate.judge_all(None)
            for refused in all_refused:
                on_refused(refused)
            view = memoryview(lines)
            while view and stop.writable(sink):
                view = view[sink.write(view) or 0 :]
            if not chunk:
                break
