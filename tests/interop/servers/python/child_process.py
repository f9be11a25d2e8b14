"""A tool that runs a program, which has the server's stdout for its own."""

import subprocess

from serve import Message, serve


def work(arguments: Message) -> str:
    subprocess.run(["sh", "-c", "echo 'On branch main, nothing to commit'"], check=True)
    return str(arguments.get("text", ""))


serve(work)
