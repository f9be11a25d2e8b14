# mypy: ignore-errors
"""What a client of either major version answers when its server asks, and what it keeps of the server's news."""

import anyio
from mcp import types

ROOT, SAMPLE, ANSWER = "a root", "a sample", "an answer"
SETTLE_SECONDS = 10


class Ear:
    """The callbacks of one client."""

    def __init__(self):
        self.logged = []
        self.news = []

    def callbacks(self):
        return {
            "sampling_callback": self.sample,
            "elicitation_callback": self.elicit,
            "list_roots_callback": self.roots,
            "logging_callback": self.log,
            "message_handler": self.hear,
        }

    async def sample(self, context, params):
        meta = context.meta
        token = meta.get("progress_token") if isinstance(meta, dict) else getattr(meta, "progressToken", None)
        if token is not None:
            await context.session.send_progress_notification(token, 1, 1)
        content = types.TextContent(type="text", text=SAMPLE)
        return types.CreateMessageResult(role="assistant", content=content, model="none")

    async def elicit(self, context, params):
        if params.mode == "url":
            return types.ElicitResult(action="accept")
        return types.ElicitResult(action="accept", content={"answer": ANSWER})

    async def roots(self, context):
        return types.ListRootsResult(roots=[types.Root(uri="file:///nowhere", name=ROOT)])

    async def log(self, params):
        self.logged.append(f"{params.level}: {params.data}")

    async def hear(self, message):
        # In 1.x a union has a wrapper; requests of the server pass here too.
        method = getattr(getattr(message, "root", message), "method", "")
        if method.endswith(("/list_changed", "/updated", "/complete")):
            self.news.append(method)

    async def settled(self, what, count):
        """What has come, once it is as much as that: callbacks may run after the answer to the call."""
        with anyio.move_on_after(SETTLE_SECONDS):
            while len(what) < count:
                await anyio.sleep(0.01)
        return list(what)
