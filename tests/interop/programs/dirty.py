# mypy: ignore-errors
"""A server that writes something of its own to stdout, in the way it is told.

usage: dirty.py WAY

The ways before and after serving happen around ``run``; the others happen in the
tool ``work``, which returns as if nothing were wrong.
"""

import atexit
import json
import os
import subprocess
import sys

try:
    from mcp.server.mcpserver import MCPServer as Server
except ModuleNotFoundError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as Server


def banner():
    print("Starting the server on stdio")


def log_line():
    print(json.dumps({"level": "info", "msg": "starting"}))


def at_exit():
    atexit.register(print, "Goodbye from the server")


def at_exit_by_descriptor():
    atexit.register(os.write, 1, b"Goodbye by descriptor\n")


def print_in_tool():
    print("working on it", flush=True)


def print_in_tool_unflushed():
    print("working on it, unflushed")


def write_in_tool():
    os.write(1, b"raw bytes \xff\x00\n")


def child_in_tool():
    subprocess.run(["sh", "-c", "echo child says hello"], check=True)


def bar_in_tool():
    for percent in (10, 50, 100):
        sys.stdout.write(f"\r{percent:3}% done")
        sys.stdout.flush()


AROUND = (banner, log_line, at_exit, at_exit_by_descriptor)
INSIDE = (print_in_tool, print_in_tool_unflushed, write_in_tool, child_in_tool, bar_in_tool)


def main(way):
    server = Server("dirty")

    @server.tool()
    def work() -> str:
        for soil in INSIDE:
            if soil.__name__ == way:
                soil()
        return "done"

    for soil in AROUND:
        if soil.__name__ == way:
            soil()
    server.run("stdio")


if __name__ == "__main__":
    main(sys.argv[1])
