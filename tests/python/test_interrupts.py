"""Guards that are interrupted, at any time: everything is as it was, and the guard can be had again."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run
from .pieces import CHECK, GUARDS, PING, SERVE

# Interrupts `timed`, which does `once` under an alarm, in TRIES processes, each at a time of its own. `whole` says how
# everything is. What is raised is Interrupted; a little later where it would be inside of what is SPARED.
TRY = """
import faulthandler, random, signal, time, traceback

def interrupt(_, frame):
    if AS_A_SIGNAL:
        return signal.raise_signal(signal.SIGINT)
    # The next alarm may come while this one is set.
    here, ours = (interrupt.__code__, alarm.__code__), ("<string>", *linegate.__path__)
    while frame and (frame.f_code in here or not frame.f_code.co_filename.startswith(ours)):
        if any(part in frame.f_code.co_filename for part in SPARED):
            return alarm(1e-5)
        frame = frame.f_back
    raise Interrupted

def alarm(seconds):
    signal.setitimer(signal.ITIMER_REAL, seconds)

once()
first, took = whole(), 1.0
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
            try:
                timed(max(1e-6, random.Random(number).uniform(0, took * 1.2)))
                status = 0
            except Interrupted:
                status = 1
            alarm(0)
            if whole() != first:
                os.write(2, b'try %d: %r\\n' % (number, whole()))
                status = 2
            try:
                once()
            except linegate.UsageError:
                os.write(2, b'try %d: it is claimed still\\n' % number)
                status = 3
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 1), (number, status)
    interrupted += status
assert interrupted > TRIES // 10, interrupted
"""


@pytest.mark.parametrize("guard", GUARDS)
def test_an_interrupt_at_any_time_leaves_everything_as_it_was(run: Run, guard: str) -> None:
    code = f"""
TRIES, AS_A_SIGNAL, SPARED = 300, False, ()

class Interrupted(BaseException):
    pass

def once():
    with linegate.{guard}:
        pass

def timed(seconds):
    alarm(seconds)
    once()
    alarm(0)

{CHECK}
whole = same
"""
    ended = run(SERVE + code + TRY)
    assert "try" not in ended.stderr, ended.stderr


# Steps of the loop after which a task is cancelled: more than it has from its start to its end.
STEPS = 40
# A server on asyncio, started again and again, and how everything is: that no thread is left counts, too.
AIO = f"""
import asyncio, gc, time
import linegate.aio

async def serve():
    async with linegate.aio.gated_stdio(on_refused=lambda refused: None) as (reader, wire):
        async for message in reader:
            await asyncio.sleep(0)
            wire.answer(message, {{}})

def whole():
    # A pool of threads that an interrupt took from its loop ends them by itself, when it is collected. (Not by
    # `threading`: a start that is interrupted leaves a thread in its books that there is not.)
    gc.collect()
    late = time.monotonic() + 10
    while len(sys._current_frames()) > 1 and time.monotonic() < late:
        time.sleep(0.01)
    return same(), os.get_blocking(0), len(sys._current_frames())

def again(main):
    if IS_FILE:
        os.lseek(0, 0, 0)
    return asyncio.run(main)

{CHECK}
"""


def stdin_of(way: str, folder: Path) -> tuple[str, bytes]:
    """The same lines by a pipe, which a loop waits for, and as a file, which threads read: a program's beginning, and
    its standard input."""
    data = PING * 3 + b"{}\n"
    if way == "pipe":
        return "IS_FILE = False\n", data
    (folder / "input").write_bytes(data)
    return "IS_FILE = True\nos.dup2(os.open('input', os.O_RDONLY), 0)\n", b""


@pytest.mark.parametrize("way", ["pipe", "file"])
def test_a_server_of_asyncio_is_cancelled_at_every_await(run: Run, tmp_path: Path, way: str) -> None:
    code = f"""
async def cancelled(steps):
    task = asyncio.ensure_future(serve())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return True
    return False

first, ends = whole(), []
for steps in range({STEPS}):
    ends.append(again(cancelled(steps)))
    assert whole() == first, (steps, whole(), first)
# How far it is when, only a pipe knows: the threads that read a file go by a clock of their own.
assert ends[0] and ends.count(True) > 4 and (IS_FILE or not ends[-1]), ends
again(serve())
assert whole() == first
"""
    begin, stdin = stdin_of(way, tmp_path)
    ended = run(SERVE + begin + AIO + code, stdin)
    assert "never retrieved" not in ended.stderr and "Exception ignored" not in ended.stderr, ended.stderr


@pytest.mark.parametrize("way", ["pipe", "file"])
@pytest.mark.parametrize("how", ["raised where it stands", "as asyncio takes it"])
def test_a_server_of_asyncio_is_interrupted_at_any_time(run: Run, tmp_path: Path, way: str, how: str) -> None:
    code = f"""
TRIES, AS_A_SIGNAL, Interrupted = 150, {how == "as asyncio takes it"}, KeyboardInterrupt
# What reads a file for a loop: a lock, pool or loop that an exception leaves half done is broken by itself.
SPARED = ("/threading.py", "/concurrent/", "/asyncio/", "/selectors.py") if IS_FILE else ()

async def main(seconds):
    # Only here: a loop that is interrupted while it is made, or closed, is broken by itself.
    alarm(seconds)
    await serve()
    alarm(0)

def once():
    again(serve())

def timed(seconds):
    again(main(seconds))
"""
    begin, stdin = stdin_of(way, tmp_path)
    ended = run(SERVE + begin + AIO + code + TRY, stdin)
    assert "try" not in ended.stderr, ended.stderr
