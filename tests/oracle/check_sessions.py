#!/usr/bin/env python3
"""Judges every transcript of session.jsonl with the oracle; exit 1 and the names where the two differ, else 0."""

from __future__ import annotations

import json
import sys
from typing import Any

from check_vectors import SESSIONS, VECTORS, judge_files
from linegate_session import Session


def differences(vector: dict[str, Any]) -> list[str]:
    """What the oracle says otherwise than the vector, as lines to print."""
    session = Session.of(vector["options"])
    found = []
    for number, step in enumerate(vector["steps"], 1):
        event = session.hear(step["from"], step["line"].encode("utf-8"))
        if event != step["event"]:
            found.append(f"step {number}: vector {json.dumps(step['event'])}, oracle {json.dumps(event)}")
    codes = sorted({step["event"]["refuse"] for step in vector["steps"] if "refuse" in step["event"]})
    if codes != vector["codes"]:
        found.append(f"codes: vector {vector['codes']}, its events {codes}")
    late = vector.get("late_responses", 0)
    if late != session.late_responses:
        found.append(f"late_responses: vector {late}, oracle {session.late_responses}")
    return found


def main() -> int:
    return judge_files([VECTORS / SESSIONS], differences, "transcripts")


if __name__ == "__main__":
    sys.exit(main())
