"""What ``linegate check`` says of minimal servers on the official SDKs, bare and behind ``linegate run``.

usage: compare.py --write     install the SDKs, check the servers, write docs/comparison.md: some minutes
       compare.py --form      exit 1 unless the page has the rows that a run would write today; checks no server

Each server is the smallest that its SDK's README has, with one tool that writes a file: none of the packages brings
an example for stdio that needs nothing else. LINEGATE_BIN names the command, which is built otherwise.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "comparison.md"
# Everything that is installed or built for this; ignored by git.
STORE = ROOT / "target" / "comparison"

CALL = ["--call", "write", '{"path":"{{canary}}","text":"{{marker}}"}']
CHECK_SECONDS = 900
CLASSES = ("stdout", "effects", "lifecycle")

HEAD = """\
# The official SDKs

Written by `make comparison`; don't edit. Minimal servers on the official SDKs, each with one tool that writes a
file, checked by

```sh
linegate check --call write '{"path":"{{canary}}","text":"{{marker}}"}' -- SERVER
linegate check --call write '{"path":"{{canary}}","text":"{{marker}}"}' -- linegate run --answer-wait 5 -- SERVER
```

Numbers are violations of each [class](check.md): bytes on stdout that are no message, malformed lines that were acted
on, and a life that doesn't begin, go or end as it should. A line that two readers read in two ways is malformed here
though some SDK takes it on purpose: a filter in front of it can't vouch for what it will run.

One scenario is not the same each time: `end/one-request`, a request with the end of input right behind it, is answered
by the bare Go SDK about every second time. Behind `linegate run` it is answered each time, for `--answer-wait` holds
the end of input back until it is.
"""
LINES = """
## Malformed lines, bare

The tool **ran**; the line was **answered** as if it were another; it was refused, or had no effect that could be
seen; or the server closed the session. A dash: the revision has no such rule.

