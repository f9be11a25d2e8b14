"""From a message to an effect: each stage once, in order, in time; what fits a type and what doesn't; who is told."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from typing import Any, Literal, Optional, Union

import linegate
import pytest

PING = b'{"jsonrpc":"2.0","id":9,"method":"ping"}\n'


@dataclass
class Add:
    a: int
    b: int = 0


@dataclass
class Other:
    a: int


def line(arguments: Any, tool: str = "add") -> bytes:
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode() + b"\n"


def called(arguments: Any, **options: Any) -> tuple[linegate.Gate, linegate.Call]:
    gate = linegate.Gate(**options).feed(line(arguments))
    message = next(gate)
    assert isinstance(message, linegate.Message)
    call = message.call()
    assert isinstance(call, linegate.Call)
    return gate, call


def yes(call: linegate.Call, arguments: object) -> bool:
    return True


def test_the_whole_way() -> None:
    journal = linegate.Journal()
    gate, call = called({"a": 2, "b": 3})
    assert (call.tool, call.message.method, call.message.id, call.revision) == ("add", "tools/call", 1, None)
    typed = call.arguments(Add, tool="add")
    assert isinstance(typed, linegate.Typed) and typed.arguments == Add(2, 3) and journal.executed == 0
    asked: list[Any] = []

    def policy(call: linegate.Call, arguments: Add) -> bool:
        asked.append((call.tool, arguments))
        return True

    action = typed.authorize(policy, journal)
    assert isinstance(action, linegate.Authorized) and asked == [("add", Add(2, 3))]
    assert action.model is Add and journal.executed == 0

    @linegate.executor(tool="add")
    def add(arguments: Add) -> int:
        return arguments.a + arguments.b

    assert add(action) == 5 and journal.executed == 1 and gate.counters.refused == 0


def test_each_stage_is_made_once() -> None:
    _, call = called({"a": 1})
    with pytest.raises(linegate.UsageError) as raised:
        call.message.call()
    assert raised.value.code is linegate.Code.ALREADY_USED
    typed = call.arguments(Add)
    assert isinstance(typed, linegate.Typed)
    journal = linegate.Journal()
    action = typed.authorize(yes, journal)
    assert isinstance(action, linegate.Authorized)
    action.open()
    steps = (call.message.call, lambda: call.arguments(Add), call.unknown, lambda: typed.authorize(yes, journal))
    for again in (*steps, action.open):
        with pytest.raises(linegate.UsageError) as raised:
            again()
        assert raised.value.code is linegate.Code.ALREADY_USED
        assert str(raised.value).startswith("504 already_used: The call was used already")
    assert journal.executed == 1


def test_what_is_granted_is_a_switch() -> None:
    (message,) = linegate.Gate().feed(line({"a": 1}))
    assert isinstance(message, linegate.Message)
    with pytest.raises(linegate.UsageError, match="there is no switch of that name"):
        message.call(["big_integer"])
    assert isinstance(message.call(["big_integers", linegate.Switch.LONE_SURROGATES]), linegate.Call)


@pytest.mark.parametrize("stage", ["message", "call", "typed", "action"])
def test_nothing_outlives_the_next_line(stage: str) -> None:
    gate = linegate.Gate().feed(line({"a": 1}) + PING)
    message = next(gate)
    assert isinstance(message, linegate.Message)
    journal = linegate.Journal()
    steps: dict[str, Any] = {"message": message.call}
    call: Any = message.call() if stage != "message" else None
    typed: Any = call.arguments(Add) if stage in ("typed", "action") else None
    action: Any = typed.authorize(yes, journal) if stage == "action" else None
    steps["call"] = lambda: call.unknown()
    steps["typed"] = lambda: typed.authorize(yes, journal)
    steps["action"] = lambda: action.open()
    next(gate)
    with pytest.raises(linegate.UsageError) as raised:
        steps[stage]()
    assert raised.value.code is linegate.Code.STALE_EVENT
    assert journal.executed == 0


def test_a_policy_that_feeds_the_gate_allows_nothing() -> None:
    gate, call = called({"a": 1})
    typed = call.arguments(Add)
    assert isinstance(typed, linegate.Typed)
    with pytest.raises(linegate.UsageError, match="904"):
        typed.authorize(lambda call, arguments: gate.feed(PING) is gate, linegate.Journal())


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (False, "the policy did not say yes"),
        (None, "the policy did not say yes"),
        (1, "the policy did not say yes"),
        ("closed today", "closed today"),
        ("", ""),
    ],
)
def test_nothing_but_true_allows(answer: Any, reason: str) -> None:
    gate, call = called({"a": 1}, policy="close_all")
    typed, journal = call.arguments(Add), linegate.Journal()
    assert isinstance(typed, linegate.Typed)
    refused = typed.authorize(lambda call, arguments: answer, journal)
    assert isinstance(refused, linegate.Refused) and (refused.code, refused.reason) == (503, reason)
    assert refused.reply is not None and (not reason or reason.encode() not in refused.reply)
    assert gate.closed and journal.executed == 0


def test_what_counts_and_what_asks_say_so() -> None:
    assert "Counts executions" in str(linegate.Journal.__doc__)
    assert "Only True allows" in str(linegate.Typed.authorize.__doc__)


def test_a_policy_that_raises_allows_nothing() -> None:
    _, call = called({"a": 1})
    typed, journal = call.arguments(Add), linegate.Journal()
    assert isinstance(typed, linegate.Typed)

    def policy(call: linegate.Call, arguments: Add) -> bool:
        raise KeyError("who")

    with pytest.raises(KeyError):
        typed.authorize(policy, journal)
    with pytest.raises(linegate.UsageError):
        typed.authorize(yes, journal)
    assert journal.executed == 0


def test_arguments_are_read_anew_from_the_checked_bytes() -> None:
    _, call = called({"a": 1})
    call.message.params["arguments"]["a"] = "no number"
    typed = call.arguments(Add)
    assert isinstance(typed, linegate.Typed) and typed.arguments == Add(1)


def test_an_executor_takes_nothing_but_its_own() -> None:
    journal, ran = linegate.Journal(), []

    @linegate.executor()
    def add(arguments: Add) -> None:
        """Adds."""
        ran.append(arguments)

    assert (add.tool, add.method, add.model, add.__doc__) == ("add", None, Add, "Adds.")

    def action(model: Any, tool: str = "add") -> Any:
        gate = linegate.Gate().feed(line({"a": 1}, tool))
        message = next(gate)
        assert isinstance(message, linegate.Message)
        call = message.call()
        assert isinstance(call, linegate.Call)
        typed = call.arguments(model)
        assert isinstance(typed, linegate.Typed)
        return typed.authorize(yes, journal)

    forged: Any = type("Authorized", (), {"call": None, "model": Add, "open": lambda self: Add(1)})()
    bad: list[Any] = [Add(1), forged, action(Other), action(Add, "sub")]
    for wrong in bad:
        with pytest.raises(linegate.UsageError):
            add(wrong)
    assert ran == [] and journal.executed == 0
    add(action(Add))
    assert ran == [Add(1)] and journal.executed == 1


@dataclass
class Deep:
    items: list[Add]
    by_name: dict[str, Other] = field(default_factory=dict)
    mode: Literal["on", "off", 1] = "on"
    either: Union[int, str] = 0
    ratio: float = 1.0
    maybe: Optional[bool] = None
    anything: Any = None


@pytest.mark.parametrize(
    ("arguments", "at", "text"),
    [
        ({}, b"{}", "missing"),
        ({"items": {}}, b"{}", "type"),
        ({"items": [{"a": 1}, {"a": True}]}, b"true", "type"),
        ({"items": [{"a": 1.5}]}, b"1.5", "type"),
        ({"items": [{"a": 1}, {"b": 1}]}, b'{"b"', "missing"),
        ({"items": [{"a": 1, "c": 1}]}, b'"c"', "not know"),
        ({"items": [], "by_name": {"x": {"a": "1"}}}, b'"1"', "type"),
        ({"items": [], "mode": True}, b"true", "range or form"),
        ({"items": [], "mode": "up"}, b'"up"', "range or form"),
        ({"items": [], "either": []}, b"[]}", "type"),
        ({"items": [], "ratio": "1"}, b'"1"', "type"),
        ({"items": [], "maybe": 0}, b"0}", "type"),
    ],
)
def test_what_does_not_fit_a_dataclass(arguments: Any, at: bytes, text: str) -> None:
    raw = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add"}}, separators=(",", ":")
    )
    raw = raw[:-2] + ',"arguments":' + json.dumps(arguments, separators=(",", ":")) + "}}"
    message = next(linegate.Gate().feed(raw.encode() + b"\n"))
    assert isinstance(message, linegate.Message)
    call = message.call()
    assert isinstance(call, linegate.Call)
    refused = call.arguments(Deep)
    assert isinstance(refused, linegate.Refused) and refused.code == 502 and refused.reason is not None
    assert text in refused.reason
    assert raw.encode()[refused.offset :].startswith(at), raw[refused.offset :]


def test_what_fits_a_dataclass() -> None:
    given = {
        "items": [{"a": 1, "b": 2}],
        "by_name": {"x": {"a": 3}},
        "mode": 1,
        "either": "s",
        "ratio": 2,
        "maybe": False,
    }
    _, call = called({**given, "anything": [None, {"x": 1}]})
    typed = call.arguments(Deep)
    assert isinstance(typed, linegate.Typed)
    assert typed.arguments == Deep([Add(1, 2)], {"x": Other(3)}, 1, "s", 2.0, False, [None, {"x": 1}])


def test_pydantic_models_are_read_strictly() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", a=(int, ...), when=(Optional[__import__("datetime").date], None))
    _, call = called({"a": 1, "when": "2026-01-02"})
    typed = call.arguments(model)
    assert isinstance(typed, linegate.Typed) and str(typed.arguments.when) == "2026-01-02"
    for arguments, reason, subject in (
        ({"a": "1"}, "type", "a"),
        ({}, "missing", "a"),
        ({"a": 1, "c": 1}, "not know", None),
        ({"a": 1, "when": "never"}, "type", "when"),
    ):
        _, call = called(arguments)
        refused = call.arguments(model)
        assert isinstance(refused, linegate.Refused) and refused.code == 502
        assert reason in str(refused.reason) and refused.subject == subject


def test_anything_that_takes_the_value_and_raises() -> None:
    def even(value: Any) -> int:
        if value["a"] % 2:
            raise ValueError("odd")
        return int(value["a"])

    _, call = called({"a": 2})
    typed = call.arguments(even)
    assert isinstance(typed, linegate.Typed) and typed.arguments == 2
    _, call = called({"a": 3})
    refused = call.arguments(even)
    assert isinstance(refused, linegate.Refused) and refused.code == 502
    _, call = called({"b": 3})
    # A fault of the function is no fault of the peer.
    with pytest.raises(KeyError):
        call.arguments(even)


def test_an_interrupted_action_has_its_end_in_the_audit() -> None:
    @linegate.executor()
    def add(arguments: Add) -> int:
        raise KeyboardInterrupt

    told: list[Any] = []
    actions = linegate.Actions([add], yes, audit=lambda line: told.append(json.loads(line)))
    with pytest.raises(KeyboardInterrupt):
        actions.handle(next(linegate.Gate().feed(line({"a": 1}))))
    assert [(row["event"], row.get("outcome")) for row in told] == [("authorized", None), ("ended", "failed")]
    assert (actions.journal.executed, actions.failed) == (1, 1)


def test_an_action_table_tells_its_audit() -> None:
    @linegate.executor()
    def add(arguments: Add) -> int:
        if arguments.a < 0:
            raise OSError("broken")
        return arguments.a

    told: list[Any] = []
    actions = linegate.Actions(
        [add], lambda call, arguments: arguments.a < 5, audit=lambda line: told.append(json.loads(line))
    )
    gate = linegate.Gate(policy="continue", key=b"sixteen random b")
    gate.feed(line({"a": 1}) + line({"a": -1}) + line({"a": 7}) + line({}) + line({}, "sub") + b"{}\n" + PING)
    done = [actions.handle(event) for event in gate]
    assert isinstance(done[0], linegate.Executed) and (done[0].result, done[0].failure) == (1, None)
    assert isinstance(done[1], linegate.Executed) and isinstance(done[1].failure, OSError)
    assert [one.code for one in done if isinstance(one, linegate.Refused)] == [503, 502, 501, 303]
    assert done[-1] is None
    assert (actions.journal.executed, actions.failed) == (2, 1)
    said = [(row["event"], row.get("outcome"), row.get("tool"), row.get("code")) for row in told]
    assert said == [
        ("authorized", None, "add", None),
        ("ended", "done", "add", None),
        ("authorized", None, "add", None),
        ("ended", "failed", "add", None),
        ("refused", None, None, 503),
        ("refused", None, None, 502),
        ("refused", None, None, 501),
        ("refused", None, None, 303),
    ]
    assert len({row["fingerprint"] for row in told[:2]}) == 1
    with pytest.raises(linegate.UsageError):
        linegate.Actions([add, add], yes)


async def _later(arguments: Add) -> int:
    return arguments.a


async def _stream(arguments: Add) -> Any:
    yield arguments.a


def _lazy(arguments: Add) -> Any:
    yield arguments.a


class _Callable:
    async def __call__(self, arguments: Add) -> int:
        return arguments.a


class _Bound:
    async def act(self, arguments: Add) -> int:
        return arguments.a


@pytest.mark.parametrize(
    "act",
    [_later, _stream, _lazy, _Callable(), _Bound().act, functools.partial(_later), functools.partial(_Callable())],
)
def test_what_a_call_would_not_run_is_no_executor(act: Any) -> None:
    with pytest.raises(linegate.UsageError, match="which nothing here would run") as raised:
        linegate.executor(tool="add", model=Add)(act)
    assert raised.value.code is linegate.Code.BAD_OPTIONS
    with pytest.raises(linegate.UsageError):
        linegate.Executor(act, Add, "add", None)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("act", [_later, _stream, _lazy])
def test_a_result_that_is_still_to_be_run_is_a_failure(act: Any) -> None:
    audited: list[Any] = []
    hidden: Any = linegate.executor(tool="add", model=Add)(lambda arguments: act(arguments))
    actions = linegate.Actions([hidden], yes, audit=lambda line: audited.append(json.loads(line)))
    (event,) = linegate.Gate().feed(line({"a": 1}))
    done = actions.handle(event)
    assert isinstance(done, linegate.Executed) and done.result is None and actions.failed == 1
    assert isinstance(done.failure, TypeError) and "is not done" in str(done.failure)
    assert audited[-1]["outcome"] == "failed"


def test_what_an_executor_may_be() -> None:
    @linegate.executor
    def add(arguments: Add, factor: int = 2) -> int:
        return arguments.a * factor

    class Adder:
        def __call__(self, arguments: Add) -> int:
            return arguments.a + 1

    assert (add.tool, add.model, add.method) == ("add", Add, None)
    assert linegate.executor(model=Add)(_unknown).model is Add
    named = linegate.executor(tool="adder", model=Add)(Adder())
    partial = linegate.executor(tool="partial", model=Add)(functools.partial(lambda more, it: it.a + more, 5))
    actions = linegate.Actions([add, named, partial], yes)
    gate = linegate.Gate().feed(line({"a": 3}) + line({"a": 3}, "adder") + line({"a": 3}, "partial"))
    done = [actions.handle(event) for event in gate]
    assert [one.result for one in done if isinstance(one, linegate.Executed)] == [6, 4, 8]


def _two(arguments: Add, more: int) -> None: ...


def _none() -> None: ...


def _by_name(*, arguments: Add) -> None: ...


def _untyped(arguments) -> None: ...  # type: ignore[no-untyped-def]


def _unknown(arguments: Nowhere) -> None: ...  # type: ignore[name-defined] # noqa: F821


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (_two, "_two takes 2 parameters; an executor takes one"),
        (_none, "_none takes 0 parameters; an executor takes one"),
        (_by_name, "an executor takes one"),
        (_untyped, "says no type of its one parameter"),
        (_unknown, "can't be read .*Nowhere.*; give it as model="),
        ("add", r'executor\(tool="add"\)'),
        (5, "is a function, not an int"),
    ],
)
def test_what_an_executor_may_not_be(act: Any, text: str) -> None:
    with pytest.raises(linegate.UsageError, match=text):
        linegate.executor(act)


@linegate.executor(tool="add")
def _add(arguments: Add) -> int:
    return arguments.a


async def _asked(call: linegate.Call, arguments: object) -> bool:
    return True


async def _told(line: str) -> None: ...


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"authorize": "allow"}, "authorize is a function, not a str"),
        ({"authorize": _asked}, "authorize is an `async def`"),
        ({"audit": _told}, "audit is an `async def`"),
        ({"audit": "file"}, "audit is a function, not a str"),
        ({"executors": [yes]}, "yes is no executor: decorate it with @linegate.executor"),
        ({"executors": ["add"]}, "str is no executor"),
        ({"granted": "depth"}, "granted is a list of names"),
        ({"granted": ["big_integer"]}, "granted: there is no switch 'big_integer' .is it big_integers"),
    ],
)
def test_a_table_that_can_not_be_is_refused_when_it_is_made(wrong: Any, text: str) -> None:
    given: dict[str, Any] = {"executors": [_add], "authorize": yes, **wrong}
    with pytest.raises(linegate.UsageError, match=text):
        linegate.Actions(**given)


def test_a_table_walks_verdicts_alone() -> None:
    wrong: Any = "add"
    with pytest.raises(TypeError, match="takes a Message or a Refused of a gate, not a str"):
        linegate.Actions([_add], yes).handle(wrong)


def test_what_a_policy_raises_goes_out_and_nothing_was_allowed() -> None:
    def policy(call: linegate.Call, arguments: object) -> bool:
        raise KeyError("who")

    actions = linegate.Actions([_add], policy)
    (event,) = linegate.Gate().feed(line({"a": 1}))
    with pytest.raises(KeyError):
        actions.handle(event)
    assert actions.journal.executed == 0
