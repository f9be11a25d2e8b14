"""What is told a person on standard error, where the caller has no other wish: never a peer's bytes, never an
exception; and of refusals in a row, which cost a peer nothing, only so many."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Optional, Union

from linegate._callables import checked
from linegate._refused import Refused

OnRefused = Callable[[Refused], object]

# Refusals in a row that are told one by one: as many as the core answers.
IN_A_ROW = 16
# Rows that are followed at once, one for each stream that is refused something.
ROWS = 64
_HERE = os.path.dirname(__file__)  # noqa: PTH120


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


def hearer(on_refused: Optional[OnRefused]) -> OnRefused:
    """Who is told of refusals: whom the caller names, or a person on standard error."""
    if on_refused is None or on_refused is tell_refused:
        return tell_refused
    checked(on_refused, "on_refused")
    return on_refused


def tell_refused(refused: Refused) -> None:
    """The default of `on_refused`: one line. Of more than `IN_A_ROW` refusals without another line between them, only
    each is told that doubles their number, and the one that ends the session."""
    count = _count(refused)
    if count <= IN_A_ROW or refused.closes or count & (count - 1) == 0:
        row = f" {count} in a row; from here on each doubling is told." if count >= IN_A_ROW else ""
        end = " The session ends here." if refused.closes else ""
        tell(f"linegate: refused {refused}{row}{end}\n")


# A refusal says its line's number and no stream, so a row is known by the line that would go on with it. Two streams
# that meet at the same number are taken for one.
_rows: dict[tuple[str, int], int] = {}
_lock = threading.Lock()


def _count(refused: Refused) -> int:
    """How many lines were refused in a row, this one counted."""
    with _lock:
        count = _rows.pop((refused.sender, refused.sequence), 0) + 1
        _rows[refused.sender, refused.sequence + 1] = count
        if len(_rows) > ROWS:
            del _rows[next(iter(_rows))]
    return count


def writer() -> Optional[str]:
    """The place in the program that is writing to a wire just now, if that is what this package was called for."""
    frame, entered = sys._getframe(1), ""
    while os.path.dirname(frame.f_code.co_filename) == _HERE:  # noqa: PTH120
        entered = frame.f_code.co_name
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return f"at {frame.f_code.co_filename}:{frame.f_lineno}" if entered == "write" else None
