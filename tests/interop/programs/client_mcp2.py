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
import traceback

import anyio
from mcp import Client, MCPError, StdioServerParameters

STEP_SECONDS = 20
TEXT = 'two\nlines, a "quote", \\, \r, \u00e9, \u2028, \U0001f642, </script>'


def text_of(result):
    return None if result.is_error else result.content[0].text


async def call(client, name, arguments=None, **options):
    return text_of(await client.call_tool(name, arguments, **options))


async def step_tools(client):
    return sorted(tool.name for tool in (await client.list_tools()).tools)


async def step_echo(client):
    return await call(client, "echo", {"text": TEXT}) == TEXT


async def step_record(client):
    return await call(client, "record", {"text": "from a client"})


async def step_progress(client):
    seen = []

    async def progress(value, total, message):
        seen.append([value, total, message])

    result = await call(client, "climb", {"steps": 5}, progress_callback=progress)
    return {"result": result, "seen": seen}


async def step_concurrent(client):
    answers = {}

    async def one(number):
        arguments = {"text": f"call {number}", "seconds": (number * 37 % 100) / 1000}
        answers[number] = await call(client, "pause", arguments)

    async with anyio.create_task_group() as tasks:
        for number in range(100):
            tasks.start_soon(one, number)
    return sum(answers[number] == f"call {number}" for number in range(100))


async def step_cancel(client):
    outcome = {}
    scope = anyio.CancelScope()

    async def progress(value, total, message):
        # The SDK turns the end of the call into the notification.
        scope.cancel()

    with scope:
        outcome["result"] = await call(client, "slow", progress_callback=progress)
    if scope.cancelled_caught:
        outcome["error"] = "cancelled here"
    outcome["afterwards"] = await call(client, "echo", {"text": "alive"})
    return outcome


async def step_unknown_tool(client):
    try:
        return (await client.call_tool("no_such_tool", {})).is_error
    except MCPError as error:
        return error.error.code


async def step_unknown_resource(client):
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
            for name, step in STEPS.items():
                try:
                    with anyio.fail_after(STEP_SECONDS):
                        report[name] = await step(client)
                except Exception:
                    report[name] = traceback.format_exc()


STEPS = {name.removeprefix("step_"): value for name, value in list(globals().items()) if name.startswith("step_")}

if __name__ == "__main__":
    report = {}
    try:
        anyio.run(run, sys.argv[1], sys.argv[sys.argv.index("--") + 1 :], report)
    finally:
        print(json.dumps(report))
