# mypy: ignore-errors
"""FastMCP's own client: one session, reported as JSON.

usage: fast_client.py COMMAND ...
"""

import asyncio
import json
import os
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

CALLS = 200


async def main(command, *arguments):
    transport = StdioTransport(command, list(arguments), env=dict(os.environ), keep_alive=False)
    async with Client(transport) as client:
        calls = [client.call_tool("record", {"text": str(number)}) for number in range(CALLS)]
        answers = {answer.content[0].text for answer in await asyncio.gather(*calls)}
        quiet = (await client.call_tool("noisy", {})).content[0].text
        tools = sorted(tool.name for tool in await client.list_tools())
        try:
            await client.call_tool("no_such_tool", {})
        except Exception as error:
            unknown = type(error).__name__
    print(json.dumps({"answers": sorted(answers), "quiet": quiet, "tools": tools, "unknown": unknown}))


asyncio.run(main(*sys.argv[1:]))
