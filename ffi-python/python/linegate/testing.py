"""For the tests of a server: lines that must have no effect, a recorder in the place of what acts, a run of the
server's command, and checks of what it wrote. With pytest, `linegate.pytest_plugin` has fixtures of these;
nothing here needs pytest."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from linegate._errors import an
from linegate._gate import Gate
from linegate._linegate import Message
from linegate._names import Code
from linegate._refused import Refused

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from linegate._options import Options

__all__ = [
    "Completed",
    "Fed",
    "Malformed",
    "Recorded",
    "Recorder",
    "assert_no_effect",
    "assert_protocol_stdout",
    "malformed_lines",
    "run_server",
]

# Bytes of a bad line, and of standard error, that a failure shows.
SHOWN = 400
STDERR_SHOWN = 4000


class Malformed(NamedTuple):
    """A line that is no message, or that readers disagree on, and asks for a call of a tool all the same."""

    name: str
    """What is wrong with it."""
    code: int
    """The code that the gate gives."""
    line: bytes
    """The line, with its line feed."""
    action: str
    """The name of the tool that it asks for, which no other line has."""

    def __repr__(self) -> str:
        return f"<Malformed: {self.name}>"


def malformed_lines() -> list[Malformed]:
    """Lines of many kinds, each a call of a tool of its own that is spoilt in one way."""
    made = []
    for name, code, spoil in _SPOILT:
        action = f"linegate_probe_{name}"
        call = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{action}","arguments":{{}}}}}}'
        made.append(Malformed(name, code, spoil(call.encode()) + b"\n", action))
    return made


def _swap(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda call: call.replace(old, new, 1)


def _argument(text: bytes) -> Callable[[bytes], bytes]:
    return _swap(b'"arguments":{}', b'"arguments":{' + text + b"}")


_PING = b'{"jsonrpc":"2.0","id":2,"method":"ping"}'
_SPOILT: list[tuple[str, int, Callable[[bytes], bytes]]] = [
    ("debug_text", 202, lambda call: b"DEBUG: calling " + call),
    ("html", 202, lambda call: b"<p>" + call + b"</p>"),
    ("not_json", 202, lambda call: b"{not json} " + call),
    ("single_quotes", 202, lambda call: call.replace(b'"', b"'")),
    ("comment", 202, _swap(b'"id"', b'/* */"id"')),
    ("trailing_comma", 202, lambda call: call[:-1] + b",}"),
    ("nan", 202, _argument(b'"x":NaN')),
    ("bad_escape", 203, _argument(b'"x":"\\x"')),
    ("lone_surrogate", 204, _argument(b'"x":"\\ud800"')),
    ("raw_control", 205, _argument(b'"x":"\x01"')),
    ("leading_zero", 206, _argument(b'"x":01')),
    ("two_on_a_line", 207, lambda call: _PING + call),
    ("cut_off", 216, lambda call: call[:-2]),
    ("carriage_return", 103, lambda call: _PING + b"\r" + call),
    ("byte_order_mark", 105, lambda call: b"\xef\xbb\xbf" + call),
    ("nul_byte", 106, lambda call: call + b"\0"),
    ("space_before", 107, lambda call: b" " + call),
    ("invalid_utf8", 201, _argument(b'"x":"\xff"')),
    ("too_deep", 208, _argument(b'"x":' + b"[" * 80 + b"]" * 80)),
    ("method_twice", 209, _swap(b'"method"', b'"method":"ping","method"')),
    ("name_twice_by_escape", 209, _swap(b'"name"', b'"n\\u0061me":"ping","name"')),
    ("method_in_capitals", 212, _swap(b'"method"', b'"METHOD":"ping","method"')),
    ("escaped_nul", 213, _argument(b'"x":"\\u0000"')),
    ("huge_integer", 214, _argument(b'"x":12345678901234567890')),
    ("proto_key", 215, _argument(b'"__proto__":1')),
    ("batch", 302, lambda call: b"[" + call + b"]"),
    ("jsonrpc_missing", 303, _swap(b'"jsonrpc":"2.0",', b"")),
    ("jsonrpc_1_0", 304, _swap(b'"2.0"', b'"1.0"')),
    ("method_escaped", 313, _swap(b'"method"', b'"m\\u0065thod"')),
    ("id_fraction", 306, _swap(b'"id":1', b'"id":1.5')),
    ("id_null", 307, _swap(b'"id":1', b'"id":null')),
    ("params_string", 309, lambda call: call[: call.index(b"{", 1)] + call[call.index(b"linegate_") - 1 : -17] + b"}"),
    ("result_beside_method", 310, _swap(b'"id":1', b'"id":1,"result":{}')),
    ("unknown_member", 312, _swap(b'"id":1', b'"id":1,"trace":1')),
]


class Recorded(NamedTuple):
    """A call that reached its tool."""

    tool: str
    arguments: Any


class Fed(NamedTuple):
    """What came of input."""

    replies: list[Any]
    """The error replies to refused lines, decoded."""
    refused: list[Refused]
    closed: bool
    """Whether the gate is closed."""


class Recorder:
    """Stands where something would act, and keeps what it was called with."""

    def __init__(self) -> None:
        self.calls: list[Recorded] = []

    def tool(self, name: str) -> Callable[..., str]:
        """A tool of this name, to be registered where the real one would be."""

        def record(**arguments: Any) -> str:
            self.calls.append(Recorded(name, arguments))
            return "recorded"

        record.__name__ = name
        return record

    def feed(
        self, data: bytes, handler: Optional[Callable[[Message], object]] = None, **options: Unpack[Options]
    ) -> Fed:
        """Feeds input to a gate, by default one that any refusal closes, and gives each accepted message to the
        handler. Without one, the calls of tools are recorded."""
        options.setdefault("policy", "close_all")
        gate, refused = Gate(**options), []
        for events in (gate.feed(data), gate.close()):
            for event in events:
                if isinstance(event, Refused):
                    refused.append(event)
                elif handler is not None:
                    handler(event)
                elif event.method == "tools/call":
                    self.calls.append(Recorded(event.params["name"], event.params.get("arguments", {})))
        return Fed([json.loads(one.reply) for one in refused if one.reply], refused, gate.closed)


class Completed(NamedTuple):
    """A run of a server to its end."""

    command: Sequence[str]
    stdout: bytes
    stderr: bytes
    status: int

    def messages(self) -> list[Any]:
        """The lines of its standard output, decoded."""
        return [json.loads(line) for line in self.stdout.split(b"\n") if line]

    def __repr__(self) -> str:
        return f"<Completed: {shlex.join(self.command)}, status {self.status}>"


Lines = Union[bytes, Iterable[Union[bytes, dict[str, Any]]]]


def _encode(stdin: Lines) -> bytes:
    if isinstance(stdin, bytes):
        return stdin
    # A text would be a line for each letter; of a mapping, for each key.
    if isinstance(stdin, (str, Mapping)) or not isinstance(stdin, Iterable):
        raise TypeError(f"stdin is bytes, or a list of bytes and messages, not {an(stdin)}")
    lines = []
    for line in stdin:
        if not isinstance(line, (bytes, dict)):
            raise TypeError(f"a line of stdin is bytes or a message (a dict), not {an(line)}")
        lines.append(line if isinstance(line, bytes) else json.dumps(line).encode())
    return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines)


def run_server(
    command: Sequence[str],
    stdin: Lines,
    *,
    timeout: float = 30.0,
    patience: float = 10.0,
    env: Optional[dict[str, str]] = None,
    cwd: Union[str, os.PathLike[str], None] = None,
) -> Completed:
    """Starts a server, sends it lines (bytes, or one message each), and gives what it said until it ended.

    Its input ends when each valid request has been answered, or after `patience` seconds: many servers drop what they
    are doing at the end of input. One that still runs after `timeout` seconds is killed, and `TimeoutError` raised,
    with its stderr. `env` is its whole environment, `cwd` its folder, both as of `subprocess`.
    """
    if isinstance(command, (str, bytes)) or not isinstance(command, Sequence):
        raise TypeError(f"command is a list of words, [sys.executable, 'server.py'] for one, not {an(command)}")
    if not command:
        raise ValueError("command is empty")
    data = _encode(stdin)
    asked = {event.id_raw for event in _messages(data, policy="continue") if event.kind == "request"}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=cwd, bufsize=0
    )
    assert process.stdin and process.stdout and process.stderr
    out, err, news = bytearray(), bytearray(), threading.Condition()

    def collect(stream: Any, into: bytearray) -> None:
        while chunk := stream.read(65536):
            with news:
                into.extend(chunk)
                news.notify()
        with news:
            news.notify()

    def send() -> None:
        try:
            view = memoryview(data)
            while view:
                view = view[process.stdin.write(view) or 0 :]  # type: ignore[union-attr]
        except OSError:
            # It reads no more: what it said tells why.
            pass

    threads = [
        threading.Thread(target=collect, args=(process.stdout, out), daemon=True),
        threading.Thread(target=collect, args=(process.stderr, err), daemon=True),
        threading.Thread(target=send, daemon=True),
    ]
    for thread in threads:
        thread.start()
    end = time.monotonic() + timeout
    try:
        with news:
            news.wait_for(lambda: asked <= _answered(out) or not threads[0].is_alive(), min(patience, timeout))
        threads[2].join(max(0.0, end - time.monotonic()))
        process.stdin.close()
        status = process.wait(max(0.0, end - time.monotonic()))
        for thread in threads[:2]:
            thread.join(max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        text = f"{shlex.join(command)} still runs {timeout} s after its start"
        raise TimeoutError(text + _stderr(bytes(err))) from None
    finally:
        process.kill()
        process.wait()
    return Completed(list(command), bytes(out), bytes(err), status)


def _messages(data: bytes, **options: Unpack[Options]) -> list[Message]:
    return [event for event in Gate(**options).feed(data) if isinstance(event, Message)]


def _answered(out: bytearray) -> set[Optional[bytes]]:
    """The ids of responses in a server's output so far."""
    messages = _messages(bytes(out), sender="server", policy="continue", profile="rfc8259")
    return {message.id_raw for message in messages if message.kind in ("result", "error")}


