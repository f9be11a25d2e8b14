"""One virtual environment for each major version of the Python MCP SDK, and one for FastMCP.

They are made once, with ``python -m venv`` and pip, under ``.venv-interop`` at
the root of the repository, and used again as long as they work and the requirement
file stays the same: only the first run needs a package index.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STORE = ROOT / ".venv-interop"
MAJORS = (1, 2)

# What the SDK asks for; the tests themselves run on 3.9.
OLDEST_FOR_SDK = (3, 10)
INSTALL_SECONDS = 300
ASK_SECONDS = 30


class CannotInstall(Exception):
    """The environment could not be made; the message says why."""


@dataclass(frozen=True)
class Sdk:
    """An installed SDK."""

    name: str
    version: str
    python: Path

    def program(self, name: str) -> list[str]:
        """The command that runs one of ``programs/`` with this SDK."""
        return [str(self.python), str(HERE / "programs" / name)]


def ensure(major: int) -> Sdk:
    """The environment for this major version of the SDK, made if it isn't there."""
    sdk = ensure_package(f"mcp{major}", "mcp")
    if sdk.version.split(".")[0] != str(major):
        raise CannotInstall(f"requirements-mcp{major}.txt gave mcp {sdk.version}")
    return sdk


def ensure_package(name: str, package: str) -> Sdk:
    """The environment of that name, which is for this package, made if it isn't there."""
    STORE.mkdir(exist_ok=True)
    (STORE / ".gitignore").write_text("*\n", encoding="ascii")
    with (STORE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _ensure_locked(name, package)


def _ensure_locked(name: str, package: str) -> Sdk:
    home = STORE / name
    python = home / "bin" / "python"
    requirements = HERE / f"requirements-{name}.txt"
    stamp = home / "made-from.txt"
    wanted = requirements.read_text(encoding="utf-8")
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        version = _installed_version(python, package)
        if version is not None:
            return Sdk(name, version, python)
    base = _interpreter()
    shutil.rmtree(home, ignore_errors=True)
    _run([base, "-m", "venv", str(home)], f"{base} -m venv")
    _run(
        [str(python), "-m", "pip", "install", "--quiet", "-r", str(requirements)], f"pip install -r {requirements.name}"
    )
    version = _installed_version(python, package)
    if version is None:
        raise CannotInstall(f"{requirements.name} gave no {package}")
    stamp.write_text(wanted, encoding="utf-8")
    return Sdk(name, version, python)


def _interpreter() -> str:
    """An interpreter new enough for the SDK: this one, or one found by name."""
    if sys.version_info >= OLDEST_FOR_SDK:
        # Not sys.executable: inside a virtual environment that is a link which
        # goes away together with the environment.
        return str(getattr(sys, "_base_executable", sys.executable))
    for minor in range(14, OLDEST_FOR_SDK[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        # A version manager may leave a name on the path that doesn't run.
        if found and _answers([found, "-c", "import venv"]) is not None:
            return found
    raise CannotInstall("no Python 3.10 or newer on the path, which the SDK needs")


def _installed_version(python: Path, package: str) -> Optional[str]:
    question = f"import importlib.metadata as m; print(m.version({package!r}))"
    return _answers([str(python), "-c", question])


def _answers(command: list[str]) -> Optional[str]:
    """What a short command prints, or None if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=ASK_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _run(command: list[str], name: str) -> None:
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    try:
        subprocess.run(command, env=environment, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=True)
    except subprocess.CalledProcessError as error:
        lines = [line for line in error.stderr.splitlines() if line.strip()]
        reason = lines[-1] if lines else f"exit status {error.returncode}"
        raise CannotInstall(f"{name}: {reason}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotInstall(f"{name}: {error}") from error
