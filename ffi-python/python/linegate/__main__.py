"""The command `linegate`, the same program as the Rust binary: `python -m linegate`, or the console script."""

from __future__ import annotations

import signal
import sys

from linegate import _linegate


def main() -> int:
    """Does what the arguments say, and gives the exit status."""
    # As a Rust program has them: what Python does at these signals is for code in Python.
    for name in ("SIGINT", "SIGXFSZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    return _linegate.main([sys.executable, "-m", "linegate"], sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
