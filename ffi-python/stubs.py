"""Writes python/linegate/_names.pyi: the enums that the package builds at import, member by member, for type checkers
and editors.

usage: python ffi-python/stubs.py [--check]

It reads them from the installed package, so they are the core's own. With --check it writes nothing, and fails where
the file differs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import linegate
from linegate import _linegate

TABLE = _linegate.names()
FILE = Path(__file__).resolve().parent / "python" / "linegate" / "_names.pyi"

HEAD = '''"""Written by ffi-python/stubs.py from the core's tables; the names at run time are built from the same."""

from collections.abc import Mapping
from enum import Enum, IntEnum
from typing import Any, NamedTuple, Optional

TABLE: dict[str, Any]
'''

CODE = '''
class Code(IntEnum):
    """A verdict's code. The numbers are stable for ever."""

    @property
    def rule(self) -> str:
        """The code's name as `scan`, audit records and docs spell it."""
    @property
    def stage(self) -> Stage:
        """The stage that gives this code."""
    @property
    def rpc_code(self) -> Optional[int]:
        """The JSON-RPC code of the reply, where one is due."""
    @property
    def closes(self) -> bool:
        """Whether `Policy.CLOSE_MALFORMED` ends the session after it."""
    @property
    def text(self) -> str:
        """The rule as a sentence that a person can act on."""
'''

TAIL = '''
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
    by_stage: Mapping[Stage, int]
    """Lines refused, by the stage that refused them."""

    @property
    def refused(self) -> int:
        """Lines refused."""

def counters(accepted: int, blank_lines: int, stripped_crs: int, replies: int, refused: list[int]) -> Counters:
    """The counters of a gate, from the extension's numbers."""
'''


def names(enum: Any) -> str:
    """One enum of names."""
    said = {row["name"]: row["text"] for row in TABLE["switches"]} if enum is linegate.Switch else {}
    lines = [f"\nclass {enum.__name__}(str, Enum):", f'    """{enum.__doc__}"""\n']
    for member in enum:
        lines.append(f'    {member.name} = "{member.value}"')
        if member.value in said:
            lines.append(f'    """{escape(said[member.value])}"""')
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """A text between three quotes."""
    return text.replace("\\", "\\\\")


def written() -> str:
    """The whole file."""
    codes = CODE + "".join(f'    {code.name} = {int(code)}\n    """{escape(code.text)}"""\n' for code in linegate.Code)
    enums = (linegate.Stage, linegate.Profile, linegate.Revision, linegate.Policy, linegate.Switch)
    return HEAD + "".join(map(names, enums)) + codes + TAIL


if __name__ == "__main__":
    if "--check" not in sys.argv:
        FILE.write_text(written(), encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != written():
        sys.exit(f"{FILE.name} is stale: run make py-stubs")
