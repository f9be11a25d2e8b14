"""For asyncio: a gated reader over a `StreamReader`, the process's own streams, and servers as child processes."""

from __future__ import annotations

import asyncio
import io
import os
import stat
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from linegate._client import Book, Command, Event, Lost, Outgoing, checked_grace, signal_group
from linegate._descriptors import STDIN, Moved
from linegate._errors import ClosedError
from linegate._gate import Gate, gate_of, session
from linegate._guard import AsyncGuard, Undo
from linegate._linegate import Message
from linegate._stdio import begin_stdout, replier
from linegate._stream import CHUNK
from linegate._tell import OnRefused, hearer
from linegate._wire import Wire

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from linegate._options import Options

__all__ = ["Reader", "Server", "Stdio", "gated_stdio"]


class Reader:
    """Accepted messages of a stream, one after another.

        async for message in linegate.aio.Reader(stream):
            ...

    A message is judged when it is asked for; so what becomes of one, a refusal of its arguments for one, holds for
    the next. It may be cancelled at any place: what was read waits for the next reader. `on_refused` and `reply` are
    as of `linegate.wrap`.
    """

    def __init__(
        self,
        stream: asyncio.StreamReader,
        *,
        gate: Optional[Gate] = None,
        on_refused: Optional[OnRefused] = None,
        reply: Optional[Callable[[bytes], object]] = None,
        **options: Unpack[Options],
    ) -> None:
        if not callable(getattr(stream, "read", None)):
            raise TypeError(f"a reader takes an asyncio.StreamReader, not {type(stream).__name__}")
        self._stream = stream
        self._gate = gate_of(gate, options)
        self._on_refused = hearer(on_refused)
        self._reply = reply
        self._is_over = False

    @property
    def gate(self) -> Gate:
        """The gate, for its counters."""
        return self._gate

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Message:
        while not self._is_over:
            event = next(self._gate, None)
            if isinstance(event, Message):
                return event
            if event is not None:
                self._on_refused(event)
                if self._reply is not None and event.reply is not None:
                    self._reply(event.reply)
            elif self._gate.closed:
                break
            else:
                chunk = await self._stream.read(CHUNK)
                # Nothing is awaited between the read and this: no cancellation loses what was read.
                if chunk:
                    self._gate.feed(chunk)
                elif not self._is_over:
                    self._gate.close()
        raise StopAsyncIteration

    def end(self) -> None:
        """Leaves what was not given yet, and what comes: the next message is none. One that waits for it waits until
        its stream is at its end."""
        self._is_over = True

    async def readline(self) -> bytes:
        """The next accepted line, with its line feed; empty at the end."""
        message = await anext_or_none(self)
        return b"" if message is None else message.raw + b"\n"


async def anext_or_none(reader: Reader) -> Optional[Message]:
    """The next message, or None at the end."""
    try:
        return await reader.__anext__()
    except StopAsyncIteration:
        return None


class Stdio(NamedTuple):
    """Both streams of a gated server."""

    reader: Reader
    """Accepted messages of the client."""
    wire: Wire
    """The one writer of standard output. Its writes block, as long as the client doesn't read."""


def gated_stdio(
    *, on_refused: Optional[OnRefused] = None, in_flight: int = 1024, **options: Unpack[Options]
) -> AsyncGuard[Stdio]:
    """As `linegate.gated_stdio`, with a reader for asyncio."""
    told, gates = hearer(on_refused), session(in_flight=in_flight, **options)
    return AsyncGuard("linegate.aio.gated_stdio", lambda undo: _begin_stdio(undo, told, gates))


async def _begin_stdio(undo: Undo, on_refused: OnRefused, gates: tuple[Gate, Gate]) -> Stdio:
    client, server = gates
    wire = begin_stdout(undo, server, on_refused)
    moved = Moved(STDIN)
    undo.add(moved.restore)
    moved.move()
    file = moved.open("rb")
    if os.name == "posix":
        # Whoever reads the same pipe or terminal after us waits for it.
        undo.add(partial(_set_blocking, moved, os.get_blocking(file.fileno())))
    stream, close = await _open(file)
    loop = asyncio.get_running_loop()
    reader = Reader(stream, gate=client, on_refused=on_refused, reply=replier(wire))

    def end() -> None:
        reader.end()
        with suppress(RuntimeError):  # There is no loop any more, and nobody who waits.
            loop.call_soon_threadsafe(close)

    undo.add(close)
    undo.add(reader.end)
    wire.end_reader = end
    return Stdio(reader, wire)


