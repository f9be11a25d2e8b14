"""A refused line as an object. It is only data: nothing can be made of it, so it may be compared, copied and
pickled."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Union

from linegate import _names


class Refused(NamedTuple):
    """A refused line: why, where, and what may be answered. It has had no effect and will have none."""

    code: _names.Code
    """Why."""
    offset: int
    """The byte that the verdict is about, from the line's start."""
    length: int
    """Bytes of the line before its LF; of a line that was refused before its end, those up to the decision."""
    sequence: int
    """The ordinal of the line in its stream, from 1."""
    sender: str
    """`client` or `server`."""
    id_raw: Optional[bytes]
    """The request's id as it was written, if it could be read beyond doubt."""
    rpc_code: Optional[int]
    """The JSON-RPC code of the reply, where one is due."""
    reply: Optional[bytes]
    """The line that answers it, LF at its end. Only who owns the one writer of the wire may send it."""
    settlement: Optional[bytes]
    """The error line for the peer that waits for the refused response, which now never comes."""
    reason: Optional[str]
    """Why, more exactly than the code says (502, 503). Never words of the peer."""
    subject: Optional[str]
    """What it is about: the member of the arguments (502), or the switch (505)."""
    closes: bool
    """Whether the session ended with it."""
    fingerprint: str
    """By which the same line is recognised again: 32 hex digits, keyed."""
    audit_line: str
    """The line of an audit file, as `linegate run --audit` writes it, LF at its end."""

    @property
    def id(self) -> Union[int, str, None]:
        """The request's id, if it could be read beyond doubt."""
        if self.id_raw is None:
            return None
        import json

        value: Union[int, str] = json.loads(self.id_raw)
        return value

    def __str__(self) -> str:
        place = f"line {self.sequence} of the {self.sender}"
        return f"{place}: {int(self.code)} {self.code.rule} at byte {self.offset}: {self.code.text}"

    def __repr__(self) -> str:
        return f"<Refused: {int(self.code)} {self.code.rule} at byte {self.offset} of line {self.sequence}>"


def refused(
    place: tuple[int, int, int, int, str],
    reply: tuple[Optional[bytes], Optional[int], Optional[bytes], Optional[bytes]],
    reason: Optional[str],
    subject: Optional[str],
    closes: bool,
    audit: tuple[str, str],
) -> Refused:
    """A refusal, from the extension's facts."""
    code: Any = _names.Code(place[0])
    return Refused(code, *place[1:], *reply, reason, subject, closes, *audit)
