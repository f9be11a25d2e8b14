"""The command that comes with the package: the same program as the Rust binary, with the same exit status, from any
folder."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
MODULE = [sys.executable, "-m", "linegate"]
SECONDS = 300


def command(name: str) -> list[str]:
    if name == "module":
        return MODULE
    found = shutil.which("linegate", path=sysconfig.get_path("scripts"))
    assert found, "the console script isn't installed"
    return [found]


@pytest.mark.parametrize("name", ["module", "script"])
@pytest.mark.parametrize(
    ("arguments", "stdin", "status", "said"),
    [
        (["scan"], PING, 0, b"accept"),
        (["scan", "--format", "json"], b"{}\n", 1, b'"code":303'),
        (["scan", "no such file"], b"", 2, b""),
        (["--version"], b"", 0, b"linegate "),
        (["nonsense"], b"", 2, b""),
        (["run", "--", "cat"], b"", 0, b""),
        (["run", "--", sys.executable, "-c", "import sys; sys.exit(7)"], b"", 7, b""),
    ],
)
def test_exit_status_and_output(
    tmp_path: Path, name: str, arguments: list[str], stdin: bytes, status: int, said: bytes
) -> None:
    done = subprocess.run([*command(name), *arguments], input=stdin, capture_output=True, cwd=tmp_path, timeout=SECONDS)
    assert done.returncode == status, done.stderr
    assert said in done.stdout


def test_the_rules_are_those_of_the_page() -> None:
    done = subprocess.run([*MODULE, "rules", "--format", "markdown"], capture_output=True, timeout=SECONDS)
    page = Path(__file__).resolve().parents[2] / "docs" / "rules.md"
    assert done.stdout == page.read_bytes()


@pytest.mark.parametrize(("name", "only"), [("module", []), ("script", ["--only", "handshake"])])
def test_the_example_server_passes_the_check_in_an_empty_folder(tmp_path: Path, name: str, only: list[str]) -> None:
    # Without a command to check it is the example server, which the command starts by its own words.
    words = [*command(name), "check", *only]
    done = subprocess.run(words, capture_output=True, cwd=tmp_path, timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_ends_it_as_it_ends_a_binary() -> None:
    process = subprocess.Popen([*MODULE, "scan"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(PING)
    process.stdin.flush()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == -signal.SIGINT and process.stderr.read() == b""
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()
