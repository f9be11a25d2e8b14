# mypy: ignore-errors
"""A client written with mcp 2.x: one session, reported as JSON on stdout.

usage: client_mcp2.py MODE -- COMMAND ...

MODE is the SDK's own word for how the session begins: ``legacy`` (initialize),
``auto`` (a probe first) or a revision. The report has one entry for each step; a
step that fails leaves its exception there, and the others still run.
"""

import json
import os
import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters
from steps import STEP_SECONDS, call, concurrent, echo, failed, progress, record, take, tools


async def cancel(client):
    outcome = {}
    scope = anyio.CancelScope()

    async def note(value, total, message):
        # The SDK turns the end of the call into the notification.
        scope.cancel()

    with scope:
        outcome["result"] = await call(client, "slow", progress_callback=note)
    if scope.cancelled_caught:
        outcome["error"] = "cancelled here"
    outcome["afterwards"] = await call(client, "echo", {"text": "alive"})
    return outcome


async def unknown_tool(client):
    try:
        return failed(await client.call_tool("no_such_tool", {}))
    except MCPError as error:
        return error.error.code


async def unknown_resource(client):
    try:
        await client.read_resource("nowhere://at/all")
    except MCPError as error:
        return error.error.code
    return None


async def run(mode, command, report):
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    with anyio.fail_after(STEP_SECONDS * (len(STEPS) + 1)):
        async with Client(server, mode=mode) as client:
            report["server"] = client.server_info.name if client.server_info else None
            report["revision"] = client.protocol_version
            await take(STEPS, client, report)


STEPS = [tools, echo, record, progress, concurrent, cancel, unknown_tool, unknown_resource]

if __name__ == "__main__":
    report = {}
    try:
        anyio.run(run, sys.argv[1], sys.argv[sys.argv.index("--") + 1 :], report)
    finally:
        print(json.dumps(report))
