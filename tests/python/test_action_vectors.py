"""Every vector of `action.jsonl` through a gate and a table of executors: whole and byte by byte."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Optional, Union

import linegate
import pytest

from . import vectors


def within(low: int, high: int) -> Any:
    def check(value: int) -> None:
        if not low <= value <= high:
            raise ValueError

    return check


Integer = Annotated[int, within(-(2**63), 2**63 - 1)]
Byte = Annotated[int, within(0, 255)]


@dataclass(frozen=True)
class Add:
    a: Integer
    b: Integer


@dataclass(frozen=True)
class Note:
    text: str
    tag: Optional[str] = None


@dataclass(frozen=True)
class Nothing:
    pass


@dataclass(frozen=True)
class Dim:
    percent: Byte


@dataclass(frozen=True)
class Point:
    x: Integer
    y: Integer


@dataclass(frozen=True)
class Switch:
    on: bool
    at: Point


@dataclass(frozen=True)
class ReadTool:
    a: Integer


@dataclass(frozen=True)
class Order:
    count: Byte


@dataclass(frozen=True)
class Resource:
    uri: str


TOOLS: dict[str, Any] = {
    "add": Add,
    "note": Note,
    "nothing": Nothing,
    "dim": Dim,
    "switch": Switch,
    "resources/read": ReadTool,
}
METHODS: dict[str, Any] = {"plant/order": Order, "resources/read": Resource}
ROWS = vectors.rows("action.jsonl")


def table(executed: list[Any]) -> list[linegate.Executor[Any, Any]]:
    made = [linegate.Executor(executed.append, model, name, None) for name, model in TOOLS.items()]
    return made + [linegate.Executor(executed.append, model, None, name) for name, model in METHODS.items()]


def known(arguments: Any) -> dict[str, Any]:
    return {name: value for name, value in asdict(arguments).items() if value is not None}


def walk(row: vectors.Row, pieces: list[bytes]) -> tuple[list[Any], list[Any]]:
    """The gate's events and the outcomes of what it accepted."""
    executed: list[Any] = []

    def allowed(call: linegate.Call, arguments: object) -> bool:
        return (call.tool or call.message.method) not in row.get("deny", [])

    actions = linegate.Actions(table(executed), allowed, granted=row.get("granted", ()))
    gate = linegate.Gate(**vectors.options(row))
    events, outcomes = [], []
    for event in vectors.drive(gate, pieces):
        events.append(vectors.said(event))
        if isinstance(event, linegate.Message):
            outcomes.append(outcome(actions.handle(event)))
    assert actions.journal.executed == len(executed) == sum("executed" in one for one in outcomes)
    assert gate.counters.by_stage[linegate.Stage("action")] == sum("refuse" in one for one in outcomes)
    for one in outcomes:
        if "executed" in one:
            assert one["arguments"] == known(executed.pop(0))
    return events, outcomes


def outcome(done: Union[linegate.Executed, linegate.Refused, None]) -> dict[str, Any]:
    if done is None:
        return {"passed": True}
    if isinstance(done, linegate.Refused):
        reply = None if done.reply is None else done.reply.decode()[:-1]
        return {"refuse": int(done.code), "at": done.offset, "reply": reply}
    said: dict[str, Any] = {"executed": done.call.tool or done.call.message.method}
    if done.call.tool is None:
        said["method"] = True
    assert done.failure is None
    model = (TOOLS if done.call.tool else METHODS)[said["executed"]]
    arguments = done.call.message.params if done.call.tool is None else done.call.message.params.get("arguments") or {}
    fields = model.__dataclass_fields__
    said["arguments"] = {k: v for k, v in arguments.items() if v is not None and k in fields}
    return said


@pytest.mark.parametrize("size", [None, 1])
def test_every_vector(size: Optional[int]) -> None:
    for row in ROWS:
        stream = row["input"].encode("utf-8")
        pieces = [stream] if size is None else [stream[at : at + size] for at in range(0, len(stream), size)]
        want_events = vectors.expected(row)
        events, outcomes = walk(row, pieces)
        assert events == want_events, row["name"]
        assert outcomes == row["actions"], row["name"]


def test_the_table_is_the_one_that_is_written_down() -> None:
    written = json.loads((vectors.FOLDER / "action-table.json").read_text(encoding="utf-8"))
    assert set(written["tools"]) == set(TOOLS) and set(written["methods"]) == set(METHODS)
    assert len(ROWS) >= 60
