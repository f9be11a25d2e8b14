"""The code and the tables of ffi-python/README.md, so that tests run and check what people read."""

from __future__ import annotations

from pathlib import Path

TEXT = (Path(__file__).resolve().parents[2] / "ffi-python" / "README.md").read_text(encoding="utf-8")


def blocks() -> list[str]:
    """Every block of Python."""
    return [part.split("\n```")[0] + "\n" for part in TEXT.split("```python\n")[1:]]


def block(marker: str) -> str:
    """The one block of Python that has these words in it."""
    (found,) = [block for block in blocks() if marker in block]
    return found


def table(head: str) -> list[list[str]]:
    """The rows of the one table whose first column has this head, each as its cells."""
    (rows,) = [part for part in TEXT.split("\n\n") if part.startswith(f"| {head} |")]
    return [row.split("|")[1:-1] for row in rows.splitlines()[2:]]
