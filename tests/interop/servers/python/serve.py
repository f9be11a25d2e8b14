"""An MCP server over stdio in its smallest form; what the servers beside this file have in common.

It is clean: nothing but answers on stdout, a word on stderr for each request, status 0 at the end of input.
Each server beside it is this one with a single fault, or with something that only looks like one.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, Optional

REVISION = "2025-11-25"
TOOL = {
    "name": "work",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}

Message = dict[str, Any]


def write(line: bytes) -> None:
    """Writes past every buffer of Python's, so that a fault can use those."""
    while line:
        line = line[os.write(1, line) :]


def send(message: Message) -> None:
    """Writes one message."""
    write(json.dumps(message, ensure_ascii=False).encode() + b"\n")


def work(arguments: Message) -> str:
    """The tool: gives its text back."""
    return str(arguments.get("text", ""))


def answer(message: Message, tool: Callable[[Message], str]) -> Message:
    """What comes back for a request, without its id."""
    method, params = message.get("method"), message.get("params", {})
    if method == "initialize":
        info = {"name": "fault", "version": "1"}
        return {"result": {"protocolVersion": REVISION, "capabilities": {"tools": {}}, "serverInfo": info}}
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        return {"result": {"tools": [TOOL]}}
    if method == "tools/call":
        return {"result": {"content": [{"type": "text", "text": tool(params.get("arguments", {}))}]}}
    return {"error": {"code": -32601, "message": "Method not found"}}


def serve(
    tool: Callable[[Message], str] = work,
    reply: Callable[[Message], None] = send,
    before: Optional[Callable[[str], None]] = None,
) -> None:
    """Serves until the input ends, or nobody reads any more."""
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
            identifier, method = message.get("id"), str(message.get("method"))
        except (ValueError, AttributeError):
            print("not a message", file=sys.stderr)
            continue
        if identifier is None or "method" not in message:
            continue
        print("request", method, file=sys.stderr)
        if before:
            before(method)
        try:
            reply({"jsonrpc": "2.0", "id": identifier, **answer(message, tool)})
        except BrokenPipeError:
            os._exit(0)
