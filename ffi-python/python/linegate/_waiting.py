"""Waiting for a descriptor that may never have anything, until somebody says that it is enough."""

from __future__ import annotations

import io
import os
from contextlib import suppress
from typing import Optional


class Stop:
    """Once it is set, from any thread, nobody waits by it any more.

    Only POSIX lets one wait for two things at once. Elsewhere nobody waits by this: a read that has begun goes on."""

    def __init__(self) -> None:
        self._is_set = False
        # A pipe, into which a byte is put. That its end is closed would not do: a process that was forked off has that
        # too, and keeps it open. Nor is such a process to stop this one.
        self._heard, self._said = map(io.FileIO, os.pipe(), ("rb", "wb"))
        self._pid = os.getpid()

    def set(self) -> None:
        """Ends all waiting, now and later."""
        self._is_set = True
        if self._pid == os.getpid():
            with suppress(ValueError, OSError):  # It is closed.
                self._said.write(b"\0")

    def readable(self, file: io.FileIO) -> bool:
        """Waits until a file has something to read, or is at its end. False once this is set."""
        return self._wait(file, "POLLIN")

    def writable(self, file: io.FileIO) -> bool:
        """Waits until a file takes something, or nobody reads it any more. False once this is set."""
        return self._wait(file, "POLLOUT")

    def _wait(self, file: io.FileIO, event: str) -> bool:
        import select

        if not self._is_set and hasattr(select, "poll"):
            poll = select.poll()
            poll.register(self._heard, select.POLLIN)
            poll.register(file, getattr(select, event))
            poll.poll()
        return not self._is_set

    def close(self) -> None:
        """Lets go of its pipe, when nobody waits."""
        self._heard.close()
        self._said.close()


class Stoppable:
    """A file for one reader at a time, whom another thread can send to its end while it waits."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self._stop = Stop()

    def read(self, count: int) -> Optional[bytes]:
        """Up to so many bytes; none at the end, and once it was stopped."""
        return self._file.read(count) if self._stop.readable(self._file) else b""

    def stop(self) -> None:
        """Ends it."""
        self._stop.set()

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
        self._stop.close()
