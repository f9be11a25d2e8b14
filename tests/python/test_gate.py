"""The gate as an object: when it judges, what it takes, what it shows, and that nothing of it can be made by hand."""

from __future__ import annotations

import copy
import gc
import io
import json
import pickle
import re
import sys
import threading
from array import array
from typing import Any
from unittest.mock import MagicMock

import linegate
import pytest
from linegate import _linegate
from linegate._options import _WORDS
from linegate._tell import tell_refused

from .conftest import Run

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
CALL = b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":[2,{"c":3}]}}}\n'


def message(line: bytes = CALL, **options: Any) -> linegate.Message:
    (event,) = linegate.Gate(**options).feed(line)
    assert isinstance(event, linegate.Message)
    return event


def test_the_loop_of_the_readme() -> None:
    gate, seen = linegate.Gate(), []
    for chunk in (PING[:10], PING[10:] + CALL, b"{not json}\n" + PING):
        for event in gate.feed(chunk):
            seen.append(event)
    ping, call, refused = seen
    assert isinstance(ping, linegate.Message) and (ping.kind, ping.method, ping.id, ping.params) == (
        "request",
        "ping",
        1,
        None,
    )
    assert isinstance(call, linegate.Message) and call.id == "a" and call.id_raw == b'"a"' and call.raw + b"\n" == CALL
    assert call.params is call.params and call.params["arguments"]["b"] == [2, {"c": 3}]
    assert (call.sequence, call.length, call.result, call.error, call.loosened) == (2, len(CALL) - 1, None, None, [])
    assert isinstance(refused, linegate.Refused)
    assert (refused.code, refused.offset, refused.sequence, refused.closes) == (202, 1, 3, True)
    assert refused.code is linegate.Code.UNEXPECTED_BYTE and refused.code.rule == "unexpected_byte"
    assert refused.code.stage is linegate.Stage("json") and refused.rpc_code == -32700 and refused.id is None
    assert gate.closed and gate.counters.accepted == 2 and gate.counters.refused == 1


def test_a_line_is_judged_when_it_is_iterated_to() -> None:
    gate = linegate.Gate(policy=linegate.Policy.CLOSE_ALL).feed(CALL + PING)
    call = next(gate)
    assert isinstance(call, linegate.Message) and gate.counters.accepted == 1
    step = call.call()
    assert isinstance(step, linegate.Call) and step.unknown().code == 501
    # The refusal of the call ended the session: the line behind it is not judged.
    assert list(gate) == [] and gate.closed and gate.counters.accepted == 1


def test_what_is_left_of_a_chunk_waits_for_the_next() -> None:
    gate = linegate.Gate().feed(PING + PING)
    next(gate)
    assert len(list(gate.feed(PING))) == 2


@pytest.mark.parametrize(
    "kind", [bytearray, memoryview, lambda data: array("B", data), lambda data: memoryview(data)[::1]]
)
def test_any_buffer_is_taken_and_copied(kind: Any) -> None:
    data = bytearray(PING)
    given = kind(data)
    gate = linegate.Gate().feed(given)
    data[:] = b"x" * len(data)
    assert isinstance(next(gate), linegate.Message)


@pytest.mark.parametrize(("data", "kind"), [("text", "a str"), (5, "an int"), (None, "a NoneType"), ([1], "a list")])
def test_what_is_no_buffer_is_a_fault_of_the_caller(data: Any, kind: str) -> None:
    for take in (linegate.Gate().feed, linegate.Gate().filter):
        with pytest.raises(TypeError, match=f"takes bytes, not {kind}"):
            take(data)


def test_the_end_of_input_inside_a_line() -> None:
    gate = linegate.Gate()
    assert list(gate.feed(PING[:-1])) == []
    (refused,) = gate.close()
    assert isinstance(refused, linegate.Refused) and refused.code == linegate.Code.TRUNCATED and refused.reply is None
    assert gate.closed and list(gate.close()) == []


