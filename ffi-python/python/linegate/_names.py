"""The names of the core, from the extension's own table, so that there is no second list of them. The enums are made
when one is first asked for: that takes as long as all the rest of the package, and a server that is sent nothing wrong
needs none. The stub `_names.pyi`, which type checkers read, is generated from the same table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from linegate import _linegate

TABLE = _linegate.names()


def __getattr__(name: str) -> Any:
    if name not in ("Code", "Policy", "Profile", "Revision", "Stage", "Switch"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from linegate import _enums

    globals()[name] = made = getattr(_enums, name)
    return made


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
    from linegate._enums import Stage

    by_stage = MappingProxyType(dict(zip(Stage, refused)))
    return Counters(accepted, blank_lines, stripped_crs, replies, by_stage)
