"""Runs a command with its pipes held, bounded in time, and leaves nothing behind.

Every process that a test starts carries a mark in its environment, which its
children inherit. After the test no process with that mark may be left, whatever
session or process group it moved itself to.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Optional

MARK = "LINEGATE_INTEROP_MARK"
# One answer, the start of a server included.
ANSWER_SECONDS = 30.0
# A whole session of an SDK's client.
SESSION_SECONDS = 90.0
# A server's own exit after its input ended.
EXIT_SECONDS = 15.0
# What a child may take to die after its parent.
REAP_SECONDS = 5.0


@dataclass(frozen=True)
class Outcome:
    """What a finished command left."""

    stdout: bytes
    stderr: str
    status: int


def messages(stdout: bytes) -> list[dict[str, Any]]:
    """Those lines that are JSON objects."""
    return [message for message in map(as_object, split_lines(stdout)) if message]


def replies(stdout: bytes, request_id: object) -> list[dict[str, Any]]:
    """The responses with this id."""
    return [message for message in messages(stdout) if message.get("id") == request_id and "method" not in message]


def split_lines(data: bytes) -> list[bytes]:
    """Lines without their LF, ended by nothing else; the last may have had none."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def as_object(line: bytes) -> Optional[dict[str, Any]]:
    """The JSON object in a line, if it is one."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


class Running:
    """A started command. Leaving the ``with`` block ends it and all it started."""

    def __init__(
        self, command: Sequence[str], *, env: Optional[Mapping[str, str]] = None, pass_fds: Sequence[int] = ()
    ) -> None:
        self.mark = uuid.uuid4().hex
        self._changed = threading.Condition()
        self._stdout = bytearray()
        self._stderr = bytearray()
        self._taken = 0
        self._open_pipes = 2
        self._stdout_ended = False
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            pass_fds=tuple(pass_fds),
            # Python servers write as they print, whatever the caller's environment says: so it was measured.
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(env or {}), MARK: self.mark},
        )
        assert self._process.stdout and self._process.stderr
        self._readers = [
            threading.Thread(target=self._drain, args=(pipe, into), daemon=True)
            for pipe, into in ((self._process.stdout, self._stdout), (self._process.stderr, self._stderr))
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close_stdin()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.1 if error else REAP_SECONDS)
        left = end_survivors(self.mark, self._process.pid, 0 if error else REAP_SECONDS)
        self._process.wait(REAP_SECONDS)
        for reader in self._readers:
            reader.join(REAP_SECONDS)
        if left and error is None:
            raise AssertionError(f"still running after the test: {left}")

    @property
    def pid(self) -> int:
        """The process that was started; it leads its own process group."""
        return self._process.pid

    def send(self, data: bytes) -> None:
        """Write to its stdin; a reader that has gone is not an error here."""
        assert self._process.stdin
        # In a thread: a peer that stopped reading must not stop the test.
        writer = threading.Thread(target=_write_all, args=(self._process.stdin, data), daemon=True)
        writer.start()
        writer.join(ANSWER_SECONDS)
        if writer.is_alive():
            raise AssertionError(f"nobody read {len(data)} bytes: {self.describe()}")

    def close_stdin(self) -> None:
        """End of input."""
        assert self._process.stdin
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def wait_for_reply(self, request_id: object) -> bool:
        """True when a response with this id is there, False when stdout ended.

        Only what came since the last ``take`` counts.
        """

        def answered() -> bool:
            return bool(replies(bytes(self._stdout[self._taken :]), request_id))

        return self._wait(answered, f"a reply to {request_id!r}")

    def wait_for_bytes(self, *, stdout: bytes, stderr: bytes) -> None:
        """Wait until either is there, or stdout ended."""
        self._wait(
            lambda: stdout in self._stdout or stderr in self._stderr, f"{stdout!r} on stdout or {stderr!r} on stderr"
        )

    def take(self) -> bytes:
        """The whole lines that came on stdout since the last call."""
        with self._changed:
            end = self._stdout.rfind(b"\n") + 1
            new = bytes(self._stdout[self._taken : end])
            self._taken = max(end, self._taken)
            return new

    def wait_for_end(self) -> None:
        """Wait until it has closed its stdout and ended."""
        self._wait(lambda: False, "the end of stdout", SESSION_SECONDS)
        self._exit_status()

    def finish(self) -> Outcome:
        """Close its stdin, wait for its own exit, and return what it wrote."""
        self.close_stdin()
        status = self._exit_status()
        for reader in self._readers:
            reader.join(EXIT_SECONDS)
        with self._changed:
            if self._open_pipes:
                raise AssertionError(f"it ended, its pipes did not: {self.describe()}")
            stderr = self._stderr.decode("utf-8", "backslashreplace")
            return Outcome(bytes(self._stdout), stderr, status)

    def describe(self) -> str:
        """What was seen so far, for a message."""
        tail = bytes(self._stdout[-500:])
        errors = self._stderr[-1500:].decode("utf-8", "backslashreplace")
        return f"stdout ends {tail!r}; stderr ends:\n{errors}"

    def _exit_status(self) -> int:
        try:
            return self._process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"no exit within {EXIT_SECONDS} s: {self.describe()}") from None

    def _wait(self, there: Callable[[], bool], what: str, seconds: float = ANSWER_SECONDS) -> bool:
        deadline = time.monotonic() + seconds
        with self._changed:
            while True:
                if there():
                    return True
                if self._stdout_ended:
                    return False
                left = deadline - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    raise AssertionError(f"no sign of {what} in {seconds} s: {self.describe()}")

    def _drain(self, pipe: IO[bytes], into: bytearray) -> None:
        with pipe:
            while chunk := os.read(pipe.fileno(), 65536):
                with self._changed:
                    into += chunk
                    self._changed.notify_all()
        with self._changed:
            self._open_pipes -= 1
            if into is self._stdout:
                self._stdout_ended = True
            self._changed.notify_all()


def _write_all(pipe: IO[bytes], data: bytes) -> None:
    rest = memoryview(data)
    with contextlib.suppress(OSError, ValueError):
        while rest:
            rest = rest[os.write(pipe.fileno(), rest) :]


def end_survivors(mark: str, group: int, patience: float) -> list[str]:
    """Wait for the marked processes to end; kill and name those that don't."""
    deadline = time.monotonic() + patience
    while (left := list(_marked(mark, group))) and time.monotonic() < deadline:
        time.sleep(0.02)
    for pid, _ in left:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    return [f"{pid} {name}" for pid, name in left]


def _marked(mark: str, group: int) -> Iterator[tuple[int, str]]:
    proc = Path("/proc")
    if not (proc / "self" / "environ").exists():
        # No view into other processes here: the process group has to do.
        with contextlib.suppress(OSError):
            os.killpg(group, 0)
            yield -group, "process group"
        return
    wanted = f"{MARK}={mark}".encode()
    for entry in proc.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                    yield int(entry.name), command.decode("utf-8", "replace")
