"""The names of the core as enums. They are built from the extension's own table, so that there is no second list of
them; the stub `_names.pyi`, which type checkers read, is generated from it too."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any, NamedTuple, Optional

from linegate import _linegate

_TABLE = _linegate.names()
_CODES: dict[int, dict[str, Any]] = {row["number"]: row for row in _TABLE["codes"]}


class _Name(str, Enum):
    """A name that is as good as its text."""

    def __str__(self) -> str:
        return str(self.value)


def _member(name: str) -> str:
    return ("V" + name.replace("-", "_") if name[0].isdigit() else name).upper()


def _enum(title: str, names: list[str], doc: str) -> Any:
    made = _Name(title, {_member(name): name for name in names}, module=__name__)  # type: ignore[call-overload]
    made.__doc__ = doc
    return made


Stage = _enum(
    "Stage", _TABLE["stages"], "The room of the gate that gave a verdict, in the order in which a line passes them."
)
Profile = _enum("Profile", _TABLE["profiles"], "A named set of text rules.")
Revision = _enum("Revision", _TABLE["revisions"], "Which protocol the lines of a session speak.")
Policy = _enum("Policy", _TABLE["policies"], "When a refusal ends the session.")
Switch = _enum(
    "Switch",
    [row["name"] for row in _TABLE["switches"]],
    "A rule that may be loosened; what is named is the quirk that passes.",
)

# Names of options that no enum is made for.
BATCHES: tuple[str, ...] = tuple(_TABLE["batches"])
ERROR_IDS: tuple[str, ...] = tuple(_TABLE["error_ids"])


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


Code = _Code("Code", {_member(row["name"]): row["number"] for row in _TABLE["codes"]}, module=__name__)  # type: ignore[call-overload]
Code.__doc__ = "A verdict's code. The numbers are stable for ever."


class Counters(NamedTuple):
    """What a gate has counted. Refusals only: what was executed is counted by a journal."""

    accepted: int
    """Lines accepted."""
    blank_lines: int
    """Empty lines skipped, where the switch allows them."""
    stripped_crs: int
    """Carriage returns stripped before a line feed."""
    replies: int
    """Replies that were due."""
    by_stage: Mapping[Any, int]
    """Lines refused, by the stage that refused them."""

    @property
    def refused(self) -> int:
        """Lines refused."""
        return sum(self.by_stage.values())


def counters(accepted: int, blank_lines: int, stripped_crs: int, replies: int, refused: list[int]) -> Counters:
    """The counters of a gate, from the extension's numbers."""
    by_stage = MappingProxyType(dict(zip(Stage, refused)))
    return Counters(accepted, blank_lines, stripped_crs, replies, by_stage)
