# mypy: ignore-errors
"""A client written with mcp 1.x: one session, reported as JSON on stdout.

usage: client_mcp1.py -- COMMAND ...

The report has one entry for each step; a step that fails leaves its exception
there, and the others still run.
"""

import json
import os
import sys
import traceback

import anyio
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client

STEP_SECONDS = 20
ANSWER_TO_CANCEL_SECONDS = 1
TEXT = 'two\nlines, a "quote", \\, \r, \u00e9, \u2028, \U0001f642, </script>'


def text_of(result):
    return None if result.isError else result.content[0].text


async def call(session, name, arguments=None, **options):
    return text_of(await session.call_tool(name, arguments, **options))


async def step_tools(session):
    return sorted(tool.name for tool in (await session.list_tools()).tools)


async def step_echo(session):
    return await call(session, "echo", {"text": TEXT}) == TEXT


async def step_record(session):
    return await call(session, "record", {"text": "from a client"})


async def step_progress(session):
    seen = []

    async def progress(value, total, message):
        seen.append([value, total, message])

    result = await call(session, "climb", {"steps": 5}, progress_callback=progress)
    return {"result": result, "seen": seen}


async def step_concurrent(session):
    answers = {}

    async def one(number):
        arguments = {"text": f"call {number}", "seconds": (number * 37 % 100) / 1000}
        answers[number] = await call(session, "pause", arguments)

    async with anyio.create_task_group() as tasks:
        for number in range(100):
            tasks.start_soon(one, number)
    return sum(answers[number] == f"call {number}" for number in range(100))


async def step_cancel(session):
    outcome = {}
    begun = anyio.Event()
    settled = anyio.Event()

    async def progress(value, total, message):
        outcome["id"] = int(message)
        begun.set()

    async def run():
        try:
            outcome["result"] = await call(session, "slow", progress_callback=progress)
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


async def step_unknown_tool(session):
    return (await session.call_tool("no_such_tool", {})).isError


async def step_unknown_resource(session):
    try:
        await session.read_resource("nowhere://at/all")
    except McpError as error:
        return error.error.code
    return None


async def run(command, report):
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        with anyio.fail_after(STEP_SECONDS):
            hello = await session.initialize()
        report["server"] = hello.serverInfo.name
        report["revision"] = hello.protocolVersion
        for name, step in STEPS.items():
            try:
                with anyio.fail_after(STEP_SECONDS):
                    report[name] = await step(session)
            except Exception:
                report[name] = traceback.format_exc()


STEPS = {name.removeprefix("step_"): value for name, value in list(globals().items()) if name.startswith("step_")}

if __name__ == "__main__":
    report = {}
    try:
        anyio.run(run, sys.argv[sys.argv.index("--") + 1 :], report)
    finally:
        print(json.dumps(report))
