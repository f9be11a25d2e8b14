# mypy: ignore-errors
"""A well-behaved server with a handful of tools, written with the SDK at hand.

usage: server.py RECORD

Every effect is a line in the file RECORD, so that a test can count effects
without believing any reply.
"""

import sys

import anyio
import features

try:
    from mcp.server.mcpserver import Context, MCPServer as Server
except ModuleNotFoundError:  # mcp 1.x
    from mcp.server.fastmcp import Context, FastMCP as Server

SLOW_SECONDS = 30


def build(record_file: str) -> Server:
    server = Server("interop")

    def note(text: str) -> None:
        with open(record_file, "a", encoding="utf-8", errors="backslashreplace") as out:
            out.write(text + "\n")

    @server.tool()
    def echo(text: str) -> str:
        return text

    @server.tool()
    async def record(text: str, count: int = 0) -> str:
        """Not in a thread, so that effects stand in the order of the calls."""
        note(text)
        return "recorded"

    waiting: dict[str, list] = {}

    @server.tool()
    async def meet(party: str, size: int, text: str, seconds: float = 0) -> str:
        """Returns when ``size`` calls of one party are in it at once; then each stays a time of its own."""
        here = waiting.setdefault(party, [0, anyio.Event()])
        here[0] += 1
        if here[0] == size:
            here[1].set()
        await here[1].wait()
        await anyio.sleep(seconds)
        return text

    @server.tool()
    async def climb(steps: int, context: Context) -> str:
        for step in range(1, steps + 1):
            await context.report_progress(step, steps, f"step {step}")
        return "top"

    @server.tool()
    async def slow(context: Context) -> str:
        """Tells its request id by progress, so that a client can cancel it."""
        note("slow begins")
        try:
            await context.report_progress(0, SLOW_SECONDS, str(context.request_id))
            await anyio.sleep(SLOW_SECONDS)
        except anyio.get_cancelled_exc_class():
            note("slow cancelled")
            raise
        note("slow ends")
        return "never cancelled"

    features.add(server)
    return server


def main(record_file: str) -> None:
    build(record_file).run("stdio")


if __name__ == "__main__":
    main(sys.argv[1])
