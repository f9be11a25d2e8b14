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
from answers import Ear
from mcp import Client, MCPError, StdioServerParameters
from steps import HANDSHAKE, NOTE, PLAIN, STEP_SECONDS, call, failed, take

STATELESS = "2026-07-28"


async def news(subscription, count):
    return sorted([type(await subscription.__anext__()).__name__ for _ in range(count)])


async def listen(client, ear):
    """Two subscriptions, one within the other: both are told, the server ends the one, the client the other."""
    wanted = {
        "tools_list_changed": True,
        "prompts_list_changed": True,
        "resources_list_changed": True,
        "resource_subscriptions": [NOTE],
    }
    report = {}
    async with client.listen(**wanted) as outer:
        async with client.listen(tools_list_changed=True) as inner:
            await call(client, "change")
            report["inner"] = await news(inner, 1)
            report["outer"] = await news(outer, 4)
        await call(client, "change")
        report["again"] = await news(outer, 4)
        await call(client, "hang_up")
        report["left"] = [type(event).__name__ async for event in outer]
    return report


async def consult_elsewhere(client, ear):
    """The two other requests that a server may answer with a question."""
    prompt = await client.get_prompt("consult_for_prompt")
    resource = await client.read_resource("interop://consult/me")
    return [prompt.messages[0].content.text, resource.contents[0].text]


async def cancel(client, ear):
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


async def unknown_tool(client, ear):
    try:
        return failed(await client.call_tool("no_such_tool", {}))
    except MCPError as error:
        return error.error.code


async def unknown_resource(client, ear):
    try:
        await client.read_resource("nowhere://at/all")
    except MCPError as error:
        return error.error.code
    return None


async def run(mode, command, report):
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    ear = Ear()
    with anyio.fail_after(STEP_SECONDS * 4):
        async with Client(server, mode=mode, log_level="info", **ear.callbacks()) as client:
            report["server"] = client.server_info.name if client.server_info else None
            report["revision"] = client.protocol_version
            era = HANDSHAKE if client.protocol_version < STATELESS else [*PLAIN, listen, consult_elsewhere]
            await take([*era, cancel, unknown_tool, unknown_resource], client, ear, report)


if __name__ == "__main__":
    report = {}
    try:
        anyio.run(run, sys.argv[1], sys.argv[sys.argv.index("--") + 1 :], report)
    finally:
        print(json.dumps(report))
