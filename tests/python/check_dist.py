"""Installs a built wheel and an sdist, each in an environment of its own, and tries both.

usage: check_dist.py FOLDER
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

TRY = """
import linegate
gate = linegate.Gate()
(event,) = gate.feed(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\\n')
assert isinstance(event, linegate.Message), event
"""
MEMBERS = ("core/src/lib.rs", "host/src/lib.rs", "cli/src/lib.rs", "ffi-python/src/lib.rs", "Cargo.lock")


def run(words: list[str], folder: Path) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def install(what: Path) -> None:
    """Installs it from an empty folder, and uses the module and the command there."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name) / "venv"
        venv.create(home, with_pip=True)
        empty = Path(name) / "empty"
        empty.mkdir()
        python = str(home / "bin" / "python")
        run([python, "-m", "pip", "install", "--quiet", str(what.resolve())], empty)
        run([python, "-c", TRY], empty)
        run([str(home / "bin" / "linegate"), "check", "--only", "handshake", "--only", "malformed/null"], empty)
    print(f"{what.name}: {what.stat().st_size} bytes, installed and tried")


def main(folder: Path) -> None:
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    assert "-cp39-abi3-" in wheel.name and "manylinux2014_x86_64" in wheel.name, wheel.name
    show = subprocess.run([sys.executable, "-m", "auditwheel", "show", str(wheel)], capture_output=True, text=True)
    assert "manylinux_2_17_x86_64" in show.stdout, show.stdout + show.stderr
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    assert all(any(name.endswith(member) for name in names) for member in MEMBERS), names
    install(wheel)
    install(sdist)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
