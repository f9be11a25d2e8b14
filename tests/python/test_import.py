"""What an import of the package loads, and how long it takes: it stands in the way of every server's start, of the
command's and of pytest's."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import linegate
import pytest

from .conftest import Run

RUNS = 5
# Milliseconds. A quiet machine takes a twentieth of the one and a third of the other; the fastest run of some is
# hardly slower on a busy one.
IMPORT, USE = 5, 20
USED = "import linegate\nwith linegate.install(): pass"


def loaded(run: Run, code: str) -> set[str]:
    """The modules that a program loads beyond those of an empty one."""
    code = f"import sys\nbefore = set(sys.modules)\n{code}\nprint(*set(sys.modules) - before)"
    return set(run(code).stdout.decode().split())


def test_an_import_loads_nothing_else(run: Run) -> None:
    assert loaded(run, "import linegate") == {"linegate"}


def test_a_gated_server_loads_what_it_uses(run: Run) -> None:
    modules = loaded(run, USED)
    assert {"linegate._stdio", "linegate._linegate"} <= modules
    unused = {"json", "asyncio", "subprocess", "inspect", "dataclasses", "difflib", "socket", "importlib.metadata"}
    unused |= {"linegate." + name for name in ("_action", "_client", "_enums", "_fit", "aio", "host", "testing")}
    assert not modules & unused


def test_the_command_loads_nothing_but_the_extension(run: Run) -> None:
    ours = {name for name in loaded(run, "import linegate.__main__") if name.startswith("linegate")}
    assert ours == {"linegate", "linegate.__main__", "linegate._linegate"}


@pytest.mark.parametrize("code, most", [("import linegate", IMPORT), (USED, USE)])
def test_an_import_is_fast(tmp_path: Path, code: str, most: float) -> None:
    def own(lines: list[str]) -> float:
        """Milliseconds in modules of the package, without what they import."""
        rows = [line.removeprefix("import time:").split("|") for line in lines if line.startswith("import time:")]
        return sum(int(row[0]) for row in rows if row[2].strip().split(".")[0] == "linegate") / 1000

    # With compiled files, as an installed package has them, wherever this one lies.
    words = [sys.executable, "-X", "importtime", "-X", f"pycache_prefix={tmp_path}", "-c", code]
    times = []
    for _ in range(RUNS + 1):
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, env={}, timeout=60)
        assert done.returncode == 0, done.stderr
        times.append(own(done.stderr.splitlines()))
    assert 0 < min(times[1:]) < most, times


def test_the_names_that_type_checkers_see_are_those_that_are_there() -> None:
    tree = ast.parse(Path(str(linegate.__file__)).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen: dict[str, str] = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.asname == alias.name
            seen[alias.name] = f"{node.module}.{alias.name}"
    modules = {"aio", "host", "testing"}
    assert set(vars(linegate)["__all__"]) == set(seen) - modules and set(seen) <= set(dir(linegate))
    for name, place in seen.items():
        home = sys.modules[place.rpartition(".")[0]] if getattr(linegate, name) else None
        assert getattr(home, name) is getattr(linegate, name), name
    with pytest.raises(AttributeError, match="no attribute 'Gat'"):
        linegate.Gat  # type: ignore[attr-defined]  # noqa: B018
