# mypy: ignore-errors
"""The server of the interop tests, gated from inside in one of the documented ways.

usage: gated_server.py RECORD WAY

WAY is ``install`` (two lines around ``run``), ``streams`` (the gated streams handed to the SDK), ``wrap`` (a gated
reader in the place of ``sys.stdin``, and nothing else), ``fileno`` (the same with the descriptor of what it wraps: the
trap), or ``bare`` (no gate).
"""

import io
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "interop" / "programs"))

import anyio
import linegate


class WithDescriptor(io.BufferedReader):
    """What a naive wrapper does."""

    def fileno(self):
        return 0


async def serve_streams(app):
    from mcp.server.stdio import stdio_server

    low = getattr(app, "_mcp_server", None) or app._lowlevel_server
    with linegate.gated_stdio() as stdio:
        stdin = anyio.wrap_file(io.TextIOWrapper(stdio.stdin, encoding="utf-8", newline="\n"))
        stdout = anyio.wrap_file(io.TextIOWrapper(stdio.wire, encoding="utf-8", write_through=True))
        async with stdio_server(stdin=stdin, stdout=stdout) as (read, write):
            await low.run(read, write, low.create_initialization_options())


def naive(gated):
    return io.TextIOWrapper(WithDescriptor(gated.raw), encoding="utf-8")


def honest(gated):
    return io.TextIOWrapper(gated, encoding="utf-8", newline="\n")


def noisy() -> str:
    """Writes to standard output in every way that it knows."""
    print("noise of print")
    os.write(1, b"noise of os.write\n")
    subprocess.run(["echo", "noise of a child"], check=True)
    return "quiet"


def run(app, way, **more):
    if way == "install":
        with linegate.install(policy="continue"):
            app.run(**more)
        return
    if way in ("wrap", "fileno"):
        gated = linegate.wrap(sys.stdin.buffer, policy="continue")
        sys.stdin = naive(gated) if way == "fileno" else honest(gated)
    app.run(**more)


def main(record, way):
    import server

    app = server.build(record)
    app.tool()(noisy)
    if way == "streams":
        anyio.run(serve_streams, app)
    else:
        run(app, way)


if __name__ == "__main__":
    main(*sys.argv[1:])