def assert_protocol_stdout(
    data: Union[bytes, Completed], *, allow_empty: bool = False, **options: Unpack[Options]
) -> None:
    """Asserts that a server's standard output is messages and nothing else.

    `data` is the output, or a whole run of `run_server`, whose command and stderr are then shown too. Output without
    any message fails, for such a server said nothing at all, unless `allow_empty`.
    """
    __tracebackhide__ = True
    if not isinstance(data, (bytes, Completed)):
        raise TypeError(f"what is asserted is bytes, or a run that run_server gave, not {an(data)}")
    stdout = data if isinstance(data, bytes) else data.stdout
    options.setdefault("sender", "server")
    options["policy"] = "continue"
    faults: list[Refused] = []
    gate = Gate(**options)
    for events in (gate.feed(stdout), gate.close()):
        faults.extend(event for event in events if isinstance(event, Refused))
    if faults:
        raise AssertionError("standard output is not the protocol's alone:\n" + _faults(stdout, faults) + _run(data))
    if not gate.counters.accepted and not allow_empty:
        raise AssertionError("standard output is empty: not one message" + _run(data))


def assert_no_effect(run: Completed, lines: Union[Malformed, Iterable[Malformed]]) -> None:
    """Asserts that a server took none of these lines, one or many, that a run of `run_server` sent it.

    A line counts as taken if the name of the tool that it asks for stands in what the server wrote, on standard output
    or standard error. So a server that gives back, or logs, a line that it refused fails too. A run whose standard
    output has no message fails, for a server that didn't start takes no line either.
    """
    __tracebackhide__ = True
    if not isinstance(run, Completed):
        raise TypeError(f"what is asserted is a run that run_server gave, not {an(run)}")
    sent = [lines] if isinstance(lines, Malformed) else list(lines)
    for line in sent:
        if not isinstance(line, Malformed):
            raise TypeError(f"a line is one of malformed_lines(), not {an(line)}")
    if not sent:
        raise ValueError("there is no line to assert of")
    if not _messages(run.stdout, sender="server", policy="continue", profile="rfc8259"):
        raise AssertionError("nothing can be said of the lines: standard output has no message" + _run(run))
    taken = [
        f"\n  {line.name} ({line.code} {Code(line.code).rule}): its tool is named in {where}"
        for line in sent
        if (where := _where(run, line.action.encode()))
    ]
    if taken:
        text = f"the server took {len(taken)} of {len(sent)} malformed lines: it wrote the names of their tools"
        raise AssertionError(text + "".join(taken) + _run(run))


