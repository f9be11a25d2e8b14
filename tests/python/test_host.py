"""Servers as child processes, in threads and in asyncio alike: gates in both directions, the end step by step, and a
start anew."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Callable, Union

import linegate
import pytest
from linegate import aio, host

from .conftest import HELLO, INITIALIZED

Event = Union[linegate.Message, linegate.Refused]
# A server that answers every request, and has words for what tests ask of it.
SERVER = """
import json, os, signal, subprocess, sys, time
def say(**more): print(json.dumps({"jsonrpc": "2.0", **more}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, id = message["method"], message.get("id")
    if method == "initialize":
        about = {"name": "s", "version": "1"}
        can = {"resources": {"subscribe": True}}
        say(id=id, result={"protocolVersion": "2025-11-25", "capabilities": can, "serverInfo": about})
    elif method == "tools/list":
        say(id=id, result={"tools": "none"})     # no result that the protocol has
    elif method == "ping" and message.get("params", {}).get("_meta", {}).get("do") == "print":
        print("oops", flush=True)
        say(id=id, result={})
    elif method == "ping" and message.get("params", {}).get("_meta", {}).get("do") == "die":
        os._exit(9)
    elif method == "ping" and message.get("params", {}).get("_meta", {}).get("do") == "hang":
        pass
    elif id is not None:
        say(id=id, result={})
"""


def ping(id: Union[int, str], do: str = "answer") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "ping", "params": {"_meta": {"do": do}}}


def request(id: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


PINGED = ping(1)


class Threaded:
    """A server of `linegate.host`, with the same face as one of `linegate.aio`."""

    def __init__(self, server: host.Server) -> None:
        self.server = server
        self._events = iter(server)

    async def send(self, message: Any) -> None:
        self.server.send(message)

    async def next(self) -> Event:
        return next(self._events)

    async def rest(self) -> list[Event]:
        return list(self._events)

    async def close(self) -> int:
        return self.server.close()

    async def restart(self) -> host.Lost:
        lost = self.server.restart()
        self._events = iter(self.server)
        return lost


class Looped:
    """One of `linegate.aio`."""

    def __init__(self, server: aio.Server) -> None:
        self.server = server
        self._events = server.__aiter__()

    async def send(self, message: Any) -> None:
        await self.server.send(message)

    async def next(self) -> Event:
        return await self._events.__anext__()

    async def rest(self) -> list[Event]:
        return [event async for event in self._events]

    async def close(self) -> int:
        return await self.server.close()

    async def restart(self) -> host.Lost:
        lost = await self.server.restart()
        self._events = self.server.__aiter__()
        return lost


Session = Callable[[Any], Coroutine[Any, Any, None]]


@pytest.fixture(params=["threads", "asyncio"])
def session(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Runs a session with a server, in both ways."""

    def run(play: Session, code: str = SERVER, **options: Any) -> None:
        words = [sys.executable, "-c", code]

        async def threads() -> None:
            with host.Server(words, **options) as server:
                await play(Threaded(server))

        async def loop() -> None:
            async with await aio.Server.start(words, **options) as server:
                await play(Looped(server))

        asyncio.run(threads() if request.param == "threads" else loop())

    return run


def test_messages_go_both_ways(session: Callable[..., None]) -> None:
    async def play(server: Any) -> None:
        await server.send(HELLO)
        hello = await server.next()
        assert isinstance(hello, linegate.Message) and hello.result["protocolVersion"] == "2025-11-25"
        await server.send(json.dumps(INITIALIZED))
        await server.send(json.dumps(ping("a")).encode() + b"\n")
        answer = await server.next()
        assert isinstance(answer, linegate.Message) and (answer.id, answer.kind) == ("a", "result")
        assert server.server.status is None
        assert await server.close() == 0 and server.server.status == 0

    session(play)


def test_what_may_not_be_sent_is_not(session: Callable[..., None]) -> None:
    async def play(server: Any) -> None:
        await server.send(HELLO)
        await server.next()
        await server.send(INITIALIZED)
        await server.send(ping(1))
        for bad in (b"{not json}", {"jsonrpc": "2.0", "id": 2, "method": "no/such"}, ping(1, "hang")):
            if bad == ping(1, "hang"):
                await server.next()
                await server.send(ping(1, "hang"))
            with pytest.raises(linegate.RefusedError):
                await server.send(bad)
        with pytest.raises(ValueError):
            await server.send(b"{}\n{}")

    session(play, policy="continue")


# A server that gives back what reaches it, as the data of a message.
ECHO = """
import json, sys
for line in sys.stdin:
    params = {"level": "info", "data": line}
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": params}), flush=True)
"""


@pytest.mark.parametrize("policy", ["close_malformed", "close_all", "continue"])
@pytest.mark.parametrize("bad", [{"x": 1}, b"{not json}", "", "\ufeff", {**PINGED, "id": "\ud800"}, '"\ud800"'])
def test_after_a_refusal_nothing_passes_that_would_not_before(
    session: Callable[..., None], policy: str, bad: Any
) -> None:
    async def play(server: Any) -> None:
        await server.send(HELLO)
        assert json.loads((await server.next()).params["data"]) == HELLO
        for _ in range(3):
            with pytest.raises((linegate.RefusedError, linegate.ClosedError)):
                await server.send(bad)
            with pytest.raises((linegate.RefusedError, linegate.ClosedError)):
                await server.send("rm -rf")
        try:
            await server.send(ping(7))
        except linegate.ClosedError:
            assert policy != "continue"
        else:
            assert json.loads((await server.next()).params["data"]) == ping(7)
        # A start anew is a session anew.
        await server.restart()
        await server.send(HELLO)
        assert json.loads((await server.next()).params["data"]) == HELLO
        server.server._process.stdin.close()
        assert await server.rest() == []

    session(play, ECHO, policy=policy)


def test_an_empty_line_is_no_message_even_where_the_switch_lets_it_pass(session: Callable[..., None]) -> None:
    async def play(server: Any) -> None:
        for empty in ("", b"\n"):
            with pytest.raises(ValueError, match="empty"):
                await server.send(empty)
        await server.send(HELLO)
        assert json.loads((await server.next()).params["data"]) == HELLO

    session(play, ECHO, allow=["blank_lines"])


@pytest.mark.parametrize("thing", [5, None, [HELLO], ("a",), 1.5])
def test_what_is_no_message_at_all_is_a_fault_of_the_caller(session: Callable[..., None], thing: Any) -> None:
    async def play(server: Any) -> None:
        with pytest.raises(TypeError, match="a mapping, or a line"):
            await server.send(thing)
        await server.send(bytearray(json.dumps(HELLO).encode()))
        await server.next()

    session(play)


@pytest.mark.parametrize(
    ("command", "fault", "text"),
    [
        ("python server.py", TypeError, "a list of words"),
        (b"server", TypeError, "a list of words"),
        (Path("server"), TypeError, "a list of words"),
        ([], ValueError, "is empty"),
    ],
)
def test_a_command_is_a_list_of_words(command: Any, fault: type[Exception], text: str) -> None:
    with pytest.raises(fault, match=text):
        host.Server(command)
    with pytest.raises(fault, match=text):
        asyncio.run(aio.Server.start(command))


def test_a_server_of_asyncio_is_started() -> None:
    with pytest.raises(TypeError, match=r"await linegate\.aio\.Server\.start"):
        aio.Server([sys.executable])


def test_what_a_server_prints_is_an_event_and_a_bad_result_is_settled(session: Callable[..., None]) -> None:
    async def play(server: Any) -> None:
        await server.send(HELLO)
        await server.next()
        await server.send(INITIALIZED)
        await server.send(request(1, "tools/list"))
        refused = await server.next()
        assert isinstance(refused, linegate.Refused) and refused.code == linegate.Code.RESULT_SHAPE
        assert refused.settlement is not None and json.loads(refused.settlement)["id"] == 1
        await server.send(ping(2, "print"))
        printed = await server.next()
        assert isinstance(printed, linegate.Refused) and printed.code == 202 and printed.reply is None
        # Bytes that are no protocol end the session by default: nothing more is taken from such a server.
        assert await server.rest() == []

    session(play)


def test_an_exit_is_followed_by_a_start_anew(session: Callable[..., None]) -> None:
    async def play(server: Any) -> None:
        await server.send(HELLO)
        await server.next()
        await server.send(INITIALIZED)
        for number, (method, uri) in enumerate(
            [("subscribe", "a:x"), ("subscribe", "a:y"), ("unsubscribe", "a:x"), ("subscribe", "a:z")], 1
        ):
            await server.send(request(number, f"resources/{method}", uri=uri))
            await server.next()
        await server.send(ping("lost", "hang"))
        await server.send(ping("cancelled", "hang"))
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "cancelled"}}
        await server.send(cancel)
        await server.send(ping("last", "die"))
        assert await server.rest() == []
        first = server.server.pid
        lost = await server.restart()
        assert lost.status == 9 and lost.requests == ["lost", "last"]
        assert [json.loads(line)["params"]["uri"] for line in lost.subscriptions] == ["a:y", "a:z"]
        # A new session: its ids are free, and it begins at its beginning.
        assert server.server.pid != first
        await server.send({**HELLO, "id": "lost"})
        assert (await server.next()).id == "lost"

    session(play)


