"""What docs/ci.md tells people to run does what it says: the command of the job, and the hooks' entries."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from .environments import HERE, ROOT

PAGE = ROOT / "docs" / "ci.md"
SERVERS = HERE / "servers" / "python"
PLACEHOLDER = "node dist/server.js"
SECONDS = 90


def documented() -> str:
    """The step of the job that checks the server."""
    steps = re.findall(r"^ +run: (linegate check .*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(steps) == 1
    assert PLACEHOLDER in steps[0]
    return str(steps[0])


@pytest.mark.parametrize(("server", "status"), [("clean_plain", 0), ("banner", 1)])
def test_the_job_does_what_it_says(server: str, status: int, linegate: str, tmp_path: Path) -> None:
    """Annotations on stdout, the files that the later steps take, and the exit status that fails the job."""
    interpreter = str(getattr(sys, "_base_executable", sys.executable))
    command = shlex.join([interpreter, "-B", str(SERVERS / f"{server}.py")])
    (tmp_path / "linegate").symlink_to(linegate)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    script = documented().replace(PLACEHOLDER, command)
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert ("::error" in done.stdout) == bool(status), done.stdout
    report = tmp_path / "linegate-report"
    assert (report / "report.junit.xml").is_file()
    results = json.loads((report / "report.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    errors = [result for result in results if result.get("level") == "error"]
    assert bool(errors) or status == 0, results


def test_the_hooks_of_the_page_are_those_of_the_repository() -> None:
    """Their names, and the words that they start with."""
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    identifiers = re.findall(r"^- id: (\S+)$", hooks, re.MULTILINE)
    text = PAGE.read_text(encoding="utf-8")
    assert identifiers == ["linegate-check", "linegate-check-installed"]
    assert all(f"`{identifier}`" in text for identifier in identifiers)
    used = re.findall(r"^ +- id: (\S+)$", text, re.MULTILINE)
    assert set(used) <= set(identifiers)
    for entry in re.findall(r"^  entry: (.+)$", hooks, re.MULTILINE):
        program, subcommand = entry.split()
        assert subcommand == "check"
        assert program == "linegate" or os.access(ROOT / program, os.X_OK)
