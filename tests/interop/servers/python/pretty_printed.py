"""Messages with indentation: each is many lines."""

import json
from typing import Any

from serve import serve, write


def reply(message: dict[str, Any]) -> None:
    write(json.dumps(message, indent=2).encode() + b"\n")


serve(reply=reply)
