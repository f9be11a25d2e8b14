"""How a raw session with an SDK server begins and runs, era by era."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from .processes import Running

HELLO_ID = 1
HANDSHAKE_REVISION = "2025-11-25"
STATELESS_REVISION = "2026-07-28"


@dataclass(frozen=True)
class Lane:
    """One SDK in one era of the protocol."""

    major: int
    stateless: bool = False

    def __str__(self) -> str:
        return f"mcp{self.major}-{'stateless' if self.stateless else 'handshake'}"

    @property
    def meta(self) -> Optional[dict[str, Any]]:
        """What every request carries in its ``_meta``."""
        if not self.stateless:
            return None
        return {
            "io.modelcontextprotocol/protocolVersion": STATELESS_REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
        }

    def hello(self) -> list[bytes]:
        """The first line, which is answered under HELLO_ID, and what follows it."""
        if self.stateless:
            return [line({"id": HELLO_ID, "method": "tools/list", "params": {"_meta": self.meta}})]
        params = {
            "protocolVersion": HANDSHAKE_REVISION,
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        }
        return [
            line({"id": HELLO_ID, "method": "initialize", "params": params}),
            line({"method": "notifications/initialized"}),
        ]


LANES = (Lane(1), Lane(2), Lane(2, stateless=True))


def begin(running: Running, lane: Lane) -> None:
    """Bring the session to where tools can be called."""
    first, *rest = lane.hello()
    running.send(first)
    if not running.wait_for_reply(HELLO_ID):
        raise AssertionError(f"no session came about: {running.describe()}")
    for line in rest:
        running.send(line)


def call(identifier: Any, tool: str, arguments: dict[str, Any], lane: Lane) -> bytes:
    """A tools/call line."""
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    if lane.meta:
        params["_meta"] = lane.meta
    return line({"id": identifier, "method": "tools/call", "params": params})


def effects(record: Path) -> list[str]:
    """What the server's tools have done."""
    try:
        return record.read_text(encoding="utf-8").split("\n")[:-1]
    except FileNotFoundError:
        return []


def told_by_gate(stderr: str) -> list[str]:
    """What the command itself has said there, between whatever the server says."""
    return [line for line in stderr.splitlines() if line.startswith("linegate: ")]


def stray_lines(stdout: bytes) -> list[bytes]:
    """Lines of stdout that are not JSON-RPC messages, an unfinished one included."""
    *lines, rest = stdout.split(b"\n")
    return [line for line in lines if not is_message(line)] + ([rest] if rest else [])


def is_message(line: bytes) -> bool:
    """Whether a line is one JSON-RPC message, judged without linegate."""
    try:
        value = json.loads(line.decode("utf-8", "strict"))
    except ValueError:
        return False
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return False
    kinds = [name for name in ("method", "result", "error") if name in value]
    return len(kinds) == 1 and line == line.strip()


def line(message: dict[str, Any]) -> bytes:
    """A message as a line."""
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"
