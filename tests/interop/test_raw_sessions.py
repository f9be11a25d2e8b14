"""Sessions of raw lines, for what the SDKs' own clients don't do.

First what is legal: nothing of it is refused. Then what is well-formed but not in
its place: it has no effect, and the session goes on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .conftest import Forked
from .environments import HERE
from .peers import HELLO_ID, LANES, STATELESS_REVISION, Lane, begin, call, effects, line, stray_lines, told_by_gate
from .processes import Outcome, Running, messages, replies

IN_FLIGHT = 199
PROBE_ID, LAST_ID = 51, 52
# What the gate keeps of each side by default.
MOST_IN_FLIGHT = 1024
HANDSHAKE_LANES = [lane for lane in LANES if not lane.stateless]


@dataclass(frozen=True)
class Gate:
    """The gate in front of a server, and where it keeps its audit."""

    command: list[str]
    audit: Path

    def assert_silent(self, outcome: Outcome) -> None:
        """Nothing was refused, and the session ended as the server did."""
        assert self.audit.read_bytes() == b""
        assert told_by_gate(outcome.stderr) == []
        assert stray_lines(outcome.stdout) == []
        assert outcome.status == 0

    def assert_refused(self, outcome: Outcome, rules: list[str]) -> None:
        """By these rules and no others, none of which ended the session."""
        records = [json.loads(record) for record in self.audit.read_text(encoding="ascii").splitlines()]
        assert [(record["name"], record["direction"]) for record in records] == [(rule, "client") for rule in rules]
        assert stray_lines(outcome.stdout) == []
        assert outcome.status == 0


def gate(linegate: str, folder: Path, server: Sequence[str]) -> Gate:
    """With an audit file in this folder."""
    audit = folder / "audit"
    return Gate([linegate, "run", "--audit", str(audit), "--", *server], audit)


def meet(identifier: Any, size: int, lane: Lane) -> bytes:
    """A call that returns, with its own id as its text, when so many are there."""
    text = f"{type(identifier).__name__} {identifier}"
    return call(identifier, "meet", {"party": "raw", "size": size, "text": text}, lane)


@pytest.mark.parametrize("lane", LANES, ids=str)
def test_many_requests_are_in_flight_at_once(lane: Lane, linegate: str, forked: Forked, tmp_path: Path) -> None:
    """All in one write, numbers and strings that look like numbers; none is answered before all are there."""
    numbers = range(100, 100 + IN_FLIGHT)
    identifiers: list[Any] = [str(number - 1) if number % 2 else number for number in numbers]
    assert len(set(identifiers)) == IN_FLIGHT
    assert len({str(identifier) for identifier in identifiers}) < IN_FLIGHT
    behind = gate(linegate, tmp_path, forked(lane.major, "server.py", tmp_path / "record"))
    with Running(behind.command) as running:
        begin(running, lane)
        running.send(b"".join(meet(identifier, IN_FLIGHT, lane) for identifier in identifiers))
        for identifier in identifiers:
            assert running.wait_for_reply(identifier)
        outcome = running.finish()
    for identifier in identifiers:
        (reply,) = replies(outcome.stdout, identifier)
        assert reply["result"]["content"][0]["text"] == f"{type(identifier).__name__} {identifier}"
    behind.assert_silent(outcome)


@pytest.mark.parametrize("lane", LANES, ids=str)
def test_an_answered_id_may_be_used_again(lane: Lane, linegate: str, forked: Forked, tmp_path: Path) -> None:
    """Some clients have but one id."""
    behind = gate(linegate, tmp_path, forked(lane.major, "server.py", tmp_path / "record"))
    with Running(behind.command) as running:
        begin(running, lane)
        for turn in range(5):
            running.take()
            running.send(call(HELLO_ID, "echo", {"text": f"turn {turn}"}, lane))
            assert running.wait_for_reply(HELLO_ID)
        outcome = running.finish()
    assert len(replies(outcome.stdout, HELLO_ID)) == 6
    behind.assert_silent(outcome)


def fall_back(behind: Gate, *, patient: bool) -> Outcome:
    """Probe for the newest revision, then begin with a handshake, whatever came of the probe."""
    newest, older = Lane(2, stateless=True), Lane(1)
    with Running(behind.command) as running:
        running.send(line({"id": PROBE_ID, "method": "server/discover", "params": {"_meta": newest.meta}}))
        if patient:
            assert running.wait_for_reply(PROBE_ID)
        begin(running, older)
        running.send(line({"id": LAST_ID, "method": "tools/list"}))
        assert running.wait_for_reply(LAST_ID)
        return running.finish()


def fallen_back(outcome: Outcome) -> list[int]:
    """Checks that the session is an older one that works; returns the codes that answered the probe."""
    (hello,) = replies(outcome.stdout, HELLO_ID)
    assert hello["result"]["protocolVersion"] < STATELESS_REVISION
    (tools,) = replies(outcome.stdout, LAST_ID)
    assert "result" in tools
    return [reply["error"]["code"] for reply in replies(outcome.stdout, PROBE_ID)]


@pytest.mark.parametrize("way", ["refuse", "ignore", "late"])
def test_a_probe_may_fail_in_any_way(way: str, linegate: str, tmp_path: Path) -> None:
    """-32601, silence, or an answer when the client has long given up."""
    behind = gate(linegate, tmp_path, [sys.executable, str(HERE / "programs" / "plain.py"), way])
    outcome = fall_back(behind, patient=way == "refuse")
    assert fallen_back(outcome) == ([] if way == "ignore" else [-32601])
    behind.assert_silent(outcome)


def test_a_probe_of_an_older_sdk_server_fails(linegate: str, forked: Forked, tmp_path: Path) -> None:
    """mcp 1.30.0 calls the params wrong, not the method unknown: no client may rely on one code."""
    behind = gate(linegate, tmp_path, forked(1, "server.py", tmp_path / "record"))
    outcome = fall_back(behind, patient=True)
    assert len(fallen_back(outcome)) == 1
    behind.assert_silent(outcome)


@pytest.mark.parametrize("lane", LANES, ids=str)
def test_cancels_of_any_time_are_let_through(lane: Lane, linegate: str, forked: Forked, tmp_path: Path) -> None:
    """Of a call that runs, of one that has ended, of none at all; and the last of these twice."""
    behind = gate(linegate, tmp_path, forked(lane.major, "server.py", tmp_path / "record"))
    with Running(behind.command) as running:
        begin(running, lane)
        running.send(call(60, "slow", {}, lane))
        running.send(call(61, "echo", {"text": "one"}, lane))
        assert running.wait_for_reply(61)
        for identifier in (60, 61, 62, 62):
            running.send(line({"method": "notifications/cancelled", "params": {"requestId": identifier}}))
        running.send(call(63, "echo", {"text": "two"}, lane))
        assert running.wait_for_reply(63)
        outcome = running.finish()
    assert not any("result" in reply for reply in replies(outcome.stdout, 60))
    behind.assert_silent(outcome)


@pytest.mark.parametrize("lane", HANDSHAKE_LANES, ids=str)
def test_requests_may_come_before_initialized(lane: Lane, linegate: str, forked: Forked, tmp_path: Path) -> None:
    """A ping before the handshake, and requests in one write with it: whether to serve them is the server's affair."""
    hello, initialized = lane.hello()
    behind = gate(linegate, tmp_path, forked(lane.major, "server.py", tmp_path / "record"))
    with Running(behind.command) as running:
        running.send(line({"id": 70, "method": "ping"}))
        assert running.wait_for_reply(70)
        running.send(hello + line({"id": 71, "method": "ping"}) + initialized + call(72, "echo", {"text": "x"}, lane))
        for identifier in (HELLO_ID, 71, 72):
            assert running.wait_for_reply(identifier)
        outcome = running.finish()
    assert {message["id"] for message in messages(outcome.stdout)} >= {70, 71, 72, HELLO_ID}
    behind.assert_silent(outcome)


