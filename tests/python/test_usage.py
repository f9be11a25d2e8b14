"""What can't be is refused where it is given, as a `UsageError` that says what may be, before anything is started."""

from __future__ import annotations

import asyncio
import io
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import linegate
import linegate.aio
import pytest
from linegate import host

from . import readme

SERVER = [sys.executable, "-c", "import sys; sys.stdin.read()"]


@dataclass
class A:
    path: str


def act(arguments: A) -> None:
    pass


def made(**options: Any) -> Any:
    return linegate.wrap(io.BytesIO(), gate=linegate.Gate(), **options)


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "a policy beside a gate": (lambda: made(policy="continue"), "policy beside gate="),
    "the same of a wire": (
        lambda: linegate.Wire(io.BytesIO(), gate=linegate.Gate(), policy="continue"),
        "beside gate=",
    ),
    "no gate": (lambda: linegate.wrap(io.BytesIO(), gate=5), "gate is a linegate.Gate, not an int"),  # type: ignore[arg-type]
    "no reply": (lambda: made(reply=5), "reply is a function, not an int"),
    "a tool that is no name": (lambda: linegate.executor(tool=5, model=A)(act), "tool is a name"),  # type: ignore[call-overload]
    "both": (lambda: linegate.executor(tool="a", method="b", model=A)(act), "of a tool or of a method"),
    "no model": (lambda: linegate.executor(tool="a", model=5)(act), "model is a dataclass"),
    "a text as model": (lambda: linegate.executor(tool="a", model="str")(act), "model is a dataclass"),
    "a policy of one": (lambda: linegate.Actions([], lambda call: True), "takes two parameters"),  # type: ignore[arg-type,misc]
    "a policy of three": (lambda: linegate.Actions([], lambda a, b, c: True), "takes two parameters"),  # type: ignore[arg-type,misc]
    "no versions": (lambda: linegate.Gate(versions=[]), "at least one version"),
    "a surrogate": (lambda: linegate.Gate(methods=["\ud800"]), "can't be printed"),
    "a bound above": (lambda: linegate.Gate(limits=linegate.Limits(max_frame=2**70)), "max_frame"),
    "a bound below": (lambda: linegate.Gate(limits=linegate.Limits(max_replies=-(2**70))), "max_replies"),
    "strict": (lambda: linegate.Gate(strict="x"), "strict is True or False"),  # type: ignore[arg-type]
    "no tracker": (lambda: linegate.Gate(tracker=5), "tracker is one of"),  # type: ignore[arg-type]
    "no option": (lambda: linegate.install(tracker=None), "there is no option tracker"),  # type: ignore[call-arg]
    "install at once": (lambda: linegate.install(policy="x"), "policy is"),
    "stdio at once": (lambda: linegate.gated_stdio(in_flight=65_537), "in_flight is an integer, 1 to 65536"),
    "pump at once": (lambda: linegate.pump(policy="x"), "policy is"),
    "guard at once": (lambda: linegate.guard_stdout(policy="x"), "policy is"),
    "aio at once": (lambda: linegate.aio.gated_stdio(policy="x"), "policy is"),
    "no command": (lambda: host.Server([]), "the command is empty"),
    "no file": (lambda: host.Server(SERVER, stderr="x"), "stderr is None, a file"),
    "an environment of numbers": (lambda: host.Server(SERVER, env={"A": 1}), "env is a mapping"),  # type: ignore[dict-item]
    "too many in flight": (lambda: host.Server(SERVER, in_flight=10**9), "in_flight is"),
}


@pytest.fixture
def no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a child was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(asyncio, "create_subprocess_exec", refuse)


@pytest.mark.usefixtures("no_child")
@pytest.mark.parametrize("what", WRONG)
def test_what_cant_be_is_refused_where_it_is_given(what: str) -> None:
    call, text = WRONG[what]
    with pytest.raises(linegate.UsageError, match=text) as raised:
        call()
    assert raised.value.code == linegate.Code.BAD_OPTIONS


@pytest.mark.usefixtures("no_child")
@pytest.mark.parametrize("grace", ["2", -1, float("nan"), float("inf"), None, True, 86_401])
def test_a_grace_that_is_none_starts_nothing(grace: Any) -> None:
    with pytest.raises(linegate.UsageError, match="grace is seconds, 0 to 86400"):
        host.Server(SERVER, grace=grace)
    with pytest.raises(linegate.UsageError, match="grace is seconds, 0 to 86400"):
        asyncio.run(linegate.aio.Server.start(SERVER, grace=grace))


def test_what_is_at_the_bounds_is_taken() -> None:
    linegate.session(in_flight=1)
    linegate.session(in_flight=65_536)
    for grace in (0, 86_400):
        with host.Server(["sleep", "0"], grace=grace, env={"A": "1"}, stderr=subprocess.DEVNULL):
            pass
    linegate.Actions([], lambda *both: True)


def test_an_interrupt_at_the_end_leaves_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    server = host.Server(["sleep", "77"])
    process = server._process

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(process, "wait", interrupted)
        server.close()
    assert process.wait(10) < 0


def test_a_replaced_open_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    gate, journal = linegate.Gate(), linegate.Journal()
    seen: list[A] = []
    executor = linegate.executor(tool="act", model=A)(seen.append)
    line = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"act","arguments":{"path":"p"}}}\n'
    (message,) = gate.feed(line)
    call: Any = message.call()  # type: ignore[union-attr]
    action = call.arguments(A, tool="act").authorize(lambda call, arguments: True, journal)
    monkeypatch.setattr(linegate.Authorized, "open", lambda self: A("forged"))
    executor(action)
    assert seen == [A("p")] and journal.executed == 1


def test_the_readmes_ranges_are_those_of_the_core() -> None:
    (row,) = [line for line in readme.TEXT.splitlines() if line.startswith("| `limits`")]
    pairs = re.findall(r"(\d+) to (\d+)(?:\^(\d+)(-1)?)?", row)
    said = [(int(low), int(base) ** int(power or 1) - bool(less)) for low, base, power, less in pairs]
    assert len(said) == 4 and "replies in a row from 0" in row
    for name, (low, high) in zip(linegate.Limits._fields, said):
        for bound in (low, high):
            linegate.Gate(limits=linegate.Limits(**{name: bound}))
        for bound in (low - 1, high + 1):
            with pytest.raises(linegate.UsageError, match=name):
                linegate.Gate(limits=linegate.Limits(**{name: bound}))
    linegate.Gate(limits=linegate.Limits(max_replies=0))
