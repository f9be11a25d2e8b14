"""The server of the soak: does what each request says, the unpleasant things too.

Run by a bare interpreter: it imports nothing but the standard library's quickest parts.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time


def put(message: dict[str, object]) -> None:
    """Writes one message, whole."""
    line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
    while line:
        line = line[os.write(1, line) :]


def main() -> None:
    """Serves until the input ends, or something happens."""
    for line in sys.stdin.buffer:
        request = json.loads(line)
        what, params = request["method"], request["params"]
        if what == "noise":
            os.write(1, b"a print between two answers\n")
        elif what == "notes":
            for number in range(params["count"]):
                put({"method": "note", "params": {"number": number, "text": "n" * params["size"]}})
        elif what == "log":
            os.write(2, (os.environ["SOAK_TOKEN"] + " and more\n").encode() * params["count"])
        elif what == "stall":
            time.sleep(params["seconds"])
        elif what == "child":
            os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "600")
        elif what == "die":
            os.write(1, b'{"jsonrpc":"2.0","id":')
            os.kill(os.getpid(), signal.SIGKILL)
        elif what == "close_stdout":
            os.close(1)
            time.sleep(600)
        elif what == "close_stdin":
            os.close(0)
            time.sleep(600)
        put({"id": request["id"], "result": {"pid": os.getpid(), "text": params.get("text", "")}})


main()
