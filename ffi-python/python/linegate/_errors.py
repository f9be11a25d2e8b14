"""Faults of the caller. What a peer does wrong is never one of these, unless the caller asks for it: it is a
`Refused`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from linegate import _names

if TYPE_CHECKING:
    from linegate._refused import Refused


class Error(Exception):
    """What this package raises by itself."""


class UsageError(Error, ValueError):
    """A call that makes no sense where it stands. `code` is 903 (an option), 904 (too late), 504 (a second time), or
    None where it is about the process and no rule: its standard streams are closed, or gated already."""

    def __init__(self, code: Optional[int], text: str) -> None:
        super().__init__(text)
        self.code = None if code is None else _names.Code(code)

    def __str__(self) -> str:
        text = str(self.args[0])
        return text if self.code is None else f"{int(self.code)} {self.code.rule}: {text}"


class ClosedError(Error):
    """The wire is closed."""


class RefusedError(Error, ValueError):
    """A line was refused, where refusals were asked to be raised."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(str(refused))
        self.refused = refused


def an(value: Any) -> str:
    """What kind of thing a value is, for the sentences of errors. Never the value: it may be a peer's."""
    kind = type(value).__name__
    return f"an {kind}" if kind[0].lower() in "aeio" else f"a {kind}"


def octets(value: Any, taken: str) -> bytes:
    """The bytes of a buffer, borrowed where it is `bytes`. What is none raises `TypeError`, with what is taken in plain
    words: `bytes(5)` would be five NULs, and `bytes([1])` a line that nobody wrote."""
    if isinstance(value, bytes):
        return value
    try:
        return memoryview(value).tobytes()
    except TypeError:
        raise TypeError(f"{taken}, not {an(value)}") from None