def test_subscriptions_of_the_newest_revision_are_requests(session: Callable[..., None]) -> None:
    async def play(server: Any) -> None:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        await server.send(request(1, "subscriptions/listen", _meta=meta, notifications={"toolsListChanged": True}))
        await server.send(request(2, "tools/list", _meta=meta))
        lost = await server.restart()
        assert lost.requests == [2] and [json.loads(line)["id"] for line in lost.subscriptions] == [1]

    session(play, "import sys; sys.stdin.read()", revision="2026-07-28")


STUBBORN = "import signal, sys, time; signal.signal(signal.SIGTERM, {}); print('', flush=True); time.sleep(60)"


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("import sys; sys.stdin.read()", 0),
        (STUBBORN.format("signal.SIG_DFL"), -signal.SIGTERM),
        (STUBBORN.format("signal.SIG_IGN"), -signal.SIGKILL),
    ],
)
def test_the_end_goes_step_by_step(session: Callable[..., None], code: str, status: int) -> None:
    async def play(server: Any) -> None:
        if "print" in code:
            await server.next()
        began = time.monotonic()
        assert await server.close() == status and await server.close() == status
        assert time.monotonic() - began < 20

    session(play, code, grace=0.5, policy="continue")


def test_what_a_server_started_ends_with_it(session: Callable[..., None], tmp_path: Path) -> None:
    file = tmp_path / "pid"
    code = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])
