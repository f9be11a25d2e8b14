"""Clean: it talks as much as the dirty ones, on stderr; what prints to descriptor 1 was turned away from it before."""

import logging
import os
import subprocess
import sys
from typing import Any

from serve import Message, send, serve

PROTOCOL = os.dup(1)
os.dup2(2, 1)
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)


def work(arguments: Message) -> str:
    print("printed in a tool", flush=True)
    subprocess.run(["echo", "printed by a child"], check=True)
    return str(arguments.get("text", ""))


def reply(message: dict[str, Any]) -> None:
    os.dup2(PROTOCOL, 1)
    send(message)
    os.dup2(2, 1)


logging.info("ready")
serve(work, reply)
print("bye", flush=True)
