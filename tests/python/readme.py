"""The code of ffi-python/README.md, so that tests run what people read."""

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
