"""A server of 2025-11-25 that knows no later revision, in as few lines as that takes.

usage: plain.py WAY

WAY is what becomes of a method that it doesn't know: ``refuse``, answered with
-32601; ``ignore``, never answered; ``late``, answered after the next request.
Standard library only.
"""

import json
import sys
from typing import Any

RESULTS: dict[str, dict[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "plain", "version": "1"},
    },
    "ping": {},
    "tools/list": {"tools": []},
}
UNKNOWN = {"code": -32601, "message": "Method not found"}


def main(way: str) -> None:
    held = None
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        identifier, method = message["id"], message["method"]
        if method in RESULTS:
            say({"id": identifier, "result": RESULTS[method]})
            if held is not None:
                say(held)
                held = None
        elif way == "refuse":
            say({"id": identifier, "error": UNKNOWN})
        elif way == "late":
            held = {"id": identifier, "error": UNKNOWN}


def say(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
