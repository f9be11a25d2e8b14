# mypy: ignore-errors
"""The steps of a session that both major versions of the SDK take alike.

A session or client of either version is handed in; what differs between the
versions stays in their own programs.
"""

import traceback

import anyio

STEP_SECONDS = 20
TEXT = 'two\nlines, a "quote", \\, \r, \u00e9, \u2028, \U0001f642, </script>'


def failed(result):
    """Whether a result says that the tool failed: the versions spell it apart."""
    return result.isError if hasattr(result, "isError") else result.is_error


async def call(session, name, arguments=None, **options):
    result = await session.call_tool(name, arguments, **options)
    return None if failed(result) else result.content[0].text


async def tools(session):
    return sorted(tool.name for tool in (await session.list_tools()).tools)


async def echo(session):
    return await call(session, "echo", {"text": TEXT}) == TEXT


async def record(session):
    return await call(session, "record", {"text": "from a client"})


async def progress(session):
    seen = []

    async def note(value, total, message):
        seen.append([value, total, message])

    result = await call(session, "climb", {"steps": 5}, progress_callback=note)
    return {"result": result, "seen": seen}


async def concurrent(session):
    answers = {}

    async def one(number):
        arguments = {"text": f"call {number}", "seconds": (number * 37 % 100) / 1000}
        answers[number] = await call(session, "pause", arguments)

    async with anyio.create_task_group() as tasks:
        for number in range(100):
            tasks.start_soon(one, number)
    return sum(answers[number] == f"call {number}" for number in range(100))


async def take(steps, session, report):
    """Takes each step; one that fails leaves its exception in the report, and the others are still taken."""
    for step in steps:
        try:
            with anyio.fail_after(STEP_SECONDS):
                report[step.__name__] = await step(session)
        except Exception:
            report[step.__name__] = traceback.format_exc()
