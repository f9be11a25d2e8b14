"""The names of the core as enums, which `linegate._names` hands out."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Any, Optional

from linegate._names import TABLE

_CODES: dict[int, dict[str, Any]] = {row["number"]: row for row in TABLE["codes"]}
# Where the enums are for everybody else, pickles of them too.
_HOME = "linegate._names"


class _Name(str, Enum):
    """A name that is as good as its text."""

    def __str__(self) -> str:
        return str(self.value)


def _member(name: str) -> str:
    return ("V" + name.replace("-", "_") if name[0].isdigit() else name).upper()


def _enum(title: str, names: list[str], doc: str) -> Any:
    base: Any = _Name
    made = base(title, {_member(name): name for name in names}, module=_HOME)
    made.__doc__ = doc
    return made


Stage = _enum(
    "Stage", TABLE["stages"], "The room of the gate that gave a verdict, in the order in which a line passes them."
)
Profile = _enum("Profile", TABLE["profiles"], "A named set of text rules.")
Revision = _enum("Revision", TABLE["revisions"], "Which protocol the lines of a session speak.")
Policy = _enum("Policy", TABLE["policies"], "When a refusal ends the session.")
Switch = _enum(
    "Switch",
    [row["name"] for row in TABLE["switches"]],
    "A rule that may be loosened; what is named is the quirk that passes.",
)


class _Code(IntEnum):
    @property
    def rule(self) -> str:
        """The code's name as `scan`, audit records and docs spell it."""
        return str(_CODES[self]["name"])

    @property
    def stage(self) -> Any:
        """The stage that gives this code."""
        return Stage(_CODES[self]["stage"])

    @property
    def rpc_code(self) -> Optional[int]:
        """The JSON-RPC code of the reply, where one is due."""
        code: Optional[int] = _CODES[self]["rpc_code"]
        return code

    @property
    def closes(self) -> bool:
        """Whether `Policy.CLOSE_MALFORMED` ends the session after it."""
        return bool(_CODES[self]["closes"])

    @property
    def text(self) -> str:
        """The rule as a sentence that a person can act on."""
        return str(_CODES[self]["text"])


_code: Any = _Code
Code = _code("Code", {_member(row["name"]): row["number"] for row in TABLE["codes"]}, module=_HOME)
Code.__doc__ = "A verdict's code. The numbers are stable for ever."
