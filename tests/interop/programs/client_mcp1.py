# mypy: ignore-errors
"""A client written with mcp 1.x: one session, reported as JSON on stdout.

usage: client_mcp1.py -- COMMAND ...

The report has one entry for each step; a step that fails leaves its exception
there, and the others still run.
"""

import json
import os
import sys

import anyio
from answers import Ear
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from steps import HANDSHAKE, STEP_SECONDS, call, failed, take

ANSWER_TO_CANCEL_SECONDS = 1
POLL_SECONDS = 0.01


async def tasks(session, ear):
    """One that asks before it ends, and one that is cancelled; nothing where the server has none."""
    capabilities = session.get_server_capabilities()
    if capabilities.tasks is None:
        return None
    ways = session.experimental
    made = await ways.call_tool_as_task("echo", {"text": ""}, meta={"progressToken": "task"})
    first = made.task.taskId
    # The question comes with the request for the result.
    result = await ways.get_task_result(first, types.CallToolResult)
    other = (await ways.call_tool_as_task("echo", {"text": ""}, meta={"progressToken": "other"})).task.taskId
    # This SDK's server ends with a traceback when a task is cancelled before it asks.
    while (await ways.get_task(other)).status != "input_required":
        await anyio.sleep(POLL_SECONDS)
    cancelled = await ways.cancel_task(other)
    listed = [task.taskId for task in (await ways.list_tasks()).tasks]
    return {
        "result": result.content[0].text,
        "status": (await ways.get_task(first)).status,
        "cancelled": cancelled.status,
        "listed": sorted(listed) == sorted([first, other]),
    }


async def cancel(session, ear):
    outcome = {}
    begun = anyio.Event()
    settled = anyio.Event()

    async def note(value, total, message):
        outcome["id"] = int(message)
        begun.set()

    async def run():
        try:
            outcome["result"] = await call(session, "slow", progress_callback=note)
        except McpError as error:
            outcome["error"] = error.error.message
        settled.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await begun.wait()
        # This SDK has no call for it: the notification is sent by hand. Servers
        # of 1.x answer a cancelled request with an error, those of 2.x never do.
        params = types.CancelledNotificationParams(requestId=outcome.pop("id"))
        await session.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))
        with anyio.move_on_after(ANSWER_TO_CANCEL_SECONDS):
            await settled.wait()
        tasks.cancel_scope.cancel()
    outcome["afterwards"] = await call(session, "echo", {"text": "alive"})
    return outcome


async def unknown_tool(session, ear):
    return failed(await session.call_tool("no_such_tool", {}))


async def unknown_resource(session, ear):
    try:
        await session.read_resource("nowhere://at/all")
    except McpError as error:
        return error.error.code
    return None


async def run(command, report):
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    ear = Ear()
    async with stdio_client(server) as (read, write), ClientSession(read, write, **ear.callbacks()) as session:
        with anyio.fail_after(STEP_SECONDS):
            hello = await session.initialize()
        report["server"] = hello.serverInfo.name
        report["revision"] = hello.protocolVersion
        await take(STEPS, session, ear, report)


STEPS = [*HANDSHAKE, tasks, cancel, unknown_tool, unknown_resource]

if __name__ == "__main__":
    report = {}
    try:
        anyio.run(run, sys.argv[sys.argv.index("--") + 1 :], report)
    finally:
        print(json.dumps(report))
