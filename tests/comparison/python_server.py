# mypy: ignore-errors
"""A minimal server on the official Python SDK, 1.x or 2.x, as its README has it; its one tool writes a file."""

from pathlib import Path

try:
    from mcp.server.mcpserver import MCPServer as Server
except ModuleNotFoundError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as Server

server = Server("comparison")


@server.tool()
def write(path: str, text: str) -> str:
    """Writes the text into the file."""
    Path(path).write_text(text, encoding="utf-8")
    return text


server.run("stdio")
