# mypy: ignore-errors
"""What the test server offers beside its plain tools: prompts, resources, and tools that talk back.

The tool ``consult`` asks its client in whatever way the session has: in a session
with a handshake by requests of the server's own, in a stateless one by results
that say ``input_required``. Only mcp 2.x has the latter.
"""

import warnings

from mcp import types
from pydantic import BaseModel

try:
    from mcp import MCPDeprecationWarning
    from mcp.server.mcpserver import Context

    MAJOR = 2
except ImportError:
    from mcp.server.fastmcp import Context

    MAJOR = 1

STATELESS = "2026-07-28"
NOTE = "interop://note"
NOTE_TEXT = "a note"
NAMES = ["Ada", "Alan", "Grace"]
LINK = "https://example.invalid/form"
LINK_ID = "form-1"


class Answer(BaseModel):
    answer: str


FORM = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


def question(text):
    return [types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))]


def stateless(context) -> bool:
    return getattr(context, "protocol_version", None) == STATELESS


def add(server) -> None:
    if MAJOR == 2:
        # Of half of these it says that they are gone from the newest revision.
        warnings.filterwarnings("ignore", category=MCPDeprecationWarning)
    add_data(server)
    add_handlers(server)
    add_news(server)
    add_questions(server)
    if MAJOR == 1:
        add_tasks(server)


def add_data(server) -> None:
    @server.prompt()
    def greet(name: str) -> str:
        return f"Hello {name}"

    @server.resource(NOTE)
    def note() -> str:
        return NOTE_TEXT

    @server.resource("interop://notes/{name}")
    def named_note(name: str) -> str:
        return f"a note of {name}"

    @server.completion()
    async def complete(ref, argument, context):
        return types.Completion(values=[name for name in NAMES if name.startswith(argument.value)])


def add_handlers(server) -> None:
    """Methods of sessions with a handshake, for which the high-level server has no decorator."""
    if MAJOR == 1:
        low = server._mcp_server

        @low.set_logging_level()
        async def set_level(level):
            pass

        @low.subscribe_resource()
        async def subscribe(uri):
            pass

        @low.unsubscribe_resource()
        async def unsubscribe(uri):
            pass
    else:

        async def accept(context, params):
            return types.EmptyResult()

        low = server._lowlevel_server
        low.add_request_handler("logging/setLevel", types.SetLevelRequestParams, accept)
        low.add_request_handler("resources/subscribe", types.SubscribeRequestParams, accept)
        low.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, accept)


def add_news(server) -> None:
    @server.tool()
    async def tell(context: Context) -> str:
        await context.info("told")
        return "told"

    @server.tool()
    async def change(context: Context) -> str:
        """Says that everything has changed, to whom it may be said."""
        if stateless(context):
            await context.notify_tools_changed()
            await context.notify_prompts_changed()
            await context.notify_resources_changed()
            await context.notify_resource_updated(NOTE)
        else:
            await context.session.send_tool_list_changed()
            await context.session.send_prompt_list_changed()
            await context.session.send_resource_list_changed()
            await context.session.send_resource_updated(NOTE)
        return "changed"

    @server.tool()
    async def hang_up(context: Context) -> str:
        """Ends the subscriptions that are open."""
        server._lowlevel_server.get_request_handler("subscriptions/listen").handler.close()
        return "hung up"


def add_questions(server) -> None:
    async def sample(session):
        """With a token, so that the client reports progress: the convenient call can't ask for that."""
        request = types.CreateMessageRequest(
            method="sampling/createMessage",
            params=types.CreateMessageRequestParams(messages=question("sample"), maxTokens=16),
        )
        if MAJOR == 1:
            request = types.ServerRequest(request)
        told = []

        async def note(value, total, message):
            told.append(value)

        sampled = await session.send_request(request, types.CreateMessageResult, progress_callback=note)
        assert told == [1], told
        return sampled

    async def ask(context) -> str:
        session = context.session
        await session.send_ping()
        roots = (await session.list_roots()).roots
        sampled = await sample(session)
        form = await context.elicit("form", Answer)
        link = await context.elicit_url("link", LINK, LINK_ID)
        await session.send_elicit_complete(LINK_ID)
        return " ".join([roots[0].name, sampled.content.text, form.data.answer, link.action])

    def ask_by_result(context):
        """Two rounds: what the first one brought is kept in the state that the client carries."""
        answers = context.input_responses or {}
        if "roots" in answers:
            return types.InputRequiredResult(
                request_state=f"{answers['roots'].roots[0].name} {answers['sample'].content.text}",
                input_requests={
                    "form": types.ElicitRequest(
                        params=types.ElicitRequestFormParams(message="form", requested_schema=FORM)
                    ),
                    "link": types.ElicitRequest(
                        params=types.ElicitRequestURLParams(message="link", url=LINK, elicitation_id=LINK_ID)
                    ),
                },
            )
        if "form" in answers:
            return f"{context.request_state} {answers['form'].content['answer']} {answers['link'].action}"
        sample = types.CreateMessageRequestParams(messages=question("sample"), max_tokens=16)
        return types.InputRequiredResult(
            input_requests={
                "roots": types.ListRootsRequest(),
                "sample": types.CreateMessageRequest(params=sample),
            },
        )

    @server.tool(structured_output=False)
    async def consult(context: Context):
        return ask_by_result(context) if stateless(context) else await ask(context)

    if MAJOR == 2:

        @server.prompt()
        async def consult_for_prompt(context: Context):
            return ask_by_result(context)

        @server.resource("interop://consult/{name}")
        async def consult_for_resource(name: str, context: Context):
            return ask_by_result(context)


def add_tasks(server) -> None:
    """A call that asks for a task becomes one, which after the first answer tells progress and asks its client."""
    low = server._mcp_server
    low.experimental.enable_tasks()
    call_plainly = low.request_handlers[types.CallToolRequest]

    async def call_tool(request):
        if request.params.task is None:
            return await call_plainly(request)
        context = low.request_context
        token = context.meta.progressToken

        async def work(task):
            await task.update_status("asking")
            await context.session.send_progress_notification(token, 1, 2)
            form = await task.elicit("form", FORM)
            await context.session.send_progress_notification(token, 2, 2)
            return types.CallToolResult(content=[types.TextContent(type="text", text=form.content["answer"])])

        return types.ServerResult(await context.experimental.run_task(work))

    low.request_handlers[types.CallToolRequest] = call_tool