@pytest.mark.parametrize("lane", HANDSHAKE_LANES, ids=str)
def test_nothing_runs_before_the_handshake(lane: Lane, linegate: str, forked: Forked, tmp_path: Path) -> None:
    """A call that comes too soon is refused, and so is a second handshake."""
    record = tmp_path / "record"
    behind = gate(linegate, tmp_path, forked(lane.major, "server.py", record))
    again = lane.hello()[0].replace(b'"id":%d' % HELLO_ID, b'"id":81')
    with Running(behind.command) as running:
        running.send(call(80, "record", {"text": "too soon"}, lane))
        assert running.wait_for_reply(80)
        begin(running, lane)
        running.send(again + call(82, "record", {"text": "in time"}, lane))
        for identifier in (81, 82):
            assert running.wait_for_reply(identifier)
        outcome = running.finish()
    assert effects(record) == ["in time"]
    for identifier in (80, 81):
        (reply,) = replies(outcome.stdout, identifier)
        assert reply["error"]["code"] == -32600
    behind.assert_refused(outcome, ["not_initialized", "initialize_again"])


@pytest.mark.parametrize("lane", LANES, ids=str)
def test_an_id_in_use_is_not_used_twice(lane: Lane, linegate: str, forked: Forked, tmp_path: Path) -> None:
    """Neither while its call runs nor after that was cancelled; the reply doesn't settle the call that runs."""
    record = tmp_path / "record"
    behind = gate(linegate, tmp_path, forked(lane.major, "server.py", record))
    twice = call(90, "record", {"text": "twice"}, lane)
    with Running(behind.command) as running:
        begin(running, lane)
        running.send(call(90, "slow", {}, lane) + twice + call(91, "record", {"text": "between"}, lane))
        assert running.wait_for_reply(91)
        assert replies(running.take(), 90) == []
        running.send(line({"method": "notifications/cancelled", "params": {"requestId": 90}}) + twice)
        running.send(call(92, "record", {"text": "after"}, lane))
        assert running.wait_for_reply(92)
        outcome = running.finish()
    assert sorted(effects(record)) == ["after", "between", "slow begins", "slow cancelled"]
    refused = [message for message in messages(outcome.stdout) if message.get("error", {}).get("code") == -32600]
    assert [message.get("id") for message in refused] == [None, None]
    behind.assert_refused(outcome, ["id_in_use", "id_in_use"])


