"""Streams of odd calls to the example server: each request gets one answer, of the kind that it must have, to the end.

    answers.py SERVER FILE

Calls that are refused, by hundreds, leave no request waiting and have no effect in FILE; a call for a task, of which
the server makes none, is served as if it asked for none; and what comes behind either is served as before."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HELLO: dict[str, Any] = {
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "answers", "version": "1"}},
}
# More than the example has room for in flight.
MANY = 200


def call(name: str, arguments: dict[str, Any], **beside: Any) -> dict[str, Any]:
    """A call of a tool."""
    return {"method": "tools/call", "params": {"name": name, "arguments": arguments, **beside}}


def kind(answer: dict[str, Any]) -> str:
    """What sort of answer that is."""
    if "error" in answer:
        return str(answer["error"]["code"])
    return "failed" if answer["result"].get("isError") else "result"


def main(server: str, file: Path) -> int:
    """Runs the stream; 1 where an answer is missing, is twice there, or is of another kind."""
    file.unlink(missing_ok=True)
    asked: list[tuple[dict[str, Any], str]] = [(HELLO, "result")]
    for _ in range(MANY):
        asked += [(call("add", {"a": 1}), "failed"), (call("subtract", {"a": 1}), "-32602")]
        asked += [
            (call("add", {"a": 1, "b": 2}, task={"ttl": 1}), "result"),
            (call("record", {"text": 7}, task={}), "failed"),
        ]
    asked += [(call("add", {"a": 1, "b": 2}), "result"), ({"method": "ping"}, "result")]
    lines = [{"jsonrpc": "2.0", "id": number, **request} for number, (request, _) in enumerate(asked)]
    lines.insert(1, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    stream = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([server, str(file)], input=stream.encode(), capture_output=True, timeout=60, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    wanted = [(number, answer) for number, (_, answer) in enumerate(asked)]
    given = [(answer.get("id"), kind(answer)) for answer in answers]
    for want, got in zip(wanted, given, strict=False):
        if want != got:
            print(f"answers: {got} where {want} is wanted")
            break
    print(f"answers: {len(given)} to {len(wanted)} requests; exit status {done.returncode}")
    return 1 if given != wanted or done.returncode != 0 or file.exists() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
