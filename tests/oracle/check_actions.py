#!/usr/bin/env python3
"""Judges the gate's part of every vector of action.jsonl with the oracle, and its replies by the vector itself.

Exit 1 and the names where they differ, else 0.

The oracle ends before the actions: it doesn't know which call is refused behind the gate, so the vector tells.
Where that ends the session, the oracle judges the lines up to that one, and says closed for the rest.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from check_vectors import ACTIONS, VECTORS, judge_files, stream_of
from linegate_oracle import Options, judge

RPC_CODES = {501: -32602, 502: -32602, 503: -32602, 505: -32600}
CLOSED = {"closed": True}


def gate_events(vector: dict[str, Any]) -> list[dict[str, Any]]:
    """What the gate says of the stream, given what becomes of the messages that it accepts."""
    lines = stream_of(vector).splitlines(keepends=True)
    options = Options.of(vector["options"])
    if vector["options"].get("policy") != "close_all":
        return [event.as_vector() for event in judge(b"".join(lines), options).events]
    for count in range(1, len(lines) + 1):
        events = [event.as_vector() for event in judge(b"".join(lines[:count]), options).events]
        accepted = sum("accept" in event for event in events)
        if any("refuse" in outcome for outcome in vector["actions"][:accepted]):
            return events + [CLOSED] * (count < len(lines))
    return events


def reply_faults(outcome: dict[str, Any], event: dict[str, Any], options: dict[str, Any]) -> list[str]:
    """What is wrong with the reply to a call that was refused behind the gate."""
    if outcome["reply"] is None:
        silent = event["accept"] == "notification" or options.get("max_replies") == 0
        return [] if silent else ["a request without a reply"]
    reply = json.loads(outcome["reply"])
    expected = {"jsonrpc": "2.0", "id": json.loads(event["id"])}
    if "error" in reply:
        expected["error"] = {"code": RPC_CODES[outcome["refuse"]], "message": reply["error"]["message"]}
    else:
        text = {"type": "text", "text": reply["result"]["content"][0]["text"]}
        expected["result"] = {"content": [text], "isError": True}
        if "resultType" in reply["result"]:
            expected["result"]["resultType"] = "complete"
        if outcome["refuse"] != 502:
            return ["only arguments that don't fit are answered by a result"]
    return [] if reply == expected else [f"reply {outcome['reply']}"]


def differences(vector: dict[str, Any]) -> list[str]:
    """What the oracle says otherwise than the vector, as lines to print."""
    found = []
    events = gate_events(vector)
    if events != vector["events"]:
        found.append(f"events: vector {json.dumps(vector['events'])}, oracle {json.dumps(events)}")
    accepted = [event for event in vector["events"] if "accept" in event]
    if len(accepted) != len(vector["actions"]):
        found.append(f"{len(accepted)} messages, {len(vector['actions'])} outcomes")
    for event, outcome in zip(accepted, vector["actions"]):
        if "refuse" in outcome:
            found += reply_faults(outcome, event, vector["options"])
    return found


def main() -> int:
    return judge_files([VECTORS / ACTIONS], differences, "vectors")


if __name__ == "__main__":
    sys.exit(main())
