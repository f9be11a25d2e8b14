"""The pytest plugin and `linegate.testing`, as a team uses them for a server of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import linegate
import pytest
from linegate.testing import (
    Completed,
    Malformed,
    Recorder,
    assert_no_effect,
    assert_protocol_stdout,
    malformed_lines,
    run_server,
)

from . import readme

pytest_plugins = ["pytester"]

OK = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
# The lines of a boundary test as teams write it by hand.
SIX = [
    b"DEBUG: starting",
    b"<html><body>502 Bad Gateway</body></html>",
    b"{not json}",
    b"null",
    b'{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"pay"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"pay"}',
]


@pytest.mark.parametrize("line", SIX)
def test_the_six_lines_of_a_boundary_test(linegate_recorder: Recorder, line: bytes) -> None:
    call = b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pay"}}\n'
    fed = linegate_recorder.feed(line + b"\n" + call)
    (reply,) = fed.replies
    assert reply["error"]["code"] in (-32700, -32600, -32602)
    assert fed.closed and linegate_recorder.calls == []


def test_malformed_lines(malformed_lines: Malformed, linegate_recorder: Recorder) -> None:
    fed = linegate_recorder.feed(malformed_lines.line)
    assert [refused.code for refused in fed.refused] == [malformed_lines.code]
    assert fed.replies and fed.closed and linegate_recorder.calls == []
    assert malformed_lines.action.encode() in malformed_lines.line
    assert "linegate_probe" not in repr(malformed_lines)


def test_each_malformed_line_has_an_action_of_its_own() -> None:
    lines = malformed_lines()
    assert len({line.action for line in lines}) == len({line.line for line in lines}) == len(lines) > 30
    # Every rule of text and envelope that one line can break while it asks for a call.
    assert {line.code // 100 for line in lines} == {1, 2, 3}


def test_the_recorder_records_what_is_well_formed(linegate_recorder: Recorder) -> None:
    call = b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pay","arguments":{"a":1}}}\n'
    fed = linegate_recorder.feed(call)
    assert linegate_recorder.calls == [("pay", {"a": 1})] and fed.refused == []
    tool = linegate_recorder.tool("add")
    assert tool(a=1, b=2) == "recorded" and linegate_recorder.calls[1] == ("add", {"a": 1, "b": 2})
    seen: list[linegate.Message] = []
    linegate_recorder.feed(call, seen.append)
    assert len(seen) == 1 and len(linegate_recorder.calls) == 2


def test_clean_output_passes() -> None:
    assert_protocol_stdout(OK * 3)
    assert_protocol_stdout(b"", allow_empty=True)


def test_empty_output_fails() -> None:
    with pytest.raises(AssertionError, match="empty"):
        assert_protocol_stdout(b"")


def test_a_failure_shows_all_that_is_needed() -> None:
    done = Completed(["my-server", "--stdio", "a b"], OK + b"Listening\xff...\n" + OK + b"{}", b"warned\n", 3)
    with pytest.raises(AssertionError) as raised:
        assert_protocol_stdout(done)
    text = str(raised.value)
    assert "line 2: b'Listening\\xff...'" in text and "202 unexpected_byte at byte 0" in text
    assert "line 4: b'{}'" in text and "104 truncated" in text
    assert "command: my-server --stdio 'a b'" in text and "status: 3" in text and "stderr:\nwarned" in text


def test_no_effect_passes() -> None:
    lines = malformed_lines()
    done = Completed(["my-server"], OK, b"linegate: refused line 3 of the client\n", 0)
    assert_no_effect(done, lines)
    assert_no_effect(done, lines[0])


def test_each_effect_is_shown() -> None:
    lines = malformed_lines()
    nan, twice, batch = (line for line in lines if line.name in ("nan", "batch", "method_twice"))
    out = OK + b'{"jsonrpc":"2.0","id":1,"result":{"no tool":"' + nan.action.encode() + b'"}}\n'
    done = Completed(["my-server", "a b"], out, f"start\n\ncalled {nan.action}, {twice.action}\n".encode(), 3)
    with pytest.raises(AssertionError) as raised:
        assert_no_effect(done, lines)
    said = str(raised.value).split("\n")
    # The order is that of the lines.
    assert said[0].startswith(f"the server took 2 of {len(lines)} malformed lines")
    assert said[1:6] == [
        "  nan (202 unexpected_byte): its tool is named in line 2 of stdout and line 3 of stderr",
        "  method_twice (209 duplicate_key): its tool is named in line 3 of stderr",
        "command: my-server 'a b'",
        "status: 3",
        "stderr:",
    ]
    assert_no_effect(done, batch)


@pytest.mark.parametrize("out", [b"", b"Listening\n", b"{}\n"])
def test_a_server_that_says_nothing_is_no_proof(out: bytes) -> None:
    done = Completed(["my-server"], out, b"ImportError\n", 1)
    with pytest.raises(AssertionError, match=r"(?s)no message.*my-server.*status: 1.*ImportError"):
        assert_no_effect(done, malformed_lines())


@pytest.mark.parametrize(
    ("run", "lines", "error", "text"),
    [
        (Completed([], OK, b"", 0), [], ValueError, "no line"),
        (Completed([], OK, b"", 0), [b"{}"], TypeError, "one of malformed_lines.*, not a bytes"),
        (OK, malformed_lines(), TypeError, "that run_server gave"),
    ],
)
def test_no_effect_of_what_is_none(run: Any, lines: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        assert_no_effect(run, lines)


def test_no_action_is_part_of_another() -> None:
    # `assert_no_effect` would take one for the other.
    actions = [line.action for line in malformed_lines()]
    assert [(one, two) for one in actions for two in actions if one != two and one in two] == []


def test_run_server(tmp_path: Path) -> None:
    server = 'import sys\nfor line in sys.stdin: print(\'{"jsonrpc":"2.0","id":1,"result":{}}\', flush=True)\n'
    done = run_server([sys.executable, "-c", server + "sys.stderr.write('bye'); sys.exit(4)"], [PING], cwd=tmp_path)
    assert (done.stdout, done.stderr, done.status) == (OK, b"bye", 4)
    assert done.messages() == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    assert "my" not in repr(done) and "status 4" in repr(done)


def test_run_server_waits_for_answers_before_it_ends_the_input() -> None:
    # It answers late, and drops what isn't answered at the end of input, as servers on asyncio do.
    server = """
