"""The process's own streams: what is printed from anywhere, who reads what, and that everything is put back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import linegate
import pytest

from .conftest import Run
from .pieces import CHECK, GUARDS, NEWS, OK, PING, SERVE


def test_install_gates_both_ways(run: Run) -> None:
    ended = run(SERVE + "with linegate.install(policy='continue'):\n    serve()\n", PING + b"{}\n")
    lines = ended.stdout.splitlines(keepends=True)
    # The refused line is answered by the one writer; the server never saw it.
    assert OK in lines and len(lines) == 2
    (reply,) = [json.loads(line) for line in lines if line != OK]
    assert reply["error"]["code"] == -32600
    assert "refused line 2 of the client: 303" in ended.stderr


def test_a_refusal_that_closes_ends_the_input(run: Run) -> None:
    ended = run(SERVE + "with linegate.install():\n    serve()\nprint('after')\n", PING + b"[]\n" + PING)
    assert ended.stdout.count(OK) == 1 and ended.stdout.endswith(b"after\n")


PRINTS = {
    "print": "print('stray')",
    "sys.stdout": "sys.stdout.write('stray\\n')",
    "the buffer": "sys.stdout.buffer.write(b'stray\\n')",
    "the object kept": "KEPT.write('stray\\n')",
    "sys.__stdout__": "sys.__stdout__.write('stray\\n')",
    "os.write": "os.write(1, b'stray\\n')",
    "a C library": "import ctypes; ctypes.CDLL(None).puts(b'stray')",
    "a child": "subprocess.run(['echo', 'stray'])",
    "a shell": "os.system('echo stray')",
    "a child that is given sys.stdout": "subprocess.run(['echo', 'stray'], stdout=sys.stdout)",
    "a forked process": (
        "pid = os.fork()\nif not pid:\n    print('stray'); sys.stdout.buffer.write(OK); os._exit(0)\nos.waitpid(pid, 0)"
    ),
    "a traceback": "import traceback; traceback.print_exc(file=sys.stdout); print('stray')",
}


@pytest.mark.parametrize("how", PRINTS)
def test_what_is_printed_under_the_guard_is_kept_off_the_wire(run: Run, how: str) -> None:
    body = "\n".join("    " + line for line in PRINTS[how].split("\n"))
    code = f"KEPT = sys.stdout\nOK = {OK!r}\nwith linegate.guard_stdout() as wire:\n    wire.write_line(OK)\n{body}\n"
    code += "    wire.write_line(OK)\n"
    ended = run(SERVE + code)
    assert ended.stdout == OK * 2 and "stray" in ended.stderr


def test_a_print_is_told_with_its_place(run: Run) -> None:
    ended = run(SERVE + "with linegate.guard_stdout():\n    print('one')\n    print('two')\n")
    said = ended.stderr.splitlines()
    assert [line for line in said if not line.startswith("linegate:")] == ["one", "two"]
    assert said[0] == "linegate: kept off the wire, printed at <string>:10:" and said[2].endswith(":11:")


def test_bytes_that_are_no_message_are_told_with_their_rule(run: Run) -> None:
    ended = run(SERVE + "with linegate.guard_stdout():\n    sys.stdout.buffer.write(b'loading...\\n')\n")
    assert (
        ended.stdout == b""
        and "202 unexpected_byte" in ended.stderr
        and "kept off the wire: loading..." in ended.stderr
    )


@pytest.mark.parametrize("what", GUARDS)
@pytest.mark.parametrize("end", ["pass", "raise KeyError", "sys.exit(3)"])
def test_everything_is_put_back(run: Run, what: str, end: str) -> None:
    code = f"""
try:
    with linegate.{what}:
        assert same() != before
        {end}
except (KeyError, SystemExit):
    pass
import gc; gc.collect()
assert same() == before, (same(), before)
if descriptors is not None:
    assert set(os.listdir('/proc/self/fd')) == descriptors