def test_strict_raises() -> None:
    gate = linegate.Gate(strict=True)
    with pytest.raises(linegate.RefusedError) as raised:
        list(gate.feed(PING + b"[]\n"))
    assert raised.value.refused.code == 302
    assert len(list(linegate.Gate(strict=True).feed(PING))) == 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"limits": linegate.Limits(max_frame=3)}, "max_frame"),
        ({"limits": linegate.Limits(max_depth=513)}, "max_depth"),
        ({"limits": linegate.Limits(max_frame=-1)}, "max_frame"),
        ({"policy": "close"}, "policy"),
        ({"profile": "lax"}, "profile"),
        ({"revision": "2025"}, "revision"),
        ({"allow": ["depth"]}, "switch"),
        ({"allow": "depth"}, "allow"),
        ({"sender": "peer"}, "sender is client or server, not 'peer'"),
        ({"revision": "2024-01-01"}, "revision is .*2024-11-05.* or .*, not '2024-01-01'"),
        ({"policy": 1}, "policy is close_all, close_malformed or continue, not 1"),
        ({"batches": "maybe"}, "batches is by_revision, allow or refuse"),
        ({"error_id": "none"}, "error_id is by_revision, null or absent"),
        ({"polcy": "continue"}, "no option polcy .is it policy.*; the options are sender, .*limits, key"),
        ({"max_frame": 5}, r"limits=linegate.Limits\(max_frame=...\)"),
        ({"allow": "big_integers"}, "allow is a list of names, not a str"),
        ({"refuse": 5}, "refuse is a list of names, not an int"),
        ({"methods": "x"}, "methods is a list of names, not a str"),
        ({"methods": [5]}, "methods is a list of names, and an int is none"),
        ({"versions": b"x"}, "versions is a list of names, not a bytes"),
        ({"allow": ["tools/x"]}, "no switch 'tools/x'; linegate.Switch lists them"),
        ({"limits": {"max_frame": 5}}, "limits is a linegate.Limits, not a dict"),
        ({"limits": 5}, "limits is a linegate.Limits, not an int"),
        ({"limits": linegate.Limits(max_keys=b"x")}, "max_keys is an integer, not a bytes"),  # type: ignore[arg-type]
        ({"limits": linegate.Limits(max_id=True)}, "max_id is an integer, not a bool"),
        ({"key": b"short"}, "key is 16 bytes, not 5"),
        ({"key": 16}, "key is 16 bytes, not an int"),
        ({"key": "sixteen letters!"}, "key is 16 bytes, not a str"),
        ({"batches": "allow"}, "batches"),
    ],
)
def test_options_that_can_not_be(options: Any, text: str) -> None:
    with pytest.raises(linegate.UsageError, match=text) as raised:
        linegate.Gate(**options)
    assert raised.value.code is linegate.Code.BAD_OPTIONS


@pytest.mark.parametrize("limits", [{"max_frame": 5}, 5, (1, 2)])
def test_a_session_says_what_is_wrong_with_its_options(limits: Any) -> None:
    with pytest.raises(linegate.UsageError, match=r"limits is a linegate\.Limits"):
        linegate.session(limits=limits)
    with pytest.raises(linegate.UsageError, match="sender isn't given here"):
        linegate.session(sender="server")


@pytest.mark.parametrize("in_flight", ["x", 0, -1, True, None])
def test_a_session_has_room_for_a_request(in_flight: Any) -> None:
    with pytest.raises(linegate.UsageError, match="in_flight is an integer, 1 to 65536, not "):
        linegate.session(in_flight=in_flight)
    assert len(linegate.session(in_flight=1)) == 2


def test_every_name_of_an_option_is_one_of_the_core() -> None:
    # What the errors list is what is taken.
    for name, words in _WORDS.items():
        for word in words:
            given: Any = {"revision": "2025-03-26", name: word}
            assert not linegate.Gate(**given).closed


def test_options_by_enum_and_by_name_are_the_same() -> None:
    number = b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":12345678901234567890}}\n'
    for switch in (linegate.Switch.BIG_INTEGERS, "big_integers"):
        event = message(number, allow=[switch], methods=["m"], revision=linegate.Revision.V2025_11_25)
        assert event.loosened == [linegate.Switch.BIG_INTEGERS] and event.params == {"n": 12345678901234567890}


def test_a_session_follows_both_sides() -> None:
    client, server = linegate.session(in_flight=4)
    (ping,) = client.feed(PING)
    assert isinstance(ping, linegate.Message)
    (twice,) = client.feed(PING)
    assert isinstance(twice, linegate.Refused) and twice.code == linegate.Code.ID_IN_USE
    (odd,) = server.feed(b'{"jsonrpc":"2.0","id":2,"result":{}}\n')
    assert isinstance(odd, linegate.Refused) and odd.code == linegate.Code.UNKNOWN_RESPONSE and odd.reply is None


def test_a_key_makes_the_same_fingerprints() -> None:
    def fingerprint(key: bytes) -> str:
        (refused,) = linegate.Gate(key=key).feed(b"{}\n")
        assert isinstance(refused, linegate.Refused)
        return refused.fingerprint

    assert fingerprint(b"sixteen random b") == fingerprint(b"sixteen random b") != fingerprint(b"sixteen random c")


def test_forms_as_text_show_no_payload() -> None:
    gate = linegate.Gate(policy="continue").feed(CALL + b'{"secret"\n')
    event, refused = gate
    call = message().call()
    assert isinstance(call, linegate.Call)
    typed = call.arguments(dict)
    for shown in (event, refused, gate, call, typed):
        for text in (repr(shown), str(shown)):
            # An address may spell the word.
            text = re.sub("at 0x[0-9a-f]+", "", text)
            assert "secret" not in text and "add" not in text