def _where(run: Completed, action: bytes) -> str:
    """Where the server wrote it."""
    wrote = [(name, text.find(action), text) for name, text in (("stdout", run.stdout), ("stderr", run.stderr))]
    return " and ".join(f"line {text.count(10, 0, at) + 1} of {name}" for name, at, text in wrote if at >= 0)


def _faults(stdout: bytes, faults: list[Refused]) -> str:
    lines, said = stdout.split(b"\n"), []
    for fault in faults[:5]:
        line = lines[fault.sequence - 1]
        more = f" and {len(line) - SHOWN} bytes more" if len(line) > SHOWN else ""
        said.append(f"  line {fault.sequence}: {line[:SHOWN]!r}{more}")
        said.append(f"    {int(fault.code)} {fault.code.rule} at byte {fault.offset}: {fault.code.text}")
    if len(faults) > 5:
        said.append(f"  and {len(faults) - 5} lines more")
    return "\n".join(said)


def _run(data: Union[bytes, Completed]) -> str:
    if isinstance(data, bytes):
        return ""
    return f"\ncommand: {shlex.join(data.command)}\nstatus: {data.status}" + _stderr(data.stderr)


def _stderr(text: bytes) -> str:
    return "\nstderr:\n" + text[-STDERR_SHOWN:].decode("utf-8", "backslashreplace") if text else "\nstderr: nothing"
