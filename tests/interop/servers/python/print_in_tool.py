"""A forgotten debug print inside a tool: only a call of it shows that."""

from serve import Message, serve


def work(arguments: Message) -> str:
    print("DEBUG work called with", arguments, flush=True)
    return str(arguments.get("text", ""))


serve(work)
