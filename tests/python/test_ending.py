"""A session that ends with a line of the server's own: its reader is at its end with it, wherever it waits."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading

import linegate
import pytest
from linegate._stream import GatedRaw
from linegate._tell import tell_refused
from linegate._waiting import Stop, Stoppable

from .conftest import Run
from .pieces import OK, PING, SERVE

WHY = "linegate: the server's own line ended the session: what the client still sends is left unread.\n"
PINGS = b"".join(PING.replace(b":1,", b":%d," % id) for id in (1, 2, 3))
# How a line that ends the session is written.
BAD = {
    "to the buffer": "sys.stdout.buffer.write(b'Done.\\n')",
    "to the wire": "wire.write(b'Done.\\n')",
    "as a line": """
        try:
            wire.write_line('Done.')
        except linegate.RefusedError as error:
            assert error.refused.closes""",
}


@pytest.mark.parametrize("how", BAD)
@pytest.mark.parametrize("guard", ["install()", "gated_stdio(policy='continue')"])
def test_what_the_server_reads_next_is_the_end(run: Run, guard: str, how: str) -> None:
    code = f"""
seen = 0
with linegate.{guard} as (stdin, wire):
    for line in stdin:
        seen += 1
        wire.write_line({OK!r})
        {BAD[how]}
sys.stderr.write('seen %d' % seen)
"""
    ended = run(SERVE + code, PINGS)
    assert ended.stdout == OK and ended.stderr.endswith(WHY + "seen 1"), ended.stderr
    # Before that, what was wrong with it.
    assert how == "as a line" or "refused line 2 of the server: 202 unexpected_byte" in ended.stderr


def test_what_an_sdk_reads_as_text_is_at_its_end_too(run: Run) -> None:
    code = """
seen = 0
with linegate.install():
    for line in sys.stdin:
        seen += 1
        sys.stdout.buffer.write(b'Done.\\n')
sys.stderr.write('seen %d' % seen)
"""
    ended = run(SERVE + code, PINGS)
    assert ended.stdout == b"" and ended.stderr.endswith(WHY + "seen 1"), ended.stderr


@pytest.mark.parametrize("way", ["pipe", "file"])
def test_a_server_of_asyncio_reads_the_end_as_well(run: Run, way: str) -> None:
    code = f"""
import asyncio
import linegate.aio

if {way == "file"}:
    with open('input', 'wb') as file:
        file.write({PINGS!r})
    os.dup2(os.open('input', os.O_RDONLY), 0)

async def serve():
    seen = 0
    async with linegate.aio.gated_stdio() as (reader, wire):
        async for message in reader:
            seen += 1
            wire.answer(message, {{}})
            wire.write(b'Done.\\n')
        assert await reader.readline() == b''
    sys.stderr.write('seen %d' % seen)

asyncio.run(serve())
"""
    ended = run(SERVE + code, PINGS)
    assert ended.stdout == OK and ended.stderr.endswith(WHY + "seen 1"), ended.stderr


# A reader that waits, in a thread and in a loop, until BAD is done.
WAITING = {
    "install()": """
with linegate.install() as (stdin, wire):
    read = []
    thread = threading.Thread(target=lambda: read.append(sys.stdin.readline()))
    thread.start()
    time.sleep(0.2)
    assert thread.is_alive()
    BAD
    thread.join(20)
    assert read == [''], read
""",
    "aio.gated_stdio()": """
async def main():
    async with linegate.aio.gated_stdio() as (reader, wire):
        waiting = asyncio.ensure_future(reader.readline())
        await asyncio.sleep(0.2)
        assert not waiting.done()
        BAD
        assert await asyncio.wait_for(waiting, 20) == b''
asyncio.run(main())
""",
}


@pytest.mark.parametrize("guard", WAITING)
@pytest.mark.parametrize("way", ["bad()", "writer = threading.Thread(target=bad); writer.start(); writer.join()"])
def test_a_reader_that_waits_for_a_silent_client_is_woken(guard: str, way: str) -> None:
    code = "import asyncio, threading, time\nimport linegate.aio\n" + SERVE
    code += WAITING[guard].replace("BAD", "bad = lambda: wire.write(b'Done.\\n'); " + way)
    assert WHY in of_a_silent_client(code)


def of_a_silent_client(code: str) -> str:
    """What a program writes to stderr, whose standard input says nothing and doesn't end."""
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin and process.stderr
    stderr, status = process.stderr.read().decode(), process.wait(60)
    process.stdin.close()
    process.stderr.close()
    assert status == 0, stderr
    return stderr


def test_a_thread_that_waits_when_the_guard_ends_takes_nothing_of_what_comes_then(run: Run) -> None:
    code = """
with linegate.gated_stdio() as (stdin, wire):
    thread = threading.Thread(target=stdin.read)
    thread.start()
    time.sleep(0.2)
thread.join(20)
assert not thread.is_alive()
"""
    assert of_a_silent_client("import threading, time\n" + SERVE + code) == ""


def pair() -> tuple[GatedRaw, io.FileIO]:
    """A reader that can be ended, and what feeds it."""
    inside, outside = os.pipe()
    raw = GatedRaw(Stoppable(io.FileIO(inside)), linegate.Gate(), tell_refused)
    return raw, io.FileIO(outside, "wb")


def test_a_line_of_which_a_part_was_given_is_given_whole() -> None:
    raw, client = pair()
    with raw, client:
        client.write(PING * 3)
        assert raw.read(5) == PING[:5]
        raw.end()
        assert (raw.read(1000), raw.read(1000)) == (PING[5:], b"")
        # All three were judged, for they came at once.
        assert raw.gate.counters.accepted == 3


def test_what_comes_after_the_end_is_not_even_judged() -> None:
    raw, client = pair()
    with raw, client:
        raw.end()
        client.write(PING)
        assert raw.read(1000) == b"" and raw.gate.counters.accepted == 0
        raw.end()


def test_who_was_forked_off_stops_only_itself() -> None:
    stop = Stop()
    child = os.fork()
    if not child:
        stop.set()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    inside, outside = os.pipe()
    with io.FileIO(inside) as reader, io.FileIO(outside, "wb") as writer:
        threading.Timer(0.1, writer.write, [b"x"]).start()
        assert stop.readable(reader) and reader.read(1) == b"x"
        # And it doesn't keep others from being stopped.
        threading.Timer(0.1, stop.set).start()
        assert not stop.readable(reader) and not stop.writable(writer)
    stop.close()
    stop.set()
