"""The suite's own watch over processes: what is left behind is found and ended."""

from __future__ import annotations

import sys

import pytest

from .processes import Running, end_survivors

# A child with none of our pipes that outlives its parent; where the suite can see
# processes by their environment, in a session of its own.
LEAVES_ONE_BEHIND = """
import subprocess, sys
null = subprocess.DEVNULL
sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
alone = sys.platform == "linux"
subprocess.Popen(sleeper, start_new_session=alone, stdin=null, stdout=null, stderr=null)
"""


def test_a_process_left_behind_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named, and killed."""
    monkeypatch.setattr("interop.processes.REAP_SECONDS", 0.2)
    running = Running([sys.executable, "-c", LEAVES_ONE_BEHIND])
    with pytest.raises(AssertionError, match="still running"), running:
        assert running.finish().status == 0
    assert end_survivors(running.mark, running.pid, 5) == []
