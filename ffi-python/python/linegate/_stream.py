"""The way in: a reader out of which only accepted lines come."""

from __future__ import annotations

import io
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable, Optional

from linegate._callables import checked
from linegate._gate import Gate, gate_of
from linegate._tell import OnRefused, hearer
from linegate._waiting import Stoppable

if TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack

    from linegate._options import Options
    from linegate._refused import Refused

# Bytes that are asked for at once.
CHUNK = 65536


class GatedRaw(io.RawIOBase):
    """Reads a stream through a gate. It has no descriptor: who found one behind it would read that, past the gate.

    After a refusal that ends the session it is at its end; so it is once `end` was called. Where that may come while a
    read waits, it gives one line at a time: what a reader has taken is beyond the reach of `end`. Any thread may read,
    one at a time."""

    name = "<stdin>"
    mode = "rb"

    def __init__(
        self, source: Any, gate: Gate, on_refused: OnRefused, reply: Optional[Callable[[bytes], object]] = None
    ) -> None:
        super().__init__()
        self._source = source
        self._read = getattr(source, "read1", source.read)
        self._gate = gate
        self._on_refused = on_refused
        self._reply = reply
        self._lock = threading.Lock()
        # The lines that were let through, how much of them is given or being given, and the rest of what is.
        self._lines = b""
        self._taken = 0
        self._rest = memoryview(b"")
        self._is_over = False

    @property
    def gate(self) -> Gate:
        """The gate, for its counters."""
        return self._gate

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        raise io.UnsupportedOperation("a gated reader has no descriptor; linegate.pump() is for what insists on one")

    def readinto(self, buffer: Buffer, /) -> Optional[int]:
        if self.closed:
            raise ValueError("read of closed file")
        with self._lock:
            while not (self._rest or self._take()):
                if self._is_over or self._gate.closed:
                    return 0
                chunk = self._read(CHUNK)
                if chunk is None:  # It doesn't block, and there is nothing.
                    return None
                if not self._is_over:
                    self._judge(chunk)
            room = memoryview(buffer).cast("B")
            count = min(len(room), len(self._rest))
            room[:count] = self._rest[:count]
            self._rest = self._rest[count:]
            return count

    def _take(self) -> bool:
        """Takes the next line, or all that there are; False where there is none."""
        end = len(self._lines)
        if isinstance(self._source, Stoppable):
            end = self._lines.find(b"\n", self._taken) + 1 or end
        if self._is_over or end == self._taken:
            return False
        self._rest, self._taken = memoryview(self._lines)[self._taken : end], end
        return True

    def end(self) -> None:
        """Leaves what was not given yet, but for the rest of a line, and what comes: the next read is at the end, and
        one that waits (on POSIX, for a descriptor) ends. From any thread."""
        self._is_over = True
        if isinstance(self._source, Stoppable):
            self._source.stop()

    def _judge(self, chunk: bytes) -> None:
        if isinstance(chunk, str):
            raise TypeError("wrap takes a binary stream: this one gives text")
        if chunk:
            lines, all_refused = self._gate.filter(chunk)
        else:
            lines, all_refused = self._gate.judge_all(None)
        for refused in all_refused:
            lines += self._refused(refused)
        self._lines, self._taken = lines, 0

    def _refused(self, refused: Refused) -> bytes:
        """Tells of it, and answers it; gives what the reader is to see of it."""
        self._on_refused(refused)
        if self._reply is not None and refused.reply is not None:
            self._reply(refused.reply)
        # Of a server's refused response: the one who waits for it reads here.
        return refused.settlement or b"" if refused.sender == "server" else b""

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._source.close()


def wrap(
    stream: Any,
    *,
    gate: Optional[Gate] = None,
    on_refused: Optional[OnRefused] = None,
    reply: Optional[Callable[[bytes], object]] = None,
    **options: Unpack[Options],
) -> io.BufferedReader:
    """A reader of a binary stream, `sys.stdin.buffer` for one, out of which only accepted lines come.

    Its `fileno()` raises `io.UnsupportedOperation`: an SDK that finds a descriptor reads that one, past the gate.
    Closing it closes the stream. `on_refused` is told of each refused line (default: a line on stderr). `reply` is
    given the lines that answer refused requests; give it only where it is the one writer of the wire, as `Wire.send`
    is. `gate` is one that was made before, in place of `options`.
    """
    if isinstance(stream, io.TextIOBase) or not callable(getattr(stream, "read", None)):
        kind = "sys.stdin" if stream is sys.stdin else type(stream).__name__
        raise TypeError(f"wrap takes a binary stream: sys.stdin.buffer for one, not {kind}")
    if reply is not None:
        checked(reply, "reply")
    made = gate_of(gate, options)
    return io.BufferedReader(GatedRaw(stream, made, hearer(on_refused), reply), CHUNK)