def test_nothing_can_be_made_by_hand() -> None:
    call = message().call()
    assert isinstance(call, linegate.Call)
    typed = call.arguments(dict)
    assert isinstance(typed, linegate.Typed)
    journal = linegate.Journal()
    action = typed.authorize(lambda call, arguments: True, journal)
    assert isinstance(action, linegate.Authorized)
    for made in (call.message, call, typed, action):
        kind: Any = type(made)
        with pytest.raises(TypeError):
            kind()
        with pytest.raises(TypeError):
            kind.__new__(kind)
        with pytest.raises(TypeError):
            object.__new__(kind)
        with pytest.raises(TypeError):
            type("Mine", (kind,), {})
        with pytest.raises(TypeError):
            pickle.loads(pickle.dumps(made))
        with pytest.raises(TypeError):
            copy.copy(made)
        with pytest.raises(AttributeError):
            made.anything = 1  # type: ignore[union-attr]
    with pytest.raises(AttributeError):
        journal.executed = 5  # type: ignore[misc]
    action.open()
    assert journal.executed == 1


def test_a_refusal_is_data() -> None:
    (refused,) = linegate.Gate().feed(b"{}\n")
    assert isinstance(refused, linegate.Refused)
    assert pickle.loads(pickle.dumps(refused)) == refused
    with pytest.raises(AttributeError):
        refused.code = 1  # type: ignore[misc,assignment]
    assert refused.audit_line.startswith(
        '{"event":"refused","sequence":1,"direction":"client","stage":"rpc","code":303,'
    )


def test_a_gate_is_used_by_one_thread_at_a_time() -> None:
    text = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"a" * 4_000_000 + b'"}}\n'
    gate = linegate.Gate().feed(text * 8)
    faults: list[BaseException] = []
    done: list[object] = []

    def use() -> None:
        try:
            done.extend(iter(gate))
        except RuntimeError as error:
            faults.append(error)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Whoever comes while another is inside is told; nothing is judged twice, and nothing is lost.
    done.extend(iter(gate))
    assert len(done) == 8 and gate.counters.accepted == 8
    assert all("borrowed" in str(fault) for fault in faults)


def test_large_lines_are_judged_without_the_lock_of_the_interpreter() -> None:
    text = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"\\u00e9" * 1_200_000 + b'"}}\n'
    ticks = 0
    over = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not over.wait(0.0005):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    before = ticks
    for _ in range(5):
        list(linegate.Gate().feed(text))
    during = ticks - before
    over.set()
    thread.join()
    assert during > 0


def test_the_enums_are_the_table_of_the_core() -> None:
    assert [int(code) for code in linegate.Code] == sorted({int(code) for code in linegate.Code})
    assert {code.rpc_code for code in linegate.Code} == {None, -32700, -32600, -32601, -32602, -32022}
    assert linegate.Code.DUPLICATE_KEY.closes and not linegate.Code.NUMBER_RANGE.closes
    assert all(code.text.endswith(".") for code in linegate.Code)
    assert [code["name"] for code in _linegate.names()["codes"]] == [code.rule for code in linegate.Code]
    assert str(linegate.Profile.STRICT) == "strict" and linegate.Revision("2025-11-25") is linegate.Revision.V2025_11_25


def test_a_wire_that_was_never_made_is_collected_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    stream = io.BytesIO()
    with pytest.raises(linegate.UsageError, match="on_stray"):
        linegate.Wire(stream, on_stray=3)  # type: ignore[arg-type]
    gc.collect()
    assert told == [] and not stream.closed


def test_a_wire_says_what_it_takes() -> None:
    wire = linegate.Wire(io.BytesIO())
    wrong: list[tuple[Any, str]] = [
        (lambda: wire.send({"id": 1}), "send takes the bytes of a line.*answer makes one.*, not a dict"),  # type: ignore[arg-type]
        (lambda: wire.send("{}"), "send takes the bytes of a line.*, not a str"),  # type: ignore[arg-type]
        (lambda: wire.write_line({"id": 1}), "write_line takes a line, as bytes or str, not a dict"),  # type: ignore[arg-type]
        (lambda: wire.write_line(5), "as bytes or str, not an int"),  # type: ignore[arg-type]
        (lambda: wire.write_line([1, 2]), "as bytes or str, not a list"),  # type: ignore[arg-type]
        (lambda: wire.write("x"), "write takes bytes .*, not a str"),  # type: ignore[arg-type]
        (lambda: linegate.Wire("x"), "a wire writes to a binary stream.*, not to a str"),
        (lambda: linegate.Wire(io.StringIO()), "a wire writes to a binary stream.*, not to a StringIO"),
        (lambda: wire.answer("x", {}), "a Message of a gate, not a str"),  # type: ignore[arg-type]
        (lambda: wire.answer_error(next(linegate.Gate().feed(b"{}\n")), 1, "x"), "not a Refused"),  # type: ignore[arg-type]
    ]
    for act, text in wrong:
        with pytest.raises(TypeError, match=text):
            act()
    with pytest.raises(linegate.RefusedError):
        wire.write_line('{"jsonrpc":"2.0","id":1,"result":{"x":"\ud800"}}')


