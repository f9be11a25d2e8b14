"""What the tests share: the binary, the SDKs, the fork servers, and two rules.

A test that cannot run because something can't be installed is skipped and says
what; where the environment has ``CI=true``, such a skip is a failure. And no test
runs longer than TEST_SECONDS.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Optional

import pytest

from .environments import HERE, ROOT, CannotInstall, Sdk, ensure
from .processes import Running

# Undoes what a shell does to its background jobs and nohup to its command: a child
# would ignore the signals that it is sent here.
for ignored in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(ignored, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

# Some tests look so many times.
TIMES = int(os.environ.get("LINEGATE_TIMES", "1"))
TEST_SECONDS = 100 * TIMES
BUILD_SECONDS = 1200

Install = Callable[[int], Sdk]
# The command that stands for one of the server programs, run with this SDK and
# with this argument.
Forked = Callable[[int, str, object], "list[str]"]


@pytest.fixture(scope="session")
def linegate() -> str:
    """The command under test: LINEGATE_BIN, or built here once."""
    given = os.environ.get("LINEGATE_BIN")
    if given:
        path = Path(given).resolve()
        if not os.access(path, os.X_OK):
            pytest.fail(f"LINEGATE_BIN is no program: {given}")
        return str(path)
    if shutil.which("cargo") is None:
        pytest.skip("linegate cannot be built: no cargo, and LINEGATE_BIN is not set")
    _cargo("build", "--quiet", "--package", "linegate-cli")
    # Asked, not guessed: CARGO_TARGET_DIR or a configuration file may move it.
    facts = json.loads(_cargo("metadata", "--format-version=1", "--no-deps"))
    return str(Path(facts["target_directory"]) / "debug" / "linegate")


def _cargo(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["cargo", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=BUILD_SECONDS, check=True
        )
    except subprocess.CalledProcessError as error:
        pytest.fail(f"cargo {arguments[0]} failed:\n{error.stderr}", pytrace=False)
    return done.stdout


@pytest.fixture(scope="session")
def install() -> Install:
    """Gives the environment of an SDK, or skips the test that asks."""
    known: dict[int, Sdk] = {}
    failed: dict[int, str] = {}

    def get(major: int) -> Sdk:
        if major not in known and major not in failed:
            try:
                known[major] = ensure(major)
            except CannotInstall as error:
                failed[major] = str(error)
        if major in failed:
            pytest.skip(f"mcp {major}.x cannot be installed: {failed[major]}")
        return known[major]

    return get


@pytest.fixture(scope="session")
def forked(install: Install) -> Iterator[Forked]:
    """Servers that start in milliseconds: forks of one that has imported its SDK."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sockets: dict[int, Path] = {}

        def start(major: int) -> Path:
            path = folder / f"mcp{major}"
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(path))
                listener.listen(16)
                listener.set_inheritable(True)
                command = install(major).program("forkserver.py")
                running = stack.enter_context(Running([*command, str(listener.fileno())], pass_fds=[listener.fileno()]))
            stack.callback(_stop, running)
            return path

        def get(major: int, program: str, argument: object) -> list[str]:
            if major not in sockets:
                sockets[major] = start(major)
            # Isolated and without site: it starts in a few milliseconds.
            connect = [sys.executable, "-I", "-S", str(HERE / "programs" / "connect.py")]
            return [*connect, str(sockets[major]), program, str(argument)]

        yield get


def _stop(forkserver: Running) -> None:
    os.kill(forkserver.pid, signal.SIGTERM)
    outcome = forkserver.finish()
    assert outcome.status == 0, outcome.stderr


def pytest_report_header() -> list[str]:
    """Say which rule holds for skips."""
    rule = "are failures (CI=true)" if _ci() else "say what is missing"
    return [f"linegate interop: skips {rule}"]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Turn skips into failures where nothing may be missing."""
    outcome = yield
    report = outcome.get_result()
    if _ci() and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, with CI=true: {report.longrepr[2]}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A bound for each test, whatever its own waits are bounded by."""

    def ring(signum: int, frame: Optional[FrameType]) -> None:
        raise TimeoutError(f"{item.nodeid} ran longer than {TEST_SECONDS} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(TEST_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _ci() -> bool:
    return os.environ.get("CI", "").lower() == "true"
