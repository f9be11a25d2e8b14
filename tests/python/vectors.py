"""The shared vectors, and what a gate says of them in their words."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Union

import linegate

FOLDER = Path(__file__).resolve().parent.parent / "vectors"
NAMES = {"from": "sender", "revisions": "versions", "allow_methods": "methods", "allow_result_types": "result_types"}
LIMITS = set(linegate.Limits._fields)
# Transcripts, and what stands behind the gate, have runners of their own.
APART = ("session.jsonl", "action.jsonl")

# Of a stream that is a recipe: a text, and how often it stands.
PARTS = [("prefix", ""), ("repeat", "count"), ("middle", ""), ("repeat2", "count2"), ("suffix", "")]

Row = dict[str, Any]


def rows(name: str) -> list[Row]:
    """The vectors of one file."""
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def streams() -> list[Row]:
    """The vectors for one stream, of all files."""
    return [row for path in sorted(FOLDER.glob("*.jsonl")) if path.name not in APART for row in rows(path.name)]


def options(row: Row) -> dict[str, Any]:
    """The options of a vector as keyword arguments."""
    given: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    for name, value in row["options"].items():
        if name in LIMITS:
            limits[name] = value
        elif name not in ("track", "max_ids"):
            given[NAMES.get(str(name), str(name))] = value
    if limits:
        given["limits"] = linegate.Limits(**limits)
    return given


def stream(row: Row) -> bytes:
    """The bytes of a vector."""
    if "input" in row:
        return str(row["input"]).encode("utf-8")
    if "input_b64" in row:
        return base64.b64decode(row["input_b64"])
    gen = row["gen"]
    text = "".join(gen.get(one, "") * gen.get(times, 1) for one, times in PARTS)
    return text.encode("utf-8")


def said(event: Union[linegate.Message, linegate.Refused]) -> Row:
    """An event in the words of the vectors, but for a refused line's length."""
    if isinstance(event, linegate.Refused):
        row: Row = {"refuse": int(event.code), "at": event.offset, "rpc_code": event.rpc_code}
        if event.id_raw is not None and event.rpc_code is not None:
            row["id"] = event.id_raw.decode()
        if event.rpc_code is not None and event.reply is None:
            row["reply"] = False
        return row
    row = {"accept": event.kind}
    if event.method is not None:
        row["method"] = event.method
    if event.id_raw is not None:
        row["id"] = event.id_raw.decode()
    elif event.kind == "error" and "id" in json.loads(event.raw):
        row["id"] = "null"
    return row


def expected(row: Row) -> list[Row]:
    """The events of a vector, without lengths, and without the word that its session was over."""
    return [{k: v for k, v in event.items() if k != "length"} for event in row["events"] if "closed" not in event]


def is_cut_short(row: Row) -> bool:
    """Whether bytes follow the line that ended the session."""
    return any("closed" in event for event in row["events"])


def drive(gate: linegate.Gate, pieces: Iterable[bytes]) -> Iterator[Union[linegate.Message, linegate.Refused]]:
    """All that a gate says of a stream."""
    for piece in pieces:
        yield from gate.feed(piece)
    yield from gate.close()
