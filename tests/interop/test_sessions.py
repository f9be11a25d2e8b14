"""Real clients and real servers of both SDK versions, with the gate between them.

Nothing in such a session is refused, so the gate has to be invisible: every step
works as it does without it, and the same bytes come out on both sides.

What the SDKs can't do, and so isn't tried here: mcp 1.x knows nothing of 2026-07-28,
mcp 2.x has no tasks. Neither has a server that ends a subscription by
notifications/cancelled, and 2.x never answers what was cancelled.
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
from .peers import STATELESS_REVISION, effects, told_by_gate
from .processes import Outcome, Running, messages, replies, split_lines
from .test_malformed import MEASURED_VERSIONS

CALLS = 1000
TOOLS = ["change", "climb", "consult", "echo", "hang_up", "meet", "record", "slow", "tell"]
CONSULTED = "a root a sample an answer accept"

# Every method that the client has to have sent, so that a step which quietly does
# less can't pass.
BOTH_ERAS = {
    "completion/complete",
    "notifications/cancelled",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "tools/call",
    "tools/list",
}
HANDSHAKE_ONLY = {
    "initialize",
    "logging/setLevel",
    "notifications/initialized",
    "notifications/progress",
    "notifications/roots/list_changed",
    "ping",
    "resources/subscribe",
    "resources/unsubscribe",
}
TASKS = {"tasks/cancel", "tasks/get", "tasks/list", "tasks/result"}
CHANGES = [
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/tools/list_changed",
]
CHANGE_EVENTS = ["PromptsListChanged", "ResourceUpdated", "ResourcesListChanged", "ToolsListChanged"]

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
    mode: str
    client: int
    server: int
    server_version: str
    report: dict[str, Any]
    outcome: Outcome
    effects: list[str]
    audit: str
    sent: bytes
    passed: bytes
    answered: bytes
    received: bytes

    @property
    def stateless(self) -> bool:
        """Whether it is a session without a handshake."""
        return self.revision == STATELESS_REVISION

    @property
    def tasks(self) -> bool:
        """Whether both sides have them."""
        return self.client == self.server == 1

    def cancelled(self) -> Any:
        """The id of the call that the client has cancelled."""
        ids = [
            message["params"]["requestId"]
            for message in messages(self.sent)
            if message.get("method") == "notifications/cancelled"
        ]
        (call,) = [identifier for identifier in ids if isinstance(identifier, int)]
        return call


def methods(data: bytes, *, request: bool) -> list[str]:
    """The methods of the requests, or of the notifications, in the order of the lines."""
    return [message["method"] for message in messages(data) if "method" in message and ("id" in message) == request]


def progress_tokens(data: bytes) -> list[Any]:
    """Of each notification of progress."""
    told = [message for message in messages(data) if message.get("method") == "notifications/progress"]
    return [message["params"]["progressToken"] for message in told]


def results(data: bytes, kind: str) -> list[dict[str, Any]]:
    """The results that say of themselves that they are of this kind."""
    found = [message.get("result", {}) for message in messages(data)]
    return [result for result in found if result.get("resultType") == kind]


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
        mode=mode,
        client=client,
        server=server,
        server_version=install(server).version,
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
    """Five notifications before the result, and one more for the call that is cancelled."""
    assert told.report["progress"] == {"result": "top", "seen": [[step, 5, f"step {step}"] for step in range(1, 6)]}
    tokens = [token for token in progress_tokens(told.received) if isinstance(token, int)]
    assert len(tokens) == 6


def test_concurrent_calls_get_their_own_results(told: Told) -> None:
    """A thousand at once, none answered before all are there, and then in another order."""
    assert told.report["concurrent"] == CALLS


def test_cancel_reaches_the_tool(told: Told) -> None:
    """The tool is interrupted, its result never comes, the session goes on.

    1.x answers the cancelled call with an error, late and legally; 2.x doesn't.
    """
    report = told.report["cancel"]
    assert "result" not in report
    assert report["afterwards"] == "alive"
    assert told.effects[-2:] == ["slow begins", "slow cancelled"]
    late = replies(told.received, told.cancelled())
    assert not any("result" in answer for answer in late)
    if told.server_version in MEASURED_VERSIONS:
        assert len(late) == (1 if told.server == 1 else 0)


def test_prompts_resources_and_completions_arrive(told: Told) -> None:
    """The lists, one of each, and one made from a template."""
    assert told.report["prompts"] == {"listed": True, "text": "Hello Ada"}
    assert told.report["resources"] == {"listed": True, "texts": ["a note", "a note of Ada"]}
    assert told.report["completion"] == ["Ada", "Alan"]


def test_logging_arrives(told: Told) -> None:
    """Asked for by logging/setLevel, or by each request in its own ``_meta``."""
    assert told.report["log"] == ["info: told"]
    assert told.stateless or told.report["set_level"] is True


def test_the_server_asks_its_client(told: Told) -> None:
    """Roots, a sample, a form and a link, by whatever way the era has.

    With a handshake: requests of the server's own, the sample with progress from the
    client. Stateless: two results that say input_required, for each of the three
    methods that may be answered so.
    """
    assert told.report["consult"] == CONSULTED
    asked = methods(told.received, request=True)
    unfinished = results(told.received, "input_required")
    if told.stateless:
        assert told.report["consult_elsewhere"] == [CONSULTED, CONSULTED]
        assert asked == []
        kinds = [request["method"] for result in unfinished for request in result["inputRequests"].values()]
        assert sorted(set(kinds)) == ["elicitation/create", "roots/list", "sampling/createMessage"]
        assert len(unfinished) == 6
        assert sum("requestState" in result for result in unfinished) == 3
    else:
        once = ["ping", "roots/list", "sampling/createMessage", "elicitation/create", "elicitation/create"]
        assert asked[: len(once)] == once
        assert unfinished == []
        assert methods(told.sent, request=False).count("notifications/progress") == 1
        assert methods(told.received, request=False).count("notifications/elicitation/complete") == 1


def test_changes_are_told(told: Told) -> None:
    """Unasked where there was a handshake, else to the subscriptions that asked for them.

    One subscription is ended by the client, the other by the server.
    """
    if not told.stateless:
        assert told.report["change"] == CHANGES
        return
    assert told.report["listen"] == {
        "inner": ["ToolsListChanged"],
        "outer": CHANGE_EVENTS,
        "again": CHANGE_EVENTS,
        "left": [],
    }
    assert methods(told.received, request=False).count("notifications/subscriptions/acknowledged") == 2
    key = "io.modelcontextprotocol/subscriptionId"
    assert sum(key in result.get("_meta", {}) for result in results(told.received, "complete")) == 1


def test_tasks_outlive_their_call(told: Told) -> None:
    """A task tells its progress when its call is long answered, asks its client, and can be cancelled."""
    if not told.tasks:
        assert told.report.get("tasks") is None
        return
    assert told.report["tasks"] == {
        "result": "an answer",
        "status": "completed",
        "cancelled": "cancelled",
        "listed": True,
    }
    assert progress_tokens(told.received).count("task") == 2
    assert methods(told.received, request=True)[5:] == ["elicitation/create"]


def test_a_failed_probe_is_followed_by_the_handshake(told: Told) -> None:
    """A client of both eras probes first; with an older server it begins anew, in the same process."""
    begun = methods(told.passed, request=True)[:2]
    if told.mode != "auto":
        assert "server/discover" not in begun
    elif told.stateless:
        assert begun[0] == "server/discover"
    else:
        assert begun == ["server/discover", "initialize"]
        assert "error" in messages(told.received)[0]


def test_every_method_was_used(told: Told) -> None:
    """So that the other tests speak of what they seem to speak of."""
    used = set(methods(told.sent, request=True) + methods(told.sent, request=False))
    era = {"subscriptions/listen"} if told.stateless else HANDSHAKE_ONLY
    assert used - {"server/discover"} == BOTH_ERAS | era | (TASKS if told.tasks else set())


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
    """The audit file of an honest session has no record, and stderr nothing from the gate."""
    assert told.audit == ""
    assert told_by_gate(told.outcome.stderr) == []
