# mypy: ignore-errors
"""The steps of a session that both major versions of the SDK take alike.

A session or client of either version is handed in; what differs between the
versions stays in their own programs.
"""

import traceback

import anyio
from mcp import types

STEP_SECONDS = 30
TEXT = 'two\nlines, a "quote", \\, \r, \u00e9, \u2028, \U0001f642, </script>'
# Below the 1024 that the gate keeps in flight by default.
CALLS = 1000
NOTE = "interop://note"


def failed(result):
    """Whether a result says that the tool failed: the versions spell it apart."""
    return result.isError if hasattr(result, "isError") else result.is_error


async def call(session, name, arguments=None, **options):
    result = await session.call_tool(name, arguments, **options)
    return None if failed(result) else result.content[0].text


async def tools(session, ear):
    return sorted(tool.name for tool in (await session.list_tools()).tools)


async def prompts(session, ear):
    names = [prompt.name for prompt in (await session.list_prompts()).prompts]
    got = await session.get_prompt("greet", {"name": "Ada"})
    return {"listed": "greet" in names, "text": got.messages[0].content.text}


async def resources(session, ear):
    uris = [str(resource.uri) for resource in (await session.list_resources()).resources]
    listed = await session.list_resource_templates()
    templates = getattr(listed, "resourceTemplates", None) or listed.resource_templates
    note = await session.read_resource(NOTE)
    named = await session.read_resource("interop://notes/Ada")
    return {
        "listed": NOTE in uris and len(templates) > 0,
        "texts": [got.contents[0].text for got in (note, named)],
    }


async def completion(session, ear):
    reference = types.PromptReference(type="ref/prompt", name="greet")
    got = await session.complete(reference, {"name": "name", "value": "A"})
    return got.completion.values


async def echo(session, ear):
    return await call(session, "echo", {"text": TEXT}) == TEXT


async def record(session, ear):
    return await call(session, "record", {"text": "from a client"})


async def progress(session, ear):
    seen = []

    async def note(value, total, message):
        seen.append([value, total, message])

    result = await call(session, "climb", {"steps": 5}, progress_callback=note)
    return {"result": result, "seen": seen}


async def concurrent(session, ear):
    answers = {}

    async def one(number):
        # None is answered before all are there; then they end in another order than they began.
        arguments = {"party": "all", "size": CALLS, "text": f"call {number}", "seconds": (number * 37 % 100) / 1000}
        answers[number] = await call(session, "meet", arguments)

    async with anyio.create_task_group() as tasks:
        for number in range(CALLS):
            tasks.start_soon(one, number)
    return sum(answers[number] == f"call {number}" for number in range(CALLS))


async def consult(session, ear):
    return await call(session, "consult")


async def ping(session, ear):
    return (await session.send_ping()) is not None


async def set_level(session, ear):
    await session.set_logging_level("info")
    return True


async def log(session, ear):
    await call(session, "tell")
    return await ear.settled(ear.logged, 1)


async def change(session, ear):
    """What a session with a handshake is told unasked, and of what it has subscribed to."""
    ear.news.clear()
    await session.send_roots_list_changed()
    await session.subscribe_resource(NOTE)
    await call(session, "change")
    seen = sorted(await ear.settled(ear.news, 4))
    await session.unsubscribe_resource(NOTE)
    return seen


async def take(steps, session, ear, report):
    """Takes each step; one that fails leaves its exception in the report, and the others are still taken."""
    for step in steps:
        try:
            with anyio.fail_after(STEP_SECONDS):
                report[step.__name__] = await step(session, ear)
        except Exception:
            report[step.__name__] = traceback.format_exc()


# In both eras, and only where the session has begun with a handshake.
PLAIN = [tools, prompts, resources, completion, echo, record, progress, log, consult, concurrent]
HANDSHAKE = [ping, set_level, *PLAIN, change]
