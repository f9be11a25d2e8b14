"""The documentation's programs, run as they stand there."""

from __future__ import annotations

import json

from . import readme
from .conftest import Run

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
IMPORTS = "import os, sys\nfrom dataclasses import dataclass\nimport linegate\n"


def call(id: int, unit: str) -> bytes:
    params = {"name": "restart", "arguments": {"host": "h", "unit": unit}}
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).encode() + b"\n"


def test_the_loop_around_the_gate(run: Run) -> None:
    ended = run(IMPORTS + readme.block("while chunk := os.read"), PING + b" {}\n" + PING[:5])
    said = ended.stderr.splitlines()
    assert said[0] == "request ping 1 None" and said[1] == "surrounding_space 0" and "104 truncated" in said[2]
    assert ended.stdout == b""


def test_the_action_server(run: Run) -> None:
    ended = run(IMPORTS + readme.block("def restart"), PING + call(2, "web-1") + call(3, "db-1") + call(4, "web-2"))
    first, second, third = (json.loads(line) for line in ended.stdout.splitlines())
    assert first == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert second["result"]["content"][0]["text"] == "web-1 on h restarts" and second["result"]["isError"] is False
    # Denied, answered, and the end: under `close_all` nothing comes after it.
    assert (third["id"], third["error"]["code"]) == (3, -32602)
    assert [json.loads(line)["event"] for line in ended.stderr.splitlines()] == ["authorized", "ended", "refused"]
