"""Guards that are interrupted, at any time: everything is as it was, and the guard can be had again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import Run
from .pieces import CHECK, GUARDS, PING, SERVE


@pytest.mark.parametrize("guard", GUARDS)
def test_an_interrupt_at_any_time_leaves_everything_as_it_was(run: Run, guard: str) -> None:
    code = f"""
import ctypes, faulthandler, random, signal, time

class Interrupted(BaseException):
    pass

def interrupt(*_):
    raise Interrupted

def once():
    with linegate.{guard}:
        pass

{CHECK}
once()
took = 1.0
for _ in range(20):
    began = time.perf_counter()
    once()
    took = min(took, time.perf_counter() - began)
signal.signal(signal.SIGALRM, interrupt)
interrupted = 0
for number in range(TRIES):
    child = os.fork()
    if not child:
        status = 7
        try:
            faulthandler.dump_traceback_later(30, exit=True)
            chance = random.Random(number)
            try:
                signal.setitimer(signal.ITIMER_REAL, max(1e-6, chance.uniform(0, took * 1.2)))
                once()
                signal.setitimer(signal.ITIMER_REAL, 0)
                status = 0
            except Interrupted:
                status = 1
            if same() != before:
                os.write(2, b'try %d: %r\\n' % (number, same()))
                status = 2
            try:
                once()
            except linegate.UsageError:
                os.write(2, b'try %d: it is claimed still\\n' % number)
                status = 3
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 1), (number, status)
    interrupted += status
assert interrupted > TRIES // 10, interrupted
"""
    ended = run("TRIES = 300\n" + SERVE.strip() + code)
    assert "try" not in ended.stderr


# Steps of the loop after which a task is cancelled: more than it has from its start to its end.
STEPS = 40
# An asyncio server; `alone` says whether it is the only thread.
AIO = """
import asyncio, gc, io, threading
import linegate.aio

def whole():
    gc.collect()
    return same(), os.get_blocking(0), threading.active_count()

async def once():
    async with linegate.aio.gated_stdio(on_refused=lambda refused: None) as (reader, wire):
        async for message in reader:
            await asyncio.sleep(0)
            wire.answer(message, {})
"""


def stdin_of(way: str, folder: Path) -> dict[str, Any]:
    """The same lines by a pipe, which a loop waits for, and as a file, which threads read."""
    data = PING * 3 + b"{}\n"
    if way == "pipe":
        return {"stdin": data}
    (folder / "input").write_bytes(data)
    return {"before": "os.dup2(os.open('input', os.O_RDONLY), 0)\n"}


@pytest.mark.parametrize("way", ["pipe", "file"])
def test_a_server_of_asyncio_is_cancelled_at_every_await(run: Run, tmp_path: Path, way: str) -> None:
    code = f"""
async def cancelled(steps):
    task = asyncio.ensure_future(once())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return True
    return False

{CHECK}
first, ends = whole(), []
for steps in range({STEPS}):
    os.lseek(0, 0, 0) if stat.S_ISREG(os.fstat(0).st_mode) else None
    ends.append(asyncio.run(cancelled(steps)))
    assert whole() == first, (steps, whole(), first)
# How far it is when, only a pipe knows: the threads that read a file go by a clock of their own.
assert ends[0] and ends.count(True) > 4 and {way == "file"} | (not ends[-1]), ends
asyncio.run(once())
assert whole() == first
"""
    given = stdin_of(way, tmp_path)
    ended = run(SERVE + "import stat\n" + given.pop("before", "") + AIO + code, **given)
    assert "never retrieved" not in ended.stderr and "Exception ignored" not in ended.stderr, ended.stderr


@pytest.mark.parametrize("way", ["pipe", "file"])
@pytest.mark.parametrize("how", ["raised where it stands", "as asyncio takes it"])
def test_a_server_of_asyncio_is_interrupted_at_any_time(run: Run, tmp_path: Path, way: str, how: str) -> None:
    code = f"""
import faulthandler, random, signal, time

def interrupt(*_):
    if {how.startswith("raised")}:
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)

async def timed(seconds):
    # A loop that is interrupted while it is made, or closed, is broken by itself.
    signal.setitimer(signal.ITIMER_REAL, seconds)
    await once()
    signal.setitimer(signal.ITIMER_REAL, 0)

{CHECK}
first, took = whole(), 1.0
for _ in range(10):
    began = time.perf_counter()
    asyncio.run(once())
    took = min(took, time.perf_counter() - began)
signal.signal(signal.SIGALRM, interrupt)
interrupted = 0
for number in range(TRIES):
    child = os.fork()
    if not child:
        status = 7
        try:
            faulthandler.dump_traceback_later(30, exit=True)
            os.lseek(0, 0, 0) if {way == "file"} else None
            try:
                asyncio.run(timed(max(1e-6, random.Random(number).uniform(0, took * 1.2))))
                status = 0
            except KeyboardInterrupt:
                status = 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            if whole() != first:
                os.write(2, b'try %d: %r\\n' % (number, whole()))
                status = 2
            try:
                asyncio.run(once())
            except linegate.UsageError:
                os.write(2, b'try %d: it is claimed still\\n' % number)
                status = 3
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 1), (number, status)
    interrupted += status
assert interrupted > TRIES // 10, interrupted
"""
    given = stdin_of(way, tmp_path)
    ended = run(
        "TRIES = 150\n" + SERVE.strip() + "\n" + given.pop("before", "") + AIO + code.replace("\\\\n", "\\n"), **given
    )
    assert "try" not in ended.stderr, ended.stderr
