"""``linegate check`` on servers with one fault each, in four languages, and on clean ones.

Each fault is looked for by its own scenario, as often as LINEGATE_TIMES says (once): ``make faults`` says 20.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import TIMES
from .environments import HERE
from .faults import CLEAN, FAULTS, SHARED, TALK, Fault

SERVERS = HERE / "servers"
CHECK_SECONDS = 90
SUFFIX = {"python": "py", "node": "js", "c": "c", "sh": "sh"}

# The command that starts a server.
Started = Callable[[str, str], "list[str]"]
# The document of a check, and its exit status.
Check = Callable[..., "tuple[dict[str, Any], int]"]


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Started:
    """How the server of that name is started; those in C are compiled here."""
    folder = tmp_path_factory.mktemp("servers")

    def tool(name: str) -> str:
        found = shutil.which(name)
        if found is None:
            pytest.skip(f"there is no {name}")
        return found

    def command(language: str, name: str) -> list[str]:
        path = SERVERS / language / f"{name}.{SUFFIX[language]}"
        if language == "python":
            # Not sys.executable: in a container that may be a script that starts another.
            return [str(getattr(sys, "_base_executable", sys.executable)), "-B", str(path)]
        if language == "node":
            return [tool("node"), str(path)]
        if language == "sh":
            return [tool("sh"), str(path)]
        program = folder / name
        if not program.exists():
            options = ["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
            subprocess.run([tool("cc"), *options, "-o", str(program), str(path)], check=True)
        return [str(program)]

    return command


@pytest.fixture
def check(linegate: str, tmp_path: Path) -> Check:
    """Checks a command with these options, and the one harmless call."""

    def run(options: list[str], command: list[str]) -> tuple[dict[str, Any], int]:
        environment = {**os.environ, "FAULT_LOCK": str(tmp_path / "lock")}
        # Set in many containers: what a buffer hides is not hidden with it.
        environment.pop("PYTHONUNBUFFERED", None)
        if (tmp_path / "lock").exists():
            (tmp_path / "lock").rmdir()
        words = [linegate, "check", "--format", "json", *TALK, *options, "--", *command]
        done = subprocess.run(words, capture_output=True, timeout=CHECK_SECONDS, env=environment, cwd=SERVERS)
        assert done.stdout, done.stderr.decode("utf-8", "replace")
        document: dict[str, Any] = json.loads(done.stdout)
        return document, done.returncode

    return run


def failures(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The failed scenarios by name."""
    return {found["name"]: found for found in document["scenarios"] if found["verdict"] == "fail"}


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_each_fault_is_found_by_its_own_scenario(fault: Fault, started: Started, check: Check) -> None:
    """With the rule and the first bad bytes; and by no other class than its own."""
    command = started(fault.language, fault.name)
    only = [word for name in fault.only for word in ("--only", name)]
    for _ in range(TIMES):
        document, status = check([*only, *fault.options], command)
        failed = failures(document)
        assert status == 1, document
        assert fault.scenario in failed, document
        found = failed[fault.scenario]
        kinds = {finding["class"] for finding in found["findings"]}
        assert kinds == {fault.kind}, found
        if fault.rule is None:
            assert found["fault"] is None
        else:
            assert found["fault"]["rule"] == fault.rule, found["fault"]
            assert fault.shows in bytes.fromhex(found["fault"]["hex"]), found["fault"]


@pytest.mark.parametrize(("language", "name"), CLEAN, ids=["-".join(pair) for pair in CLEAN])
def test_every_clean_server_passes(language: str, name: str, started: Started, check: Check) -> None:
    """Bare in the classes stdout and lifecycle; behind ``linegate run`` in all of them (below)."""
    bare = ["--skip", "malformed", "--timeout", "20", "--break-env", "FAULT_LIMIT"]
    document, status = check(bare, started(language, name))
    assert (status, failures(document)) == (0, {})


@pytest.mark.parametrize("language", SUFFIX)
def test_behind_the_gate_a_clean_server_is_free_of_effects(
    language: str, linegate: str, started: Started, check: Check
) -> None:
    """A reader of JSON alone is not: it takes what others refuse."""
    bare = started(language, "clean_plain")
    lines = ["--only", "malformed", "--timeout", "20"]
    document, status = check(lines, [linegate, "run", "--", *bare])
    assert (status, failures(document)) == (0, {})
    document, status = check(["--only", "malformed/duplicate-method", "--only", "malformed/id-fraction"], bare)
    assert (status, document["classes"]["effects"]["status"]) == (1, "violated")


def test_the_table_has_every_server_and_enough_of_them() -> None:
    """What lies in servers/ is a fault, or clean, or shared."""
    named = {f"{fault.language}/{fault.name}.{SUFFIX[fault.language]}" for fault in FAULTS}
    clean = {f"{language}/{name}.{SUFFIX[language]}" for language, name in CLEAN}
    there = {str(path.relative_to(SERVERS)) for path in SERVERS.glob("*/*") if path.is_file()}
    assert named | clean | SHARED == there
    assert len(named) >= 25
    assert len(clean) >= 8
    assert {fault.language for fault in FAULTS} == set(SUFFIX)