def _set_blocking(moved: Moved, blocking: bool) -> None:
    if moved.away:
        os.set_blocking(moved.private, blocking)


async def _open(file: io.FileIO) -> tuple[Any, Callable[[], object]]:
    """What reads a file as a `StreamReader` does, and what closes it."""
    mode = os.fstat(file.fileno()).st_mode
    if os.name != "posix" or not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or file.isatty()):
        alone = _File(file)
        return alone, alone.close
    stream = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), file)

    def close() -> None:
        with suppress(RuntimeError):  # There is no loop any more, which is where it would be told.
            transport.close()

    return stream, close


class _File:
    """What can't be waited for (a file, a device, on Windows anything): threads read it, one chunk each."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self._reading: Optional[asyncio.Future[bytes]] = None
        self._is_over = False

    async def read(self, count: int) -> bytes:
        if self._reading is None:
            self._reading = asyncio.get_running_loop().run_in_executor(None, self._read, count)
        # Who is cancelled leaves the chunk to the next.
        chunk = await asyncio.shield(self._reading)
        self._reading = None
        return chunk

    def _read(self, count: int) -> bytes:
        chunk = b"" if self._is_over else self._file.read(count) or b""
        if self._is_over:
            self._file.close()
        return chunk

    def close(self) -> None:
        # Never under a thread that reads, for the descriptor's number may be another file's by then: it is left to that
        # one. Nor by a lock, which an interrupt could leave locked.
        self._is_over = True
        if self._reading is None or self._reading.done():
            self._file.close()


class Server:
    """A server that runs as a child process, as `linegate.host.Server` is one. It is made by `start` alone.

    async with await linegate.aio.Server.start(["my-server"]) as server:
        await server.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        async for event in server:
            ...                    # a Message or a Refused
    """

    _process: asyncio.subprocess.Process
    _book: Book

    _command: Command
    _grace: float
    _new_book: Callable[[], Book]

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("a server of asyncio is made by `await linegate.aio.Server.start([...])`")

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        env: Optional[Mapping[str, str]] = None,
        cwd: Union[str, os.PathLike[str], None] = None,
        stderr: Any = None,
        grace: float = 2.0,
        in_flight: int = 1024,
        **options: Unpack[Options],
    ) -> Self:
        """Starts it. The parameters are those of `linegate.host.Server`."""
        server = cls.__new__(cls)
        server._command, server._grace = Command.of(command, env, cwd, stderr), checked_grace(grace)
        server._new_book = lambda: Book(options, in_flight)
        await server._start()
        return server

    async def _start(self) -> None:
        self._book = self._new_book()
        pipe = subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            *self._command.words, stdin=pipe, stdout=pipe, **self._command.arguments()
        )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def status(self) -> Optional[int]:
        """Its exit status; None while it runs."""
        return self._process.returncode

    async def send(self, message: Outgoing) -> None:
        """Sends one message, as `linegate.host.Server.send`."""
        line, stdin = self._book.outgoing(message), self._process.stdin
        assert stdin is not None
        try:
            stdin.write(line)
            await stdin.drain()
        except (OSError, RuntimeError):
            raise ClosedError("the server has ended, or reads no more") from None

    async def __aiter__(self) -> AsyncIterator[Event]:
        """What it says, until its output ends."""
        source = self._process.stdout
        assert source is not None
        while not self._book.closed:
            for event in self._book.incoming(await source.read(CHUNK)):
                yield event

    async def close(self) -> int:
        """Ends it: its input ends; it is asked to terminate; it is killed. Gives its exit status."""
        process = self._process
        if process.stdin is not None:
            process.stdin.close()
        for name, alone in (("", None), ("SIGTERM", process.terminate), ("SIGKILL", process.kill)):
            if name:
                signal_group(process.pid, name, alone)
            try:
                await asyncio.wait_for(process.wait(), self._grace if name != "SIGKILL" else None)
                break
            except asyncio.TimeoutError:
                continue
            except BaseException:
                # Cancelled, or interrupted: no server is left behind.
                signal_group(process.pid, "SIGKILL", process.kill)
                raise
        signal_group(process.pid, "SIGKILL", lambda: None)
        # The transports close with the process; that is seen by the loop in its next round.
        await asyncio.sleep(0)
        assert process.returncode is not None
        return process.returncode

    async def restart(self) -> Lost:
        """Starts it anew, as `linegate.host.Server.restart`."""
        lost = self._book.lost(await self.close())
        await self._start()
        return lost

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