@pytest.mark.parametrize("name", ["on_refused", "on_stray"])
def test_who_is_told_by_a_wire_is_a_function_that_runs(name: str) -> None:
    async def later(said: object) -> None: ...

    for wrong, text in ((later, f"{name} is an `async def`"), ("stderr", f"{name} is a function, not a str")):
        given: dict[str, Any] = {name: wrong}
        with pytest.raises(linegate.UsageError, match=text):
            linegate.Wire(io.BytesIO(), **given)
    # A stand-in that has every attribute is a function like any other.
    stand_in: dict[str, Any] = {name: MagicMock()}
    linegate.Wire(io.BytesIO(), **stand_in).write(b"loading...\n")
    assert stand_in[name].call_count == 1


OK = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'


def test_a_wire_whose_session_has_ended_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    out = io.BytesIO()
    wire = linegate.Wire(out, gate=linegate.Gate(sender="server", policy="close_malformed"))
    wire.write(b"loading...\n")
    here = f"{__file__}:{sys._getframe().f_lineno - 1}"
    said = capsys.readouterr().err.splitlines()
    assert "202 unexpected_byte" in said[0] and said[0].endswith(" The session ends here.")
    assert said[1] == f"linegate: written at {here}, kept off the wire: loading..."
    # What comes after is not lost without a word, either.
    with pytest.raises(linegate.ClosedError, match="the session has ended"):
        wire.write_line(OK)
    wire.write(OK)
    assert "kept off the wire: " + OK.decode() in capsys.readouterr().err and out.getvalue() == b""


def test_refusals_in_a_row_are_told_so_often(capsys: pytest.CaptureFixture[str]) -> None:
    def read(data: bytes) -> list[str]:
        linegate.wrap(io.BytesIO(data), policy="continue").read()
        return capsys.readouterr().err.splitlines()

    def read_closing(data: bytes) -> list[str]:
        linegate.wrap(io.BytesIO(data), policy="close_malformed").read()
        return capsys.readouterr().err.splitlines()

    bad = b"{}\n"
    assert len(read(bad * 16)) == 16
    told = read(bad * 5000)
    assert len(told) == 16 + 8 and "refused line 4096 of" in told[-1] and "4096 in a row" in told[-1]
    # A line that is accepted begins a new row.
    assert len(read((bad * 16 + PING) * 5)) == 80
    assert len(read(bad * 40 + PING + bad * 3)) == 17 + 3
    # The one that ends the session is told wherever it comes.
    assert "The session ends here." in read_closing(bad * 20 + b"{not json}\n")[-1]


def test_rows_of_two_streams_are_two(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = linegate.Gate(policy="continue"), linegate.Gate(policy="continue")
    two.filter(PING * 500)
    for _ in range(100):
        for gate in (one, two):
            for refused in gate.filter(b"{}\n")[1]:
                tell_refused(refused)
    assert len(capsys.readouterr().err.splitlines()) == 2 * (16 + 2)


def test_modules_of_the_package_are_there_when_they_are_asked_for(run: Run) -> None:
    code = "import sys, linegate\nfor name in ('aio', 'host', 'testing'):\n"
    code += "    whole = 'linegate.' + name\n    assert whole not in sys.modules\n"
    code += "    assert getattr(linegate, name).__name__ == whole\n"
    run(code + "assert linegate.host.Server and linegate.aio.Server\nassert not hasattr(linegate, 'hots')\n")


def test_versions_may_name_a_draft() -> None:
    """No version is checked to be a published one: a host may serve what isn't yet."""
    gate = linegate.Gate(revision="2026-07-28", versions=["DRAFT-1", "2026-07-28"])
    for version, code in (("DRAFT-1", None), ("2026-07-28", None), ("2025-11-25", 407)):
        about = {"protocolVersion": version, "clientCapabilities": {}}
        meta = {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}).encode()
        (event,) = gate.feed(line + b"\n")
        assert getattr(event, "code", None) == code
    assert isinstance(event, linegate.Refused) and event.reply
    assert json.loads(event.reply)["error"]["data"]["supported"] == ["DRAFT-1", "2026-07-28"]
