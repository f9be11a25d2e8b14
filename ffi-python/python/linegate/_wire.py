"""The way out: a writer that lets only a server's messages onto the wire, whole lines, one after another."""

from __future__ import annotations

import io
import os
import threading
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from linegate._callables import checked
from linegate._errors import ClosedError, RefusedError, an, octets
from linegate._gate import Gate, gate_of
from linegate._linegate import Message
from linegate._options import Limits, encode
from linegate._tell import OnRefused, hearer, tell, writer

if TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack

    from linegate._options import Options

# Bytes of a line, where no limit is given: the core's default.
MAX_FRAME = 8 << 20
# Bytes of a withheld line that are shown on stderr.
SHOWN = 4096


class Wire(io.RawIOBase):
    """A binary writer from any thread. Each line is judged as a server's; one that is none is withheld, and its text
    goes to standard error.

    As a stream, `write` gathers each thread's own bytes up to their line feed, so that lines of two threads are never
    mixed. It has no descriptor. In a process that was forked off it writes nothing. A gate that it makes by itself goes
    on after a refusal, whatever `policy` says.
    """

    name = "<wire>"
    mode = "wb"

    def __init__(
        self,
        stream: Any,
        *,
        gate: Optional[Gate] = None,
        on_refused: Optional[OnRefused] = None,
        on_stray: Optional[Callable[[bytes], object]] = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__()
        if isinstance(stream, io.TextIOBase) or not hasattr(stream, "write"):
            raise TypeError(f"a wire writes to a binary stream, sys.stdout.buffer for one, not to {an(stream)}")
        if on_stray is not None:
            checked(on_stray, "on_stray")
        if gate is None:
            options.setdefault("sender", "server")
            encode(options)
            options["policy"] = "continue"
        gate = gate_of(gate, options)
        self._stream = stream
        self._gate = gate
        self._on_refused = hearer(on_refused)
        self._on_stray = on_stray or _tell_stray
        self._lock = threading.RLock()
        # Of each thread the line that has no end yet; None where it is too long to have one.
        self._parts: dict[int, Optional[bytes]] = {}
        self._max_frame = (options.get("limits") or Limits()).max_frame or MAX_FRAME
        self._broken: Optional[OSError] = None
        # Lines that a signal handler writes and sends while its own thread is inside one: they wait for its end.
        self._written: list[bytes] = []
        self._is_putting = False
        self._queue: list[bytes] = []
        self._is_sending = False
        self._pid = os.getpid()

    @property
    def gate(self) -> Gate:
        """The gate, for its counters."""
        return self._gate

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer, /) -> int:
        """Writes bytes that hold any number of lines. What isn't a message is withheld and told, and raises nothing."""
        if self.closed:
            raise ValueError("write to closed file")
        given = octets(data, "write takes bytes (write_line takes one line as text, too)")
        self._gather(threading.get_ident(), given)
        return len(given)

    def _gather(self, thread: int, data: bytes) -> None:
        part = self._parts.pop(thread, b"")
        if part is None:
            # The rest of a line that was too long.
            end = data.find(b"\n") + 1
            if not end:
                self._parts[thread] = None
                return
            part, data = b"", data[end:]
        *lines, rest = (part + data).split(b"\n")
        for line in lines:
            self._put(line + b"\n")
        if len(rest) > self._max_frame:
            self._put(rest + b"\n")
            self._parts[thread] = None
        elif rest:
            self._parts[thread] = rest

    def write_line(self, line: Union[bytes, str]) -> None:
        """Writes one message, with or without its line feed.

        Raises `RefusedError` if it isn't one that may be sent, `ClosedError` if the session has ended; then nothing
        was written."""
        # Half of a surrogate pair is for the gate to refuse.
        taken = "write_line takes a line, as bytes or str"
        text = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else octets(line, taken)
        text = text[:-1] if text.endswith(b"\n") else text
        with self._lock:
            if b"\n" in text:
                self._judge(text[: text.index(b"\n")] + b"\n", strict=True)
                raise ValueError("a line feed inside a line")
            if self._judge(text + b"\n", strict=True):
                self.send(text + b"\n")

    def answer(self, message: Message, result: Any) -> None:
        """Writes the response to a request; a notification has none."""
        self._respond(message, b"result", result)

    def answer_error(self, message: Message, code: int, text: str) -> None:
        """Writes an error response to a request; a notification has none."""
        self._respond(message, b"error", {"code": code, "message": text})

    def _respond(self, message: Any, member: bytes, value: Any) -> None:
        # A refused request has an id too, and its own reply.
        if not isinstance(message, Message):
            raise TypeError(f"what is answered is a Message of a gate, not {an(message)}")
        if message.id_raw is not None:
            import json

            text = json.dumps(value, separators=(",", ":")).encode()
            self.write_line(b'{"jsonrpc":"2.0","id":' + message.id_raw + b',"' + member + b'":' + text + b"}")

    def _put(self, line: bytes) -> None:
        with self._lock:
            self._written.append(line)
            if self._is_putting:
                return
            try:
                self._is_putting = True
                while self._written:
                    self._put_whole(self._written.pop(0))
            finally:
                self._is_putting = False

    def _put_whole(self, line: bytes) -> None:
        if self._pid != os.getpid():
            self._on_stray(line)
        elif self._judge(line, strict=False):
            self.send(line)

    def _judge(self, line: bytes, strict: bool) -> bool:
        """Whether a line may be sent; tells where it may not."""
        accepted, all_refused = self._gate.filter(line)
        for refused in all_refused:
            if refused.settlement is not None:
                self.send(refused.settlement)
            if strict:
                raise RefusedError(refused)
            self._on_refused(refused)
            self._on_stray(line)
        if not accepted and not all_refused and self._gate.closed:
            # The gate drops it without a verdict; it must not be lost without a word.
            if strict:
                raise ClosedError("the session has ended: nothing more goes on the wire")
            self._on_stray(line)
        return bool(accepted)

    def send(self, line: bytes) -> None:
        """Writes a line as it is, unjudged: the reply to a refused request. Raises the `OSError` of a wire that
        broke."""
        line = octets(line, "send takes the bytes of a line, unjudged (write_line judges one, answer makes one)")
        with self._lock:
            if self.closed or self._pid != os.getpid():
                raise ClosedError("the wire is closed")
            if self._broken is not None:
                raise self._broken
            self._queue.append(line)
            if self._is_sending:
                return
            try:
                self._is_sending = True
                while self._queue:
                    self._send_whole(self._queue.pop(0))
            finally:
                self._is_sending = False

    def _send_whole(self, line: bytes) -> None:
        view = memoryview(line)
        try:
            while view:
                view = view[self._stream.write(view) or 0 :]
            self._stream.flush()
        except BaseException as error:
            # Half a line may be on it, also where an interrupt fell: nothing more can follow.
            self._broken = error if isinstance(error, OSError) else OSError("the wire was interrupted inside a line")
            raise

    def close(self) -> None:
        # Also asked of one that was refused its options, when it is collected: that one has nothing to close.
        if not self.closed and hasattr(self, "_lock"):
            with self._lock:
                for part in filter(None, self._parts.values()):
                    # A line without its end was never one.
                    self._on_stray(part)
                self._parts.clear()
            super().close()
            self._stream.close()


def _tell_stray(line: bytes) -> None:
    more = b"" if len(line) <= SHOWN else b" [...]\n"
    place = writer()
    written = f"written {place}, " if place else ""
    tell(f"linegate: {written}kept off the wire: ".encode("utf-8", "backslashreplace") + line[:SHOWN] + more)
