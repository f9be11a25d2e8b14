"""The way in: a reader out of which only accepted lines come."""

from __future__ import annotations

import io
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable, Optional

from linegate._gate import Gate
from linegate._tell import OnRefused, hearer

if TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack

    from linegate._options import Options
    from linegate._refused import Refused

# Bytes that are asked for at once.
CHUNK = 65536


class GatedRaw(io.RawIOBase):
    """Reads a stream through a gate. It has no descriptor: who found one behind it would read that, past the gate.

    After a refusal that ends the session it is at its end. Any thread may read, one at a time."""

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
        self._ready = memoryview(b"")
        self._ended = False

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
            while not self._ready:
                if self._ended:
                    return 0
                chunk = self._read(CHUNK)
                if chunk is None:  # It doesn't block, and there is nothing.
                    return None
                self._judge(chunk)
            room = memoryview(buffer).cast("B")
            count = min(len(room), len(self._ready))
            room[:count] = self._ready[:count]
            self._ready = self._ready[count:]
            return count

    def _judge(self, chunk: bytes) -> None:
        if isinstance(chunk, str):
            raise TypeError("wrap takes a binary stream: this one gives text")
        if chunk:
            lines, all_refused = self._gate.filter(chunk)
        else:
            lines, all_refused = self._gate.close().drain()
        self._ended = self._gate.closed
        for refused in all_refused:
            lines += self._refused(refused)
        self._ready = memoryview(lines)

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
    made = Gate(**options) if gate is None else gate
    return io.BufferedReader(GatedRaw(stream, made, hearer(on_refused), reply), CHUNK)
