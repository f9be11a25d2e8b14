"""What is told a person on standard error, where the caller has no other wish: never a peer's bytes, never an
exception."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Union

from linegate._refused import Refused

OnRefused = Callable[[Refused], object]


def tell(text: Union[str, bytes]) -> None:
    """Writes a text to standard error. That nobody reads it is no fault of the server."""
    try:
        stderr = sys.stderr
        if isinstance(text, bytes):
            text = text.decode("utf-8", "backslashreplace")
        if stderr is not None:
            stderr.write(text)
            stderr.flush()
    except (OSError, ValueError):
        pass


def tell_refused(refused: Refused) -> None:
    """The default of `on_refused`: one line."""
    tell(f"linegate: refused {refused}\n")
