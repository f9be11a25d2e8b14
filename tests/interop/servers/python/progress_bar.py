"""A progress bar without a line end, glued to the answer behind it."""

from serve import Message, serve, write


def work(arguments: Message) -> str:
    for percent in (10, 55, 100):
        write(b"\r%3d%%|##   | %d/100" % (percent, percent))
    return str(arguments.get("text", ""))


serve(work)
