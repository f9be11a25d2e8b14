"""Every input of tests/vectors/boundary.jsonl to the example server, its call turned into one that writes a file.

    boundary.py SERVER FILE

The tool that a vector names becomes `record`, which appends to FILE. No line that is refused may do so; each good call
that stands beside them does, once. Vectors with other options than the server's are left out."""

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parent.parent / "vectors" / "boundary.jsonl"
HELLO = (
    b'{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"boundary","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
)


def stream(vector: dict[str, Any]) -> bytes:
    """The bytes of a vector."""
    if "input" in vector:
        text: str = vector["input"]
        return text.encode()
    if "input_b64" in vector:
        return base64.b64decode(vector["input_b64"])
    gen = vector["gen"]
    parts = [gen.get("prefix", ""), gen.get("repeat", "") * gen.get("count", 0), gen.get("middle", "")]
    return "".join([*parts, gen.get("repeat2", "") * gen.get("count2", 0), gen.get("suffix", "")]).encode()


def main(server: str, file: Path) -> int:
    """Runs them all; 1 where one had an effect that it must not have."""
    run = wrong = 0
    for line in VECTORS.read_text(encoding="utf-8").splitlines():
        vector = json.loads(line)
        action = vector.get("action")
        if action is None or vector["options"]:
            continue
        run += 1
        file.unlink(missing_ok=True)
        spoilt = stream(vector).replace(action.encode(), b"record").replace(b'"v":', b'"text":')
        done = subprocess.run([server, str(file)], input=HELLO + spoilt, capture_output=True, timeout=30, check=False)
        accepted = [event for event in vector["events"] if event.get("method") == "tools/call"]
        effects = file.read_bytes().count(b"\n") if file.exists() else 0
        if done.returncode != 0 or effects != len(accepted):
            wrong += 1
            print(f"{vector['name']}: {effects} effects, not {len(accepted)}; exit status {done.returncode}")
    print(f"boundary: {run} streams, {wrong} with other effects than they must have")
    return 1 if wrong or run == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