"""


class CannotRun(Exception):
    """A server could not be made; the message says why."""


@dataclass(frozen=True)
class Subject:
    """A server on one SDK."""

    # The name of its column and its row, and the package.
    name: str
    package: str
    version: str
    command: list[str]


# In the order of the page; what --form looks for.
NAMES = ("Python 1.x", "Python 2.x", "TypeScript", "Go", "Rust")


def run(command: list[str], where: Path, **more: str) -> str:
    """Runs a command that has to succeed, and gives what it prints."""
    try:
        done = subprocess.run(
            command, cwd=where, env={**os.environ, **more}, capture_output=True, text=True, timeout=CHECK_SECONDS
        )
    except OSError as error:
        raise CannotRun(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        raise CannotRun(f"{' '.join(command)}:\n{done.stderr[-2000:]}")
    return done.stdout


def linegate() -> str:
    """The command under test."""
    given = os.environ.get("LINEGATE_BIN")
    if given:
        return str(Path(given).resolve())
    run(["cargo", "build", "--quiet", "--package", "linegate-cli"], ROOT)
    facts = json.loads(run(["cargo", "metadata", "--format-version=1", "--no-deps"], ROOT))
    return str(Path(facts["target_directory"]) / "debug" / "linegate")


def python(major: int) -> Subject:
    """The server on the Python SDK of that major version, in the environment of tests/interop."""
    sys.path.insert(0, str(ROOT / "tests"))
    environments = importlib.import_module("interop.environments")
    try:
        sdk = environments.ensure(major)
    except environments.CannotInstall as error:
        raise CannotRun(str(error)) from error
    return Subject(f"Python {major}.x", "mcp", sdk.version, [str(sdk.python), str(HERE / "python_server.py")])


def typescript() -> Subject:
    """The server on the TypeScript SDK."""
    folder = STORE / "typescript"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "server.js"):
        shutil.copy(HERE / "typescript" / name, folder / name)
    run(["npm", "install", "--silent", "--no-package-lock", "--no-audit", "--no-fund"], folder)
    package = "@modelcontextprotocol/sdk"
    version = json.loads((folder / "node_modules" / package / "package.json").read_text(encoding="utf-8"))["version"]
    return Subject("TypeScript", package, version, ["node", str(folder / "server.js")])


def go() -> Subject:
    """The server on the Go SDK."""
    package, folder = "github.com/modelcontextprotocol/go-sdk", ROOT / "tests" / "go"
    program = STORE / "go-server"
    run(["go", "build", "-o", str(program), "./plain"], folder, GOFLAGS="-mod=readonly", GOTOOLCHAIN="local")
    found = re.search(rf"{re.escape(package)} v(\S+)", (folder / "go.mod").read_text(encoding="utf-8"))
    return Subject("Go", package, found.group(1) if found else "?", [str(program)])


def rust() -> Subject:
    """The server on the Rust SDK."""
    folder = ROOT / "tests" / "rmcp"
    built = run(["cargo", "build", "--quiet", "--locked", "--bin", "plain", "--message-format=json"], folder)
    programs = [json.loads(line).get("executable") for line in built.splitlines()]
    found = re.search(r'name = "rmcp"\nversion = "([^"]+)"', (folder / "Cargo.lock").read_text(encoding="utf-8"))
    program = next(str(one) for one in reversed(programs) if one)
    return Subject("Rust", "rmcp", found.group(1) if found else "?", [program])


def check(command: list[str]) -> tuple[dict[str, Any], int]:
    """The document of a whole check, and its exit status."""
    words = [linegate(), "check", "--format", "json", "--timeout", "20", *CALL, "--", *command]
    done = subprocess.run(words, capture_output=True, timeout=CHECK_SECONDS)
    if done.returncode not in (0, 1):
        raise CannotRun(done.stderr.decode("utf-8", "replace"))
    document: dict[str, Any] = json.loads(done.stdout)
    return document, done.returncode


def scenario_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    """The scenario of that name."""
    found: dict[str, Any] = next(one for one in document["scenarios"] if one["name"] == name)
    return found


def said(scenario: dict[str, Any]) -> str:
    """What became of a malformed line, in a word or two."""
    if scenario["verdict"] == "skip":
        return "-"
    told = [finding["what"] for finding in scenario["findings"] if finding["class"] == "effects"]
    if any("canary" in what for what in told):
        return "**ran**"
    if told:
        return "**answered**"
    return str(scenario["session"] or "no effect").replace("went on", "refused").replace("silent", "no effect")


def row(*cells: object) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(str, cells))} |\n"


def page() -> str:
    """Checks every server, and gives the page."""
    subjects = [python(1), python(2), typescript(), go(), rust()]
    assert tuple(subject.name for subject in subjects) == NAMES
    text = HEAD + "\n" + row("server", "package", "revision", *CLASSES, "exit status", "behind `linegate run`")
    text += row(*["---"] * 8)
    documents = []
    other = ""
    for subject in subjects:
        print(f"checking {subject.name}", file=sys.stderr)
        bare, status = check(subject.command)
        gated, gated_status = check([linegate(), "run", "--answer-wait", "5", "--", *subject.command])
        documents.append(bare)
        counts = [bare["classes"][name]["violations"] for name in CLASSES]
        behind = [gated["classes"][name]["violations"] for name in CLASSES]
        told = f"{', '.join(map(str, behind))}; exit status {gated_status}"
        package = f"{subject.package} {subject.version}"
        text += row(subject.name, package, bare["revision"], *counts, status, told)
        for scenario in bare["scenarios"]:
            if scenario["verdict"] == "fail" and not scenario["name"].startswith("malformed/"):
                whats = "; ".join(finding["what"] for finding in scenario["findings"])
                other += row(subject.name, f"`{scenario['name']}`", whats.replace("|", "\\|"))
    text += "\nWhat the bare servers fail beside malformed lines:\n\n"
    text += row("server", "scenario", "what was seen") + row("---", "---", "---") + other if other else "Nothing.\n"
    text += LINES
    text += row("line", *NAMES) + row(*["---"] * (1 + len(NAMES)))
    for name in malformed():
        text += row(f"`{name.removeprefix('malformed/')}`", *(said(scenario_of(one, name)) for one in documents))
    return text


def malformed() -> list[str]:
    """The names of the malformed lines that the command knows today."""
    return run([linegate(), "check", "--list", "--only", "malformed"], ROOT).split()


def missing() -> Optional[str]:
    """What the page lacks that a run would write today."""
    if not PAGE.is_file():
        return "there is no page"
    text = PAGE.read_text(encoding="utf-8")
    if not text.startswith(HEAD):
        return "its head is another"
    if row("line", *NAMES) not in text:
        return "the columns are others"
    rows = re.findall(r"^\| `([^`/]+)` \|", text.split("## Malformed lines", 1)[-1], re.MULTILINE)
    if [f"malformed/{name}" for name in rows] != malformed():
        return "the malformed lines are others"
    servers = re.findall(r"^\| ([^|`]+?) \| [^|]+ \| \d{4}-", text, re.MULTILINE)
    return None if tuple(servers) == NAMES else "the servers are others"


def main(arguments: list[str]) -> int:
    """Does what the usage says."""
    if arguments == ["--form"]:
        lacks = missing()
        if lacks:
            print(f"docs/comparison.md is stale, {lacks}: run make comparison", file=sys.stderr)
        return 1 if lacks else 0
    if arguments != ["--write"]:
        print(__doc__, file=sys.stderr)
        return 2
    STORE.mkdir(parents=True, exist_ok=True)
    try:
        PAGE.write_text(page(), encoding="utf-8")
    except CannotRun as error:
        print(f"comparison: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
