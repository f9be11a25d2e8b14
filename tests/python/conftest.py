"""What the tests share: programs run in processes of their own, each with a bound."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Optional

import pytest

# Undoes what a shell does to its background jobs and nohup to its command: a child
# would ignore the signals that it is sent here.
for ignored in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(ignored, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

SECONDS = 60

# How a session of the older revisions begins.
HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Ended(NamedTuple):
    """How a program ended."""

    stdout: bytes
    stderr: str
    status: int


Run = Callable[..., Ended]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs Python code in an empty folder, and gives what it wrote."""

    def run(code: str, stdin: bytes = b"", status: Optional[int] = 0, **more: Any) -> Ended:
        command = [sys.executable, "-c", textwrap.dedent(code)]
        done = subprocess.run(command, input=stdin, capture_output=True, cwd=tmp_path, timeout=SECONDS, **more)
        ended = Ended(done.stdout, done.stderr.decode(errors="backslashreplace"), done.returncode)
        assert status is None or ended.status == status, ended.stderr
        return ended

    return run
