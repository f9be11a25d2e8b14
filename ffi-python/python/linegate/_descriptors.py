"""Descriptors 0 and 1, moved out of everybody's reach and back again: whoever writes to 1, a C library or a child
process too, writes to standard error, and whoever reads 0 reads the null device. The wire is a private duplicate that
no child inherits.

On Windows the same is done with the descriptors of the C runtime; it is untested there.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from typing import Any

from linegate._errors import UsageError

STDIN, STDOUT, STDERR = 0, 1, 2

# Who has which descriptor.
_owners: dict[int, Moved] = {}


def _duplicates(descriptor: int, mode: str = "rb") -> Iterator[io.FileIO]:
    """An iterator of one file, over a duplicate above the standard descriptors, which no child inherits. Both are made
    in one step of the interpreter: an interrupt in between would lose the descriptor."""
    if sys.platform == "win32":
        return map(io.FileIO, map(os.dup, [descriptor]), [mode])
    import fcntl

    return map(io.FileIO, map(fcntl.fcntl, [descriptor], [fcntl.F_DUPFD_CLOEXEC], [STDERR + 1]), [mode])


def flush_c() -> None:
    """Empties what C's streams hold, to where their descriptors lead now."""
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        library: Any = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
        library.fflush(None)


class Moved:
    """Descriptor 0 or 1, which `move` moves away and `restore` puts back. Whatever interrupts them: after `restore` it
    is where it was."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        # A file over a duplicate that leads where the descriptor led; none as long as it is where it was.
        self._kept: list[io.FileIO] = []

    def move(self) -> None:
        """Moves it away. `UsageError` if it is away, or closed."""
        name = "standard output" if self.descriptor == STDOUT else "standard input"
        if _owners.setdefault(self.descriptor, self) is not self:
            raise UsageError(None, f"{name} is guarded already: a process has one, so one server at a time can have it")
        # What was closed at the start may be a file of somebody's by now.
        closed = (sys.__stdout__ if self.descriptor == STDOUT else sys.__stdin__) is None
        try:
            if not closed:
                self._kept.extend(_duplicates(self.descriptor))
        except OSError as error:
            if error.errno != errno.EBADF:
                raise
            closed = True
        if closed:
            raise UsageError(None, f"{name} is closed")
        if self.descriptor == STDOUT:
            _lead_to_stderr()
            flush_c()
        else:
            with open(os.devnull, "rb", buffering=0) as null:
                os.dup2(null.fileno(), STDIN)

    @property
    def away(self) -> bool:
        """Whether `private` and `open` lead anywhere."""
        return bool(self._kept)

    @property
    def private(self) -> int:
        """A descriptor that leads where it led, as long as it is away."""
        return self._kept[0].fileno()

    def open(self, mode: str) -> io.FileIO:
        """A file of its own, which leads where it led and may outlive the move. No child inherits it."""
        return next(_duplicates(self.private, mode))

    def restore(self) -> None:
        """Puts it back, if it is away."""
        if _owners.get(self.descriptor) is self:
            for kept in self._kept:
                try:
                    if self.descriptor == STDOUT:
                        flush_c()
                finally:
                    os.dup2(kept.fileno(), self.descriptor)
                if self.descriptor == STDOUT:
                    # Registered last, it runs before what was registered while the server ran: what that prints comes
                    # too late for the wire. What the program itself printed after the server still goes where it
                    # belongs.
                    atexit.unregister(_leave_wire)
                    atexit.register(_leave_wire)
            _owners.pop(self.descriptor, None)
        while self._kept:
            self._kept[-1].close()
            self._kept.pop()


def _lead_to_stderr() -> None:
    """Has descriptor 1 lead where 2 leads; to the null device where standard error was closed at the start, and 2 is
    free or somebody's file."""
    if sys.__stderr__ is not None:
        try:
            os.dup2(STDERR, STDOUT)
            return
        except OSError:
            pass
    with open(os.devnull, "wb", buffering=0) as null:
        os.dup2(null.fileno(), STDOUT)


def _leave_wire() -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    flush_c()
    with contextlib.suppress(OSError):
        _lead_to_stderr()
