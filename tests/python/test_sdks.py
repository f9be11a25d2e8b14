"""Servers on the SDKs, gated from inside in the documented ways: their own clients talk to them as if there were no
gate, raw malformed lines do nothing, and what a tool prints stays off the wire. Beside each, the same server without
a gate."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Union

import linegate
import pytest
from interop import environments, lines
from linegate.testing import Completed, assert_protocol_stdout, malformed_lines, run_server

from . import readme
from .conftest import HELLO, INITIALIZED

PROGRAMS = Path(__file__).resolve().parent / "programs"
INTEROP = environments.HERE / "programs"
SECONDS = 120
# For all answers; a server on FastMCP needs some for its start.
PATIENCE = 60
PACKAGES = {"mcp1": "mcp", "mcp2": "mcp", "fastmcp": "fastmcp"}
SERVERS = {"mcp1": "gated_server.py", "mcp2": "gated_server.py", "fastmcp": "fast_server.py"}
# Lines that call the tool in their own right, or end the input.
HARMLESS = [row for row in lines.ROWS if not row.last and not row.valid_too]


class Sdks:
    """The SDKs, each in an environment of its own, to which the package under test is lent."""

    def __init__(self, folder: Path) -> None:
        lent = folder / "lent"
        lent.mkdir()
        (lent / "linegate").symlink_to(Path(linegate.__file__).parent)
        self.environment = {**os.environ, "PYTHONPATH": str(lent)}
        self._folder = folder

    def python(self, name: str) -> str:
        try:
            return str(environments.ensure_package(name, PACKAGES[name]).python)
        except environments.CannotInstall as error:
            if os.environ.get("CI") == "true":
                pytest.fail(str(error))
            pytest.skip(str(error))

    def server(self, name: str, way: str) -> tuple[list[str], Path]:
        """The command of a server, and the file that holds its effects."""
        record = self._folder / f"record-{name}-{way}"
        record.unlink(missing_ok=True)
        return [self.python(name), str(PROGRAMS / SERVERS[name]), str(record), way], record

    def run(self, name: str, way: str, data: Any) -> tuple[Completed, list[str]]:
        """A raw session with it, and its effects."""
        command, record = self.server(name, way)
        done = run_server(command, data, timeout=SECONDS, patience=PATIENCE, env=self.environment)
        return done, record.read_text(encoding="utf-8").split("\n")[:-1] if record.exists() else []


@pytest.fixture(scope="module")
def sdks(tmp_path_factory: pytest.TempPathFactory) -> Sdks:
    if sys.version_info < environments.OLDEST_FOR_SDK:
        pytest.skip("the SDKs need Python 3.10")
    return Sdks(tmp_path_factory.mktemp("sdks"))


# The servers of the README, known by what each alone has in it.
GATED, ALL_LINES = "with linegate.install():\n        app", "class Calls(Middleware)"
EARLY = "linegate.install().stay()"
INSTALL = {
    GATED: "linegate.install()",
    ALL_LINES: 'linegate.install(policy=os.environ.get("GATE_POLICY", "close_malformed"))',
}
# Calls of one's own before the one that is there: one that is answered last, and one that is answered first.
MORE_CALLS = {
    "@app.tool\n": "@app.tool\ndef slow() -> None:\n    __import__('time').sleep(1)\n\n\n@app.tool\n",
    "CALLS = [\n": """CALLS = [
    {"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": {"name": "slow", "arguments": {}}},
    {"jsonrpc": "2.0", "id": "ping", "method": "ping"},
""",
}
# The server of all lines, gated in its first lines.
STAY = f"{INSTALL[ALL_LINES]}.stay()"
ALL_EARLY = {
    "import os\n": f'if __name__ == "__main__":\n    import os\n\n    import linegate\n\n    {STAY}\n\n',
    "import linegate\nfrom": "from",
    f"with {INSTALL[ALL_LINES]}:\n        app": "app",
}


def test_the_server_of_the_readme(sdks: Sdks, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(readme.block(GATED))
    arguments = {"name": "add", "arguments": {"a": 2, "b": 3}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}
    command = [sdks.python("fastmcp"), "server.py"]
    done = run_server(command, [HELLO, INITIALIZED, call], cwd=tmp_path, env=sdks.environment, patience=PATIENCE)
    assert_protocol_stdout(done)
    assert done.messages()[1]["result"]["structuredContent"] == {"result": 5}
    # Its banner is there, and needs no option.
    assert "FastMCP" in done.stderr.decode()


@pytest.mark.parametrize(("marker", "is_clean"), [(EARLY, True), (GATED, False)], ids=["early", "late"])
def test_what_imports_print(sdks: Sdks, tmp_path: Path, marker: str, is_clean: bool) -> None:
    (tmp_path / "noisy.py").write_text("print('noise', flush=True)")
    text = readme.block(marker).replace("from fastmcp import FastMCP\n", "from fastmcp import FastMCP\nimport noisy\n")
    (tmp_path / "server.py").write_text(text)
    command = [sdks.python("fastmcp"), "server.py"]
    done = run_server(command, [HELLO], cwd=tmp_path, env=sdks.environment, patience=PATIENCE)
    assert done.stdout.startswith(b"noise") is not is_clean and len(done.stdout.splitlines()) == 2 - is_clean


def test_who_imports_the_server_is_not_gated(sdks: Sdks, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(readme.block(EARLY))
    code = "import server, sys; print(type(sys.stdout).__name__)"
    done = run_server([sdks.python("fastmcp"), "-c", code], [], cwd=tmp_path, env=sdks.environment)
    assert done.stdout == b"TextIOWrapper\n"


@pytest.mark.parametrize("is_gated", [True, False])
def test_a_launcher_that_starts_the_server(sdks: Sdks, tmp_path: Path, is_gated: bool) -> None:
    under_if = 'if __name__ == "__main__":\n    import linegate\n\n    linegate.install().stay()\n'
    text = readme.block(EARLY)
    assert under_if in text
    text = text.replace(under_if, "import linegate\n\nlinegate.install().stay()\n") if is_gated else text
    (tmp_path / "server.py").write_text(text)
    launcher = str(Path(sdks.python("fastmcp")).with_name("fastmcp"))
    (nan,) = [line for line in malformed_lines() if line.name == "nan"]
    call = {"method": "tools/call", "params": {"name": "add", "arguments": {"a": 2, "b": 3}}}
    calls: list[dict[str, Any]] = [{"jsonrpc": "2.0", "id": number, **call} for number in (2, 3)]
    lines: list[Union[bytes, dict[str, Any]]] = [HELLO, INITIALIZED, calls[0], nan.line, calls[1]]
    done = run_server([launcher, "run", "server.py"], lines, cwd=tmp_path, env=sdks.environment, patience=PATIENCE)
    assert (nan.action.encode() in done.stdout) is not is_gated and (b"linegate" in done.stderr) is is_gated


@pytest.mark.parametrize(
    ("server", "tests", "changed", "failed"),
    [
        (GATED, "def test_stdout_is", {}, {}),
        (GATED, "def test_stdout_is", {INSTALL[GATED]: "nullcontext()"}, {"no_effect[nan]": 1}),
        (GATED, "def test_stdout_is", MORE_CALLS, {}),
        (GATED, "def test_stdout_is", {"def add": "def another"}, {"add": 1}),
        (GATED, "def test_stdout_is", {"app = ": "raise SystemExit(3)  # "}, {"is empty": 1, "has no message": 2}),
        (ALL_LINES, "def test_malformed_lines_in_one", {}, {}),
        (ALL_LINES, "def test_malformed_lines_in_one", ALL_EARLY, {}),
        (ALL_LINES, "def test_malformed_lines_in_one", {INSTALL[ALL_LINES]: "nullcontext()"}, {"nan (202": 1}),
        # What says that the session went on: a policy that ends it, a server that tells of no call.
        (ALL_LINES, "def test_malformed_lines_in_one", {"GATE_POLICY": "ANOTHER"}, {"does the server read": 1}),
        (ALL_LINES, "def test_malformed_lines_in_one", {"app.add_middleware(Calls())": ""}, {"called add": 1}),
    ],
    ids=[
        "each",
        "each, bare",
        "each, more calls",
        "each, no such tool",
        "each, no start",
        "all",
        "all, early",
        "all, bare",
        "all, another policy",
        "all, nothing told",
    ],
)
def test_the_tests_of_the_readme(
    sdks: Sdks, tmp_path: Path, server: str, tests: str, changed: dict[str, str], failed: dict[str, int]
) -> None:
    """The two files side by side, as people copy them, run by pytest; and with something of them changed."""
    text, test = readme.block(server), readme.block(tests)
    for old, new in changed.items():
        if old in text:
            text = text.replace(old, new)
        else:
            assert old in test
            test = test.replace(old, new)
    (tmp_path / "server.py").write_text("from contextlib import nullcontext\n" + text)
    python = repr(sdks.python("fastmcp"))
    assert test.count("sys.executable") == 1
    (tmp_path / "test_it.py").write_text(test.replace("sys.executable", python))
    # More time than people need, for a machine that does much at once.
    more = f"run_server.__kwdefaults__.update(timeout={SECONDS}, patience={PATIENCE})\n"
    (tmp_path / "conftest.py").write_text("from linegate.testing import run_server\n" + more)
    # Not all lines of the one that starts a server for each.
    some = "stdout or one_session or nan or html"
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-k", some, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, env=sdks.environment, timeout=SECONDS, cwd="/")
    count = sum(failed.values())
    assert done.returncode == bool(count), done.stdout
    passed = (3 if server == GATED else 1) - count
    assert (f"{count} failed" in done.stdout) == bool(count) and (f"{passed} passed" in done.stdout) == bool(passed)
    assert all(what in done.stdout for what in failed)


def test_the_line_for_both_is_the_one_that_is_tried() -> None:
    assert f"`{STAY}`" in readme.TEXT


def session(*calls: bytes) -> bytes:
    """The bytes of a session."""
    return b"".join(json.dumps(message).encode() + b"\n" for message in (HELLO, INITIALIZED)) + b"".join(calls)


@pytest.mark.parametrize(
    ("client", "mode", "server", "way", "revision"),
    [
        # Not 1.x with itself: 1.30.0 has a race of its own, of a task that asks and its cancel, and ends of it.
        ("mcp1", [], "mcp2", "streams", "2025-11-25"),
        ("mcp2", ["auto"], "mcp2", "install", "2026-07-28"),
        ("mcp2", ["legacy"], "mcp1", "install", "2025-11-25"),
    ],
)
def test_the_clients_of_the_sdk(sdks: Sdks, client: str, mode: list[str], server: str, way: str, revision: str) -> None:
    command, record = sdks.server(server, way)
    program = [sdks.python(client), str(INTEROP / f"client_{client}.py"), *mode, "--", *command]
    done = subprocess.run(program, capture_output=True, env=sdks.environment, timeout=SECONDS)
    assert done.returncode == 0, done.stderr.decode()
    report = json.loads(done.stdout.split(b"\n")[-2])
    broken = [step for step, result in report.items() if "Traceback" in str(result)]
    assert broken == [], report[broken[0]]
    assert (report["revision"], report["concurrent"], report["echo"]) == (revision, 1000, True)
    assert report["cancel"]["afterwards"] == "alive" and "from a client" in record.read_text()
    assert b"linegate: refused" not in done.stderr


def test_the_client_of_fastmcp(sdks: Sdks) -> None:
    command, record = sdks.server("fastmcp", "install")
    program = [sdks.python("fastmcp"), str(PROGRAMS / "fast_client.py"), *command]
    done = subprocess.run(program, capture_output=True, env=sdks.environment, timeout=SECONDS)
    assert done.returncode == 0, done.stderr.decode()
    report = json.loads(done.stdout)
    assert report == {"answers": ["recorded"], "quiet": "quiet", "tools": ["noisy", "record"], "unknown": "ToolError"}
    assert len(record.read_text().split()) == 200 and b"linegate: refused" not in done.stderr


def malformed() -> bytes:
    """Every row, a ping behind each: replies to refused lines end after a few in a row."""
    ping = b'{"jsonrpc":"2.0","id":"%d","method":"ping"}\n'
    rows = (row.spoil(lines.pair(None)) + ping % number for number, row in enumerate(HARMLESS))
    return session(*rows, lines.good(None))


@pytest.mark.parametrize("name", PACKAGES)
def test_malformed_lines_do_nothing(sdks: Sdks, name: str) -> None:
    gated, effects = sdks.run(name, "install", malformed())
    assert effects == [lines.GOOD]
    assert_protocol_stdout(gated)
    # What is answered is answered by the gate, with the code of the rule.
    codes = [message["error"]["code"] for message in gated.messages() if "error" in message]
    assert {row.reply for row in HARMLESS} - {None} == set(codes)
    bare, effects = sdks.run(name, "bare", malformed())
    assert len(effects) > 10, bare.stderr.decode()


@pytest.mark.parametrize("name", PACKAGES)
def test_what_a_tool_prints_stays_off_the_wire(sdks: Sdks, name: str) -> None:
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "noisy", "arguments": {}}})
    done, _ = sdks.run(name, "install", session(call.encode() + b"\n"))
    assert_protocol_stdout(done)
    assert [message["id"] for message in done.messages()] == [0, 1]
    for source in (b"print", b"os.write", b"a child"):
        assert b"noise of " + source in done.stderr
    # 1.x leaves standard output to whoever prints; 2.x, on which FastMCP stands, moves it away by itself.
    bare, _ = sdks.run(name, "bare", session(call.encode() + b"\n"))
    if name == "mcp1":
        with pytest.raises(AssertionError, match="not the protocol's alone"):
            assert_protocol_stdout(bare)


TWICE = (
    b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call",'
    b'"params":{"name":"record","arguments":{"text":"spoilt"}}}\n'
)


@pytest.mark.parametrize("name", ["mcp2", "fastmcp"])
def test_a_reader_with_a_descriptor_is_passed_by_and_ours_has_none(sdks: Sdks, name: str) -> None:
    """The trap: an SDK that finds descriptor 0 behind `sys.stdin` reads that, and no gate in front of it."""
    calls = session(TWICE, lines.good(None))
    trapped, effects = sdks.run(name, "fileno", calls)
    assert sorted(effects) == [lines.GOOD, lines.SPOILT] and b"linegate: refused" not in trapped.stderr
    gated, effects = sdks.run(name, "wrap", calls)
    assert effects == [lines.GOOD] and b"refused line 3 of the client: 209 duplicate_key" in gated.stderr
