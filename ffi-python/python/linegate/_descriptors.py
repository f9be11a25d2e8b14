"""Descriptors 0 and 1, moved out of everybody's reach and back again: whoever writes to 1, a C library or a child
process too, writes to standard error, and whoever reads 0 reads the null device. The wire is a private duplicate that
no child inherits.

On Windows the same is done with the descriptors of the C runtime; it is untested there.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from typing import Any

from linegate._errors import UsageError
from linegate._names import Code

STDIN, STDOUT, STDERR = 0, 1, 2

_moved: set[int] = set()
_lock = threading.Lock()


def duplicate(descriptor: int) -> int:
    """A duplicate above the standard ones, which no child inherits."""
    if sys.platform == "win32":
        return os.dup(descriptor)
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, STDERR + 1)


def flush_c() -> None:
    """Empties what C's streams hold, to where their descriptors lead now."""
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        library: Any = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
        library.fflush(None)


class Moved:
    """Descriptor 0 or 1 while it is moved away. `private` is the duplicate that leads where it led."""

    def __init__(self, descriptor: int) -> None:
        name = "standard output" if descriptor == STDOUT else "standard input"
        with _lock:
            if descriptor in _moved:
                raise UsageError(
                    Code.STALE_EVENT,
                    f"{name} is guarded already: a process has one, so one server at a time can have it",
                )
            _moved.add(descriptor)
        self.descriptor = descriptor
        self.private = self._saved = -1
        try:
            self._saved = duplicate(descriptor)
            self.private = duplicate(descriptor)
            if descriptor == STDOUT:
                os.dup2(STDERR, STDOUT)
                flush_c()
            else:
                null = os.open(os.devnull, os.O_RDONLY)
                os.dup2(null, STDIN)
                os.close(null)
        except BaseException:
            self._release()
            raise

    def restore(self) -> None:
        """Puts the descriptor back."""
        if self.descriptor == STDOUT:
            flush_c()
        os.dup2(self._saved, self.descriptor)
        self._release()
        if self.descriptor == STDOUT:
            # Registered last, it runs before what was registered while the server ran: what that prints comes too
            # late for the wire. What the program itself printed after the server still goes where it belongs.
            atexit.unregister(_leave_wire)
            atexit.register(_leave_wire)

    def _release(self) -> None:
        for descriptor in (self._saved, self.private):
            if descriptor >= 0:
                with contextlib.suppress(OSError):
                    os.close(descriptor)
        with _lock:
            _moved.discard(self.descriptor)


def _leave_wire() -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    with contextlib.suppress(OSError):
        flush_c()
        os.dup2(STDERR, STDOUT)
