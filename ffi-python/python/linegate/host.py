"""For hosts that start servers: a server as a child process, behind gates in both directions.

    with linegate.host.Server(["my-server", "--stdio"]) as server:
        server.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        for event in server:
            ...                        # a Message or a Refused

`linegate.aio.Server` is the same for asyncio.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from linegate._client import Book, Command, Event, Lost, Outgoing, checked_grace, minimal_environment, signal_group
from linegate._errors import ClosedError
from linegate._stream import CHUNK

if TYPE_CHECKING:
    import os

    from typing_extensions import Self, Unpack

    from linegate._options import Options

__all__ = ["Lost", "Server", "minimal_environment"]


class Server:
    """A server that runs as a child process.

    What is sent is judged as a client's, what it writes as a server's, in one session. Any thread may send, one at a
    time read.

    `env` is what it sees beside `minimal_environment()`; `stderr` as of `subprocess` (default: the host's own).
    `grace` is how many seconds, 0 to 86,400, it is given at each step of its end: when its input ends, and when it is
    asked to terminate; then it is killed, and all that it started. The options are the client's; see
    `linegate.session`.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Optional[Mapping[str, str]] = None,
        cwd: Union[str, os.PathLike[str], None] = None,
        stderr: Any = None,
        grace: float = 2.0,
        in_flight: int = 1024,
        **options: Unpack[Options],
    ) -> None:
        self._command = Command.of(command, env, cwd, stderr)
        self._grace = checked_grace(grace)
        self._options, self._in_flight = options, in_flight
        self._lock = threading.Lock()
        self._start()

    def _start(self) -> None:
        self._book = Book(self._options, self._in_flight)
        self._process = subprocess.Popen(
            self._command.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, **self._command.arguments()
        )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def status(self) -> Optional[int]:
        """Its exit status; None while it runs."""
        return self._process.poll()

    def send(self, message: Outgoing) -> None:
        """Sends one message: an object, or a line. `RefusedError` if it isn't one that may be sent; then nothing was.
        `ClosedError` if the server has ended, or a refused line has ended the session: `policy` says which do."""
        with self._lock:
            line = memoryview(self._book.outgoing(message))
            try:
                while line:
                    line = line[self._process.stdin.write(line) or 0 :]  # type: ignore[union-attr]
            except (OSError, ValueError):
                raise ClosedError("the server has ended, or reads no more") from None

    def __iter__(self) -> Iterator[Event]:
        """What it says, until its output ends. A refused response has the error that its request gets in its place, as
        `settlement`."""
        source: Any = self._process.stdout
        while not self._book.closed:
            chunk = source.read(CHUNK)
            with self._lock:
                events = self._book.incoming(chunk)
            yield from events

    def close(self) -> int:
        """Ends it: its input ends; it is asked to terminate; it is killed. Gives its exit status."""
        process = self._process
        with contextlib.suppress(OSError):
            process.stdin.close()  # type: ignore[union-attr]
        for name, alone in (("", None), ("SIGTERM", process.terminate), ("SIGKILL", process.kill)):
            if name:
                signal_group(process.pid, name, alone)
            try:
                process.wait(self._grace if name != "SIGKILL" else None)
                break
            except subprocess.TimeoutExpired:
                continue
            except BaseException:
                # An interrupt, which is not to wait any longer, nor to leave a server behind.
                signal_group(process.pid, "SIGKILL", process.kill)
                raise
        # What it started and left behind.
        signal_group(process.pid, "SIGKILL", process.kill)
        with contextlib.suppress(OSError):
            process.stdout.close()  # type: ignore[union-attr]
        return process.returncode

    def restart(self) -> Lost:
        """Ends what is left of it, starts it anew with fresh gates, and gives what went with the one before. Nothing
        is sent: the new session begins at its beginning, and what was lost is for the host to ask again, or not."""
        lost = self._book.lost(self.close())
        self._start()
        return lost

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
