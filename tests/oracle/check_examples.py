#!/usr/bin/env python3
"""Judges the examples of the protocol's specification with the oracle; exit 1 where a verdict is not as it should be.

They lie in the folder spec/examples of LINEGATE_REFERENCE, by revision and direction: lines to accept, and lines to
refuse, each with the mutation that spoilt it, which says which codes fit.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

from linegate_oracle import Accepted, Options, judge

DIRECTIONS = {"client_to_server": "client", "server_to_client": "server"}
# What a mutation may be refused for; the first pattern that matches counts.
FITTING = [
    (r"jsonrpc absent", {303}),
    (r"jsonrpc=", {304}),
    (r"id absent on a request method", {410}),
    (r"id present on a notification method", {410, 401}),  # 401: a server's request under 2026-07-28
    (r"id=null", {307}),
    (r"id=", {306}),
    (r"params absent", {403, 405}),
    (r"params=", {309}),
    (r"params\._meta(\.\S+)? absent", {405}),
    (r"params\.\S+ absent", {403}),
    (r"params\.", {404}),
]


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def negatives(folder: Path, name: str) -> Iterator[tuple[bytes, str]]:
    texts = lines(folder / f"negative_{name}.jsonl")
    metas = lines(folder / f"negative_{name}.meta.jsonl")
    if len(texts) != len(metas):
        raise SystemExit(f"{folder.name}: negative_{name} and its meta lines differ in number")
    for text, meta in zip(texts, metas):
        yield text, json.loads(meta)["why"]


def fitting(why: str) -> set[int]:
    return next((codes for pattern, codes in FITTING if re.match(pattern, why)), set())


def wrong(line: bytes, options: Options, why: Optional[str]) -> Optional[list[dict[str, Any]]]:
    """The events of a line, if they aren't what it should get: `why` names the mutation of one to refuse."""
    events = judge(line, options).events
    if why is None:
        right = len(events) == 1 and isinstance(events[0], Accepted)
    else:
        right = len(events) == 1 and events[0].as_vector().get("refuse") in fitting(why)
    return None if right else [event.as_vector() for event in events]


def main() -> int:
    reference = os.environ.get("LINEGATE_REFERENCE")
    if not reference:
        print("LINEGATE_REFERENCE is not set: there are no examples to judge", file=sys.stderr)
        return 0
    counts = {"accept": 0, "refuse": 0, "wrong": 0}
    for folder in sorted((Path(reference) / "spec" / "examples").iterdir()):
        for name, direction in DIRECTIONS.items():
            options = Options.of({"from": direction, "revision": folder.name})
            to_accept = [(line, None) for line in lines(folder / f"{name}.jsonl")]
            for line, why in [*to_accept, *negatives(folder, name)]:
                counts["accept" if why is None else "refuse"] += 1
                events = wrong(line, options, why)
                if events is not None:
                    counts["wrong"] += 1
                    print(folder.name, name, why or "to accept", line.decode().rstrip(), json.dumps(events), sep="\n  ")
    total, bad = counts["accept"] + counts["refuse"], counts["wrong"]
    print("{accept} examples to accept, {refuse} to refuse".format(**counts), file=sys.stderr)
    print(f"{total - bad} passed, {bad} failed")
    return 1 if bad or not counts["accept"] or not counts["refuse"] else 0


if __name__ == "__main__":
    sys.exit(main())