print('on the wire again')
"""
    assert run(SERVE + CHECK + code).stdout == b"on the wire again\n"


@pytest.mark.parametrize("guard", [*GUARDS, "aio.gated_stdio()"])
@pytest.mark.parametrize("when", ["at once", "at the end", "as an error"])
def test_a_guard_that_is_never_entered_is_told_with_its_place(run: Run, guard: str, when: str) -> None:
    if when == "as an error":
        code = f"import warnings; warnings.simplefilter('error')\nlinegate.{guard}\n"
    else:
        code = f"{'guard = ' if when == 'at the end' else ''}linegate.{guard}\nserve()\n"
    ended = run("import linegate.aio\n" + SERVE + code, PING)
    way = "async with" if guard.startswith("aio") else "with"
    said = f"RuntimeWarning: linegate.{guard} was never entered, so nothing is gated: write `{way} linegate.{guard}:`"
    assert said in ended.stderr
    assert when != "at once" or "<string>:10: RuntimeWarning" in ended.stderr


@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_that_was_entered_is_told_nothing_and_not_entered_again(run: Run, guard: str) -> None:
    code = f"""
guard = linegate.{guard}
with guard:
    inside = same()
    for again in range(2):
        try:
            with guard:
                raise AssertionError
        except linegate.UsageError as error:
            assert 'is entered once' in str(error), error
        assert same() == inside
assert same() == before
try:
    with guard:
        raise AssertionError
except linegate.UsageError:
    pass
assert same() == before
"""
    assert run(SERVE + CHECK + code).stderr == ""


@pytest.mark.parametrize("first", GUARDS)
@pytest.mark.parametrize("second", GUARDS)
def test_a_second_guard_is_refused(run: Run, first: str, second: str) -> None:
    meet = GUARDS[first] & GUARDS[second]
    code = f"""
with linegate.{first}:
    inside = same()
    try:
        with linegate.{second}:
            said = 'taken'
    except linegate.UsageError as error:
        said = str(error)
    assert same() == inside
    sys.stderr.write(said)
assert same() == before
"""
    ended = run(SERVE + CHECK + code)
    assert ended.stderr.startswith("standard " if meet else "taken") and ("guarded already" in ended.stderr) == bool(
        meet
    )


def test_child_processes_get_the_null_device_and_stderr(run: Run) -> None:
    code = """
