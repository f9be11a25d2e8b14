"""What type checkers are told is what is there."""

from __future__ import annotations

import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

# The subscript of a class that its stub calls generic.
ALLOWED = r"linegate\._linegate\.(Authorized|Typed)\.__class_getitem__"


def test_the_stub_of_the_extension(tmp_path: Path) -> None:
    pytest.importorskip("mypy.stubtest")
    allowed = tmp_path / "allowed"
    allowed.write_text(ALLOWED + "\n")
    words = [sys.executable, "-m", "mypy.stubtest", "--allowlist", str(allowed), "linegate._linegate"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_says_that_it_is_typed() -> None:
    files = {entry.name for entry in resources.files("linegate").iterdir()}
    assert {"py.typed", "_linegate.pyi", "_names.pyi"} <= files


def test_the_extension_is_glue() -> None:
    # As CONTRIBUTING.md has it: what judges is in the core, what remembers in `linegate_host`.
    files = (Path(__file__).resolve().parents[2] / "ffi-python" / "src").glob("*.rs")
    assert 0 < sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files) < 400