import os, sys, threading, time
def answer():
    time.sleep(0.5)
    print('{"jsonrpc":"2.0","id":1,"result":{}}', flush=True)
for line in sys.stdin:
    threading.Thread(target=answer, daemon=True).start()
os._exit(0)
"""
    assert run_server([sys.executable, "-c", server], [PING]).stdout == OK


def test_run_server_kills_what_does_not_end() -> None:
    server = "import sys, time; sys.stderr.write('still here'); sys.stderr.flush(); time.sleep(60)"
    with pytest.raises(TimeoutError, match="still here"):
        run_server([sys.executable, "-c", server], b"", timeout=2)


# The whole file that a team writes, as the documentation has it.
TEAM = readme.block("test_stdout_is_the_protocol")
SERVER = """
import json, sys
import linegate
{guard}
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message["method"] == "tools/call":
            sys.stderr.write("called " + message["params"]["name"])
        {print}
        if "id" not in message:
            continue
        about = {{"name": "s", "version": "1"}}
        result = {{"protocolVersion": "2025-11-25", "capabilities": {{}}, "serverInfo": about}}
        if message["method"] != "initialize":
            result = {{"content": []}}
        answer = {{"jsonrpc": "2.0", "id": message["id"], "result": result}}
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\\n")
        sys.stdout.buffer.flush()
"""


@pytest.mark.parametrize("gated", [True, False])
def test_the_file_of_a_team(pytester: pytest.Pytester, gated: bool) -> None:
    pytester.makepyfile(test_boundary=TEAM)
    guard = "with linegate.install():" if gated else "if True:"
    text = SERVER.format(guard=guard, print="pass" if gated else "print('working', flush=True)")
    (pytester.path / "server.py").write_text(text)
    some = "stdout or debug or twice or fraction or capitals"
    outcome = pytester.runpytest_subprocess("-k", some, "-p", "no:cacheprovider")
    counts = outcome.parseoutcomes()
    if gated:
        assert counts.get("failed", 0) == 0 and counts["passed"] >= 6
    else:
        assert counts["failed"] >= 3
        said = ["*standard output is not the protocol's alone*", "*line 1: b'working'*", "*command: *server.py*"]
        outcome.stdout.fnmatch_lines(said)


def test_what_is_given_wrong_is_said_in_plain_words(linegate_recorder: Recorder) -> None:
    command = [sys.executable, "-c", ""]
    wrong: list[tuple[Any, str]] = [
        (lambda: run_server("python server.py", []), "command is a list of words.*, not a str"),
        (lambda: run_server([], []), "command is empty"),
        (lambda: run_server(command, "text"), "stdin is bytes, or a list.*, not a str"),  # type: ignore[arg-type]
        (lambda: run_server(command, PING), "stdin is bytes, or a list.*, not a dict"),  # type: ignore[arg-type]
        (lambda: run_server(command, ["text"]), "a line of stdin is bytes or a message.*, not a str"),  # type: ignore[list-item]
        (lambda: assert_protocol_stdout("text"), "bytes, or a run that run_server gave, not a str"),  # type: ignore[arg-type]
        (lambda: linegate_recorder.feed("x"), "takes bytes, not a str"),  # type: ignore[arg-type]
    ]
    for act, text in wrong:
        with pytest.raises((TypeError, ValueError), match=text):
            act()