with linegate.install() as stdio:
    done = subprocess.run(['sh', '-c', 'cat; echo from the child'])
    stdio.wire.write_line(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
    look = 'import os; print(sorted(map(int, os.listdir("/proc/self/fd")))[3:])'
    inherited = subprocess.run([sys.executable, '-c', look], stdout=subprocess.PIPE, close_fds=False).stdout
    sys.stderr.write(repr(inherited))
"""
    ended = run(SERVE + code, PING)
    assert ended.stdout == NEWS and "from the child" in ended.stderr and "ping" not in ended.stderr
    if sys.platform == "linux":
        # The folder's own descriptor, and nothing else.
        assert "b'[3]\\n'" in ended.stderr or "b'[]\\n'" in ended.stderr


@pytest.mark.parametrize("leave", ["", "sys.exit(0)", "raise KeyError"])
def test_what_is_written_at_the_exit_is_too_late_for_the_wire(run: Run, leave: str) -> None:
    code = f"""
import atexit, ctypes
class Late:
    def __del__(self): os.write(1, b'stray from a destructor\\n')
kept = Late()
with linegate.install() as stdio:
    atexit.register(lambda: print('stray from a handler'))
    stdio.wire.write_line(b'{NEWS.decode()[:-1]}')
    ctypes.CDLL(None).printf(b'stray from C')
    {leave}
"""
    ended = run(SERVE + code, status=None)
    assert ended.stdout == NEWS
    assert all(f"stray from {what}" in ended.stderr for what in ("a destructor", "a handler", "C"))


def test_what_the_program_prints_after_its_server_is_its_own(run: Run) -> None:
    ended = run("print('before')\n" + SERVE + "with linegate.install():\n    serve()\nprint('after')\n", PING)
    assert ended.stdout == b"before\n" + OK + b"after\n"


def test_a_client_that_is_gone(run: Run) -> None:
    code = SERVE + "with linegate.install():\n    serve()\n"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin and process.stdout and process.stderr
    process.stdout.close()
    process.stdin.write(PING)
    process.stdin.close()
    status, stderr = process.wait(60), process.stderr.read().decode()
    process.stderr.close()
    # As with any Python program: an exception that can be caught, once, and no noise at the exit.
    assert status == 1 and stderr.count("BrokenPipeError") == 1 and "Exception ignored" not in stderr


def test_an_interrupt_ends_a_server_that_waits(run: Run) -> None:
    code = SERVE + "sys.stderr.write('ready'); sys.stderr.flush()\nwith linegate.install():\n    serve()\n"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin and process.stdout and process.stderr
    assert process.stderr.read(5) == b"ready"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) in (-signal.SIGINT, 130) and b"KeyboardInterrupt" in process.stderr.read()
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("when", ["at the start", "later", "taken by a file"])
def test_a_closed_stream_is_a_fault_with_a_name_and_no_claim(run: Run, guard: str, missing: int, when: str) -> None:
    code = f"""
if {when!r} == 'later':
    os.close({missing})
elif {when!r} == 'taken by a file':
    assert os.open('file', os.O_RDWR | os.O_CREAT) == {missing}
    before = os.fstat({missing}).st_ino
for _ in range(2):
    try:
        with linegate.{guard}:
            pass
        sys.stderr.write('taken ')
    except linegate.UsageError as error:
        assert error.code is None
        sys.stderr.write(str(error) + ' ')
if {when!r} == 'taken by a file':
    assert os.fstat({missing}).st_ino == before and os.fstat({missing}).st_size == 0
sys.stderr.flush()
os._exit(0)
"""
    sh = f'exec "$@" {missing}{"<" if missing == 0 else ">"}&-'
    command = [sys.executable, "-c", SERVE + code]
    whole = command if when == "later" else ["sh", "-c", sh, "sh", *command]
    ended = run(f"import subprocess, sys; sys.exit(subprocess.run({whole!r}).returncode)")
    name = "standard output" if missing else "standard input"
    assert ended.stderr == (f"{name} is closed " * 2 if missing in GUARDS[guard] else "taken " * 2)
    assert ended.stdout == b""


@pytest.mark.parametrize("way", ["2>&-", "2>&- 3>&-", "os.close(2)", "taken by a file"])
def test_without_standard_error_a_server_is_gated_all_the_same(run: Run, way: str) -> None:
    code = f"""
if {way!r} == 'os.close(2)':
    os.close(2)
if {way!r} == 'taken by a file':
    assert os.open('file', os.O_RDWR | os.O_CREAT) == 2
with linegate.install(policy='continue'):
    print('stray'); os.write(1, b'stray'); os.system('echo stray')
    serve()
print('after')
if {way!r} == 'taken by a file':
    assert os.fstat(2).st_size == 0
os._exit(sys.stdout.flush() or 0)
"""
    sh = 'exec "$@" ' + (way if way.startswith("2") else "2>&-" if way.startswith("taken") else "")
    whole = ["sh", "-c", sh, "sh", sys.executable, "-c", SERVE + code]
    ended = run(f"import subprocess, sys; sys.exit(subprocess.run({whole!r}).returncode)", PING + b"{}\n")
    lines = ended.stdout.splitlines(keepends=True)
    assert lines.count(OK) == 1 and lines[-1] == b"after\n" and len(lines) == 3 and b"stray" not in ended.stdout


def test_not_a_copy_of_the_wire_is_left_when_a_thread_still_reads(run: Run) -> None:
    code = """
import threading
with linegate.gated_stdio() as stdio:
    thread = threading.Thread(target=stdio.stdin.read, daemon=True)
    thread.start()
"""
    process = subprocess.Popen([sys.executable, "-c", SERVE + code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin and process.stdout
    assert process.wait(60) == 0 and process.stdout.read() == b""
    process.stdin.close()
    process.stdout.close()


def test_this_process_is_not_gated() -> None:
    assert os.fstat(0) and linegate.__doc__ and "install" in linegate.__doc__
