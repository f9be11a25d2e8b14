"""What type checkers are told is what is there."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from importlib import resources
from operator import attrgetter
from pathlib import Path
from typing import Any, Optional

import linegate
import pytest
from linegate import _linegate

PACKAGE = Path(__file__).resolve().parents[2] / "ffi-python"
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
    # As CONTRIBUTING.md has it: what judges is in the core, what remembers in `linegate_host`. Docstrings are no glue.
    files = (PACKAGE / "src").glob("*.rs")
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    assert 0 < sum(not line.lstrip().startswith("///") for line in lines) < 400


def stub() -> Iterator[tuple[str, Optional[str]]]:
    """The public names of the extension's stub, those of classes with their class, and what is said of each."""
    for node in ast.parse((PACKAGE / "python" / "linegate" / "_linegate.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, ast.get_docstring(node)
        elif isinstance(node, ast.ClassDef):
            yield node.name, ast.get_docstring(node)
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
                    yield f"{node.name}.{part.name}", ast.get_docstring(part)


def public(owner: Any) -> Iterator[str]:
    return (name for name in vars(owner) if not name.startswith("_"))


@pytest.mark.parametrize(("name", "said"), [*stub()])
def test_help_says_what_the_stub_says(name: str, said: Optional[str]) -> None:
    there = attrgetter(name)(_linegate).__doc__
    assert there and said and there.split() == said.split()


def test_the_stub_has_every_public_name() -> None:
    there = {name: getattr(_linegate, name) for name in public(_linegate)}
    parts = {f"{name}.{part}" for name, it in there.items() if isinstance(it, type) for part in public(it)}
    assert {*there} | parts == {name for name, _ in stub()} and len(parts) > 25


@pytest.mark.parametrize("name", vars(linegate)["__all__"])
def test_every_class_and_method_has_a_docstring(name: str) -> None:
    found = getattr(linegate, name)
    assert inspect.getdoc(found)
    for owner in found.__mro__ if isinstance(found, type) else ():
        if owner.__module__.startswith("linegate"):
            bare = [part for part in public(owner) if not inspect.getdoc(getattr(owner, part))]
            assert bare == [], owner
