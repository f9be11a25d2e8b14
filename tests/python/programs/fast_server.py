# mypy: ignore-errors
"""A small server on FastMCP, gated as ``gated_server.py`` has it.

usage: fast_server.py RECORD WAY
"""

import sys

from fastmcp import FastMCP
from gated_server import noisy, run


def main(record_file, way):
    app = FastMCP("fast")

    @app.tool
    def record(text: str, count: int = 0) -> str:
        with open(record_file, "a", encoding="utf-8", errors="backslashreplace") as out:
            out.write(text + "\n")
        return "recorded"

    app.tool(noisy)
    run(app, way, show_banner=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
