"""A result with NaN in it, which Python's json writes and nobody else reads."""

from serve import Message, send, serve


def reply(message: Message) -> None:
    if "content" in message.get("result", {}):
        message["result"]["_meta"] = {"score": float("nan")}
    send(message)


serve(reply=reply)
