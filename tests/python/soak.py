"""Many messages through the package, longer than a test may take: memory stays flat, no line is torn, nothing hangs.

usage: soak.py MESSAGES
"""

from __future__ import annotations

import gc
import io
import resource
import sys
import sysconfig
import threading
import time
from pathlib import Path
from typing import Any

import linegate

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from python.test_streams import eight_threads

CALL = (
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/call",'
    b'"params":{"name":"add","arguments":{"a":%d,"b":[1,2,{"c":"%s"}]}}}\n'
)
# Growth that is still flat: what allocators hold.
KILOBYTES = 4096


def peak() -> int:
    """The most memory that the process ever held, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def line(number: int) -> bytes:
    """A call, and now and then a line that is refused."""
    if number % 10 == 9:
        return b"{not json}\n"
    return CALL % (number, number, b"x" * (number % 301))


def events(count: int) -> None:
    """Each message as an event, its params read, its call refused or executed."""

    def act(arguments: dict[str, Any]) -> None:
        pass

    add = linegate.Executor(act, dict, "add", None)
    actions = linegate.Actions([add], lambda call, arguments: bool(arguments["a"] % 2))
    gate = linegate.Gate(policy="continue")
    done = executed = refused = 0
    for start in range(0, count, 100):
        for event in gate.feed(b"".join(map(line, range(start, start + 100)))):
            outcome = actions.handle(event)
            executed += isinstance(outcome, linegate.Executed)
            refused += isinstance(outcome, linegate.Refused)
            done += 1
    assert (done, executed + refused) == (count, count), (done, executed, refused)
    # Of ten in a row one is no message, and of the others four ask for an odd number, which is allowed.
    assert actions.journal.executed == executed == count * 4 // 10, executed


def reader(count: int) -> None:
    """Through `wrap`."""

    class Lines(io.RawIOBase):
        number = 0

        def read(self, size: int = -1, /) -> bytes:
            start = self.number
            self.number = min(start + 500, count)
            return b"".join(map(line, range(start, self.number)))

    source = linegate.wrap(Lines(), policy="continue", on_refused=lambda refused: None)
    assert sum(1 for _ in source) == count * 9 // 10


def main(count: int) -> None:
    built = "without a global lock" if sysconfig.get_config_var("Py_GIL_DISABLED") else "with the global lock"
    print(f"Python {sys.version.split()[0]} {built}")
    for name, way in (("events and actions", events), ("wrap", reader)):
        way(count // 20)
        gc.collect()
        before, began = peak(), time.monotonic()
        way(count)
        grown, seconds = peak() - before, time.monotonic() - began
        print(f"{name}: {count} messages in {seconds:.1f} s, {grown} KiB more at the peak")
        assert grown < KILOBYTES, grown
    began = time.monotonic()
    eight_threads(count // 80)
    print(f"eight threads, one reader: {count // 10} lines in {time.monotonic() - began:.1f} s")
    assert threading.active_count() == 1


if __name__ == "__main__":
    main(int(sys.argv[1]))
