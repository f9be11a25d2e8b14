"""The documentation's programs, run as they stand there."""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import re
import sys
from pathlib import Path

import linegate
import pytest
from linegate._options import _WORDS, Options
from linegate.testing import run_server

from . import readme
from .conftest import HELLO, Run

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
NUMBER = b'{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":12345678901234567890}}\n'
ECHO = """import json, sys
for line in sys.stdin:
    told = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
    message = json.loads(line)
    result = told if message["method"] == "initialize" else {}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def call(id: int, unit: str) -> bytes:
    params = {"name": "restart", "arguments": {"host": "h", "unit": unit}}
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).encode() + b"\n"


def test_the_loop_around_the_gate(run: Run) -> None:
    block = readme.block("print(event.kind")
    ended = run(block, PING + NUMBER + PING[:5])
    said = ended.stderr.splitlines()
    assert said[0] == "request ping 1 None" and said[1].startswith("request ping 2 {") and "104 truncated" in said[2]
    # After the end of the session nothing is read: the loop ends though the input doesn't.
    ended = run(block, PING + b" {}\n" + PING * 20_000)
    assert ended.stderr.splitlines() == ["request ping 1 None", "surrounding_space 0"] and ended.stdout == b""


def test_the_action_server(run: Run) -> None:
    ended = run(readme.block("def restart"), PING + call(2, "web-1") + call(3, "db-1") + call(4, "web-2"))
    first, second, third = (json.loads(line) for line in ended.stdout.splitlines())
    assert first == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert second["result"]["content"][0]["text"] == "web-1 on h restarts" and second["result"]["isError"] is False
    # Denied, answered, and the end: under `close_all` nothing comes after it.
    assert (third["id"], third["error"]["code"]) == (3, -32602)
    assert [json.loads(line)["event"] for line in ended.stderr.splitlines()] == ["authorized", "ended", "refused"]
    # It doesn't pretend to be an MCP server.
    (answer,) = run(readme.block("def restart"), json.dumps(HELLO).encode() + b"\n").stdout.splitlines()
    assert json.loads(answer)["error"]["code"] == -32601


@pytest.mark.parametrize("marker", ["def restart", "def test_stdout_is", "def test_malformed_lines_in_one_session"])
def test_what_needs_no_sdk_is_typed(tmp_path: Path, marker: str) -> None:
    mypy = pytest.importorskip("mypy.api")
    (tmp_path / "server.py").write_text(readme.block(marker))
    out, fault, status = mypy.run(["--strict", "--cache-dir", str(tmp_path), str(tmp_path / "server.py")])
    assert status == 0, out + fault


@pytest.mark.parametrize("which", ["linegate.host.Server", "linegate.aio.Server.start"])
def test_a_server_is_started(run: Run, tmp_path: Path, which: str) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    block = readme.block(which).replace('"some-server", "--stdio"', f'{sys.executable!r}, "echo.py"')
    ended = run(block)
    assert ended.stdout.startswith(b"<Message: result, line 1,") and ended.stderr == ""


@pytest.mark.parametrize("block", readme.blocks())
def test_each_block_imports_what_it_uses(block: str) -> None:
    tree = ast.walk(ast.parse(block))
    used: set[str] = set()
    bound = {*dir(builtins), "__file__"}
    for node in tree:
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    assert used <= bound


def test_the_table_of_options_is_whole() -> None:
    said = {name.strip("` "): row[1] for row in readme.table("option") for name in row[0].split(",")}
    assert set(said) == set(Options.__annotations__)
    for name in ("sender", "profile", "policy", "batches", "error_id"):
        assert set(re.findall(r'`"(.+?)"`', said[name])) == set(_WORDS[name]), name
    assert all(f"{field}=" in said["limits"] for field in linegate.Limits._fields)


def test_the_table_of_run_server_is_whole() -> None:
    said = {row[0].strip("` "): row[2].strip() for row in readme.table("parameter")}
    there = inspect.signature(run_server).parameters
    assert set(said) == set(there)
    assert {name: float(value) for name, value in said.items() if value.isdigit()} == {
        name: it.default for name, it in there.items() if isinstance(it.default, float)
    }


def test_the_list_of_policies_is_whole() -> None:
    said = dict(re.findall(r'^- `"(\w+)"`(, the default)?', readme.TEXT, re.MULTILINE))
    assert set(said) == set(linegate.Policy)
    assert [name for name in said if said[name]] == ["close_malformed"]
