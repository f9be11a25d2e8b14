"""The pump, for what insists on descriptor 0: what it lets through, and that it ends whatever others do to its pipe."""

from __future__ import annotations

import pytest

from .conftest import Run
from .pieces import PING, SERVE
from .test_ending import of_a_silent_client


def test_the_pump_feeds_what_insists_on_the_descriptor(run: Run) -> None:
    code = """
with linegate.pump(policy='continue') as gate:
    data = b''
    while chunk := os.read(0, 1000):
        data += chunk
    child = subprocess.run(['cat'], stdout=subprocess.PIPE).stdout
assert gate.counters.accepted == 2 and gate.counters.refused == 1
os.write(1, data + child)
"""
    assert run(SERVE + code, PING + b"{}\n" + PING).stdout == PING * 2


def test_the_pump_ends_while_its_client_is_silent() -> None:
    assert of_a_silent_client("import linegate\nwith linegate.pump():\n    pass\n") == ""


# Who holds the pipe of descriptor 0, and reads nothing of it; PIPE is full by then.
HOLDERS = {
    "a child that was given it": "child = subprocess.Popen(['sleep', '60']).pid",
    "a process that was forked off": "child = os.fork()\n    if not child:\n        time.sleep(60); os._exit(0)",
}


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("client", ["silent", "writes"])
def test_the_pump_ends_while_another_process_holds_its_pipe(run: Run, holder: str, client: str) -> None:
    code = f"""
import signal, threading, time
with linegate.pump(policy='continue') as gate:
    {HOLDERS[holder]}
    time.sleep(0.5)
    began = time.monotonic()
os.kill(child, signal.SIGKILL)
assert time.monotonic() - began < 20 and threading.active_count() == 1
sys.stderr.write('ended')
"""
    stderr = of_a_silent_client(SERVE + code) if client == "silent" else run(SERVE + code, PING * 50_000).stderr
    # Newer Pythons warn of the fork.
    assert stderr.endswith("ended"), stderr
