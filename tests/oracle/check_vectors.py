#!/usr/bin/env python3
"""Judges every vector with the oracle; exit 1 and the names where the two differ, 0 where they agree."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any, Callable

from linegate_oracle import Options, Refused, judge

VECTORS = Path(__file__).resolve().parent.parent / "vectors"
SESSIONS = "session.jsonl"  # transcripts of both directions: check_sessions.py judges them
ACTIONS = "action.jsonl"  # a host's actions behind the gate: check_actions.py judges the gate's part


def stream_of(vector: dict[str, Any]) -> bytes:
    if "input_b64" in vector:
        return base64.b64decode(vector["input_b64"], validate=True)
    if "input" in vector:
        return str(vector["input"]).encode("utf-8")
    if "steps" in vector:
        return "".join(step["line"] + "\n" for step in vector["steps"]).encode("utf-8")
    gen = vector["gen"]
    text = gen.get("prefix", "") + gen.get("repeat", "") * gen.get("count", 0) + gen.get("middle", "")
    text += gen.get("repeat2", "") * gen.get("count2", 0) + gen.get("suffix", "")
    return str(text).encode("utf-8")


def differences(vector: dict[str, Any]) -> list[str]:
    """What the oracle says otherwise than the vector, as lines to print."""
    session = judge(stream_of(vector), Options.of(vector["options"]))
    found = []
    events = [event.as_vector() for event in session.events]
    if events != vector["events"]:
        found.append(f"events: vector {json.dumps(vector['events'])}, oracle {json.dumps(events)}")
    codes = sorted({event["refuse"] for event in vector["events"] if "refuse" in event})
    if codes != vector["codes"]:
        found.append(f"codes: vector {vector['codes']}, its events {codes}")
    for name, value in vector.get("counters", {}).items():
        if session.counters[name] != value:
            found.append(f"counter {name}: vector {value}, oracle {session.counters[name]}")
    replies = [event for event in session.events if isinstance(event, Refused) and event.reply]
    said = {"reply_ids": [event.reply_id for event in replies], "reply_data": [event.reply_data for event in replies]}
    for name, values in said.items():
        if name in vector and vector[name] != values:
            found.append(f"{name}: vector {json.dumps(vector[name])}, oracle {json.dumps(values)}")
    return found


def judge_files(paths: list[Path], differences_of: Callable[[dict[str, Any]], list[str]], what: str) -> int:
    """Prints where the oracle and these files differ, and how many there are; 1 where any does or there are none."""
    names: set[str] = set()
    count = wrong = 0
    for path in paths:
        for line in path.read_bytes().splitlines():
            vector = json.loads(line)
            count += 1
            found = differences_of(vector)
            if vector["name"] in names:
                found.append("the name stands twice")
            names.add(vector["name"])
            if found:
                wrong += 1
                print(vector["name"], *found, sep="\n  ")
    print(f"{count} {what}, {wrong} differ", file=sys.stderr)
    return 1 if wrong or not count else 0


def main() -> int:
    paths = sorted(path for path in VECTORS.glob("*.jsonl") if path.name not in (SESSIONS, ACTIONS))
    return judge_files(paths, differences, "vectors")


if __name__ == "__main__":
    sys.exit(main())
