"""Real clients and real servers of both SDK versions, with the gate between them.

Nothing in such a session is refused, so the gate has to be invisible: every step
works as it does without it, and the same bytes come out on both sides.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .conftest import Install
from .environments import HERE
from .peers import effects
from .processes import Outcome, Running, split_lines

CALLS = 100
TOOLS = ["climb", "echo", "pause", "record", "slow"]

# The client's major version and its way to begin, the server's major version, and
# the revision on which they agree.
PAIRS = [
    (1, "", 1, "2025-11-25"),
    (1, "", 2, "2025-11-25"),
    (2, "legacy", 1, "2025-11-25"),
    (2, "auto", 1, "2025-11-25"),
    (2, "legacy", 2, "2025-11-25"),
    (2, "auto", 2, "2026-07-28"),
    (2, "2026-07-28", 2, "2026-07-28"),
]


@dataclass(frozen=True)
class Told:
    """What one session left: the client's report, and the bytes on the wire."""

    revision: str
    client: int
    server: int
    report: dict[str, Any]
    outcome: Outcome
    effects: list[str]
    audit: str
    sent: bytes
    passed: bytes
    answered: bytes
    received: bytes


def _name(pair: tuple[int, str, int, str]) -> str:
    client, mode, server, _ = pair
    return f"client{client}{'-' + mode if mode else ''}-server{server}"


@pytest.fixture(scope="module", params=PAIRS, ids=_name)
def told(
    request: pytest.FixtureRequest, linegate: str, install: Install, tmp_path_factory: pytest.TempPathFactory
) -> Told:
    """One session: client, tap, linegate, tap, server."""
    client, mode, server, revision = request.param
    folder: Path = tmp_path_factory.mktemp("session")
    record, audit = folder / "record", folder / "audit"
    outside, inside = folder / "outside", folder / "inside"
    tap = [sys.executable, str(HERE / "programs" / "tap.py")]
    command = [
        *install(client).program(f"client_mcp{client}.py"),
        *([mode] if mode else []),
        *["--", *tap, str(outside)],
        *["--", linegate, "run", "--audit", str(audit)],
        *["--", *tap, str(inside)],
        *["--", *install(server).program("server.py"), str(record)],
    ]
    with Running(command) as running:
        running.wait_for_end()
        outcome = running.finish()
    lines = split_lines(outcome.stdout)
    return Told(
        revision=revision,
        client=client,
        server=server,
        report=json.loads(lines[-1]) if lines else {},
        outcome=outcome,
        effects=effects(record),
        audit=audit.read_text(encoding="utf-8") if audit.exists() else "",
        sent=outside.with_suffix(".in").read_bytes(),
        passed=inside.with_suffix(".in").read_bytes(),
        answered=inside.with_suffix(".out").read_bytes(),
        received=outside.with_suffix(".out").read_bytes(),
    )


def test_the_session_begins_and_ends_well(told: Told) -> None:
    """Both sides agree on a revision; the client ends without an error."""
    assert told.outcome.status == 0, told.outcome.stderr
    assert told.report["revision"] == told.revision


def test_tools_are_listed(told: Told) -> None:
    """The list arrives whole."""
    assert told.report["tools"] == TOOLS


def test_a_call_returns_its_text(told: Told) -> None:
    """Line separators, quotes, a CR and an emoji arrive as they were sent."""
    assert told.report["echo"] is True


def test_a_call_has_its_effect_once(told: Told) -> None:
    """The effect is counted in the server's file, not in the reply."""
    assert told.report["record"] == "recorded"
    assert told.effects.count("from a client") == 1


def test_progress_comes_in_order(told: Told) -> None:
    """Five notifications before the result."""
    assert told.report["progress"] == {"result": "top", "seen": [[step, 5, f"step {step}"] for step in range(1, 6)]}


def test_concurrent_calls_get_their_own_results(told: Told) -> None:
    """A hundred at once, answered in another order."""
    assert told.report["concurrent"] == CALLS


def test_cancel_reaches_the_tool(told: Told) -> None:
    """The tool is interrupted, its result never comes, the session goes on."""
    report = told.report["cancel"]
    assert "result" not in report
    assert report["afterwards"] == "alive"
    assert told.effects[-2:] == ["slow begins", "slow cancelled"]


def test_errors_of_the_server_arrive(told: Told) -> None:
    """An unknown tool and an unknown resource are the server's to refuse."""
    assert told.report["unknown_tool"] is True
    assert isinstance(told.report["unknown_resource"], int), "its JSON-RPC code"


def test_the_bytes_are_the_same_on_both_sides(told: Told) -> None:
    """The gate adds nothing, drops nothing and rewrites nothing."""
    assert len(split_lines(told.sent)) > CALLS
    assert told.passed == told.sent
    assert len(split_lines(told.answered)) > CALLS
    assert told.received == told.answered


def test_nothing_was_refused(told: Told) -> None:
    """The audit file of an honest session has no record."""
    assert told.audit == ""