open({str(file)!r}, 'w').write(str(child.pid)); print('', flush=True); sys.stdin.read()
"""

    async def play(server: Any) -> None:
        await server.next()
        await server.close()
        pid = int(file.read_text())
        for _ in range(100):
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return
            if "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2]:
                return
            time.sleep(0.05)
        pytest.fail("the child is still there")

    session(play, code, policy="continue")


def test_a_server_that_is_gone_is_told(session: Callable[..., None]) -> None:
    async def play(server: Any) -> None:
        assert await server.rest() == []
        with pytest.raises(linegate.ClosedError):
            for number in range(100):
                await server.send(ping(number))
                await asyncio.sleep(0.01)

    session(play, "pass")


def test_the_environment_is_minimal(monkeypatch: pytest.MonkeyPatch, session: Callable[..., None]) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("SHELL", "() { :; }")
    environment = host.minimal_environment({"MINE": "1"})
    assert "SECRET_TOKEN" not in environment and "SHELL" not in environment
    assert environment["PATH"] == os.environ["PATH"] and environment["MINE"] == "1"

    async def play(server: Any) -> None:
        (told,) = await server.rest()
        assert isinstance(told, linegate.Message) and told.params["data"] == [None, "1"]

    say = (
        "import json, os; print(json.dumps({'jsonrpc': '2.0', 'method': 'notifications/message', 'params':"
        " {'level': 'info', 'data': [os.environ.get('SECRET_TOKEN'), os.environ.get('MINE')]}}), flush=True)"
    )
    session(play, say, env={"MINE": "1"})


def test_wrap_reads_a_process_that_somebody_else_started() -> None:
    code = 'print(\'{"jsonrpc":"2.0","id":1,"result":{}}\'); print("oops")'
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    told: list[linegate.Refused] = []
    with linegate.wrap(process.stdout, sender="server", on_refused=told.append) as reader:
        assert reader.readlines() == [b'{"jsonrpc":"2.0","id":1,"result":{}}\n'] and [one.code for one in told] == [202]
    process.wait()


# The asyncio reader, and the process's own streams.

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'


def test_the_reader_of_asyncio() -> None:
    async def read() -> None:
        stream, told, sent = asyncio.StreamReader(), [], []  # type: ignore[var-annotated]
        reader = aio.Reader(stream, on_refused=told.append, reply=sent.append, policy="continue")
        stream.feed_data(PING + b"{}\n" + PING[:5])
        assert (await reader.__anext__()).method == "ping"
        # A cancelled read loses nothing.
        waiting = asyncio.ensure_future(reader.readline())
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        stream.feed_data(PING[5:] + b"{")
        assert await reader.readline() == PING
        stream.feed_eof()
        assert [message async for message in reader] == [] and await reader.readline() == b""
        assert [one.code for one in told] == [303, 104] and len(sent) == 1 and reader.gate.counters.accepted == 2

    asyncio.run(read())


SERVE = """
import asyncio, json, sys
import linegate, linegate.aio

async def main():
    async with linegate.aio.gated_stdio(policy="continue") as (reader, wire):
        async for message in reader:
            print("working")
            wire.answer(message, {})

asyncio.run(main())
"""


@pytest.mark.parametrize("way", ["pipe", "file", "null"])
def test_a_server_on_asyncio(tmp_path: Path, way: str) -> None:
    data = tmp_path / "input"
    data.write_bytes(b"" if way == "null" else PING + b"{}\n")
    with open(os.devnull if way == "null" else data, "rb") as file:
        given: Any = {"input": data.read_bytes()} if way == "pipe" else {"stdin": file}
        done = subprocess.run([sys.executable, "-c", SERVE], capture_output=True, timeout=60, **given)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in io.BytesIO(done.stdout)]
    if way == "null":
        assert lines == []
    else:
        assert sorted("error" in line for line in lines) == [False, True] and b"working" in done.stderr
