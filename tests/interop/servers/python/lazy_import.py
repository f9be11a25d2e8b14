"""A tool that imports a library at its first call, and the library greets its user on stdout."""

from serve import Message, serve


def work(arguments: Message) -> str:
    import greeter

    return greeter.polite(str(arguments.get("text", "")))


serve(work)