@pytest.mark.parametrize("lane", HANDSHAKE_LANES, ids=str)
def test_an_answer_that_nobody_asked_for_is_refused(lane: Lane, linegate: str, forked: Forked, tmp_path: Path) -> None:
    """Without a reply, since it is none to a request."""
    behind = gate(linegate, tmp_path, forked(lane.major, "server.py", tmp_path / "record"))
    with Running(behind.command) as running:
        begin(running, lane)
        running.send(line({"id": 95, "result": {}}) + call(96, "echo", {"text": "x"}, lane))
        assert running.wait_for_reply(96)
        outcome = running.finish()
    assert replies(outcome.stdout, 95) == []
    behind.assert_refused(outcome, ["unknown_response"])


@pytest.mark.parametrize("lane", [LANES[0], LANES[-1]], ids=str)
def test_there_is_a_bound_to_what_is_in_flight(lane: Lane, linegate: str, forked: Forked, tmp_path: Path) -> None:
    """The call beyond it has no effect, now or later; when the others have ended there is room again."""
    record = tmp_path / "record"
    behind = gate(linegate, tmp_path, forked(lane.major, "server.py", record))
    beyond = MOST_IN_FLIGHT
    with Running(behind.command) as running:
        begin(running, lane)
        running.send(b"".join(meet(100 + number, MOST_IN_FLIGHT, lane) for number in range(MOST_IN_FLIGHT - 1)))
        running.send(call(98, "slow", {}, lane) + call(99, "record", {"text": "beyond"}, lane))
        assert running.wait_for_reply(99)
        running.send(line({"method": "notifications/cancelled", "params": {"requestId": 98}}))
        running.send(meet(100 + beyond, MOST_IN_FLIGHT, lane))
        assert running.wait_for_reply(100 + beyond)
        running.send(call(97, "record", {"text": "room"}, lane))
        assert running.wait_for_reply(97)
        outcome = running.finish()
    assert "beyond" not in effects(record)
    assert effects(record)[-1] == "room"
    (reply,) = replies(outcome.stdout, 99)
    assert reply["error"]["code"] == -32600
    assert sum("result" in message for message in messages(outcome.stdout)) == MOST_IN_FLIGHT + 2
    behind.assert_refused(outcome, ["too_many_in_flight"])
