"""A small server of tools for tests, as a process or over HTTP: `python -m tests.app.tools.tool_server [PORT]`."""

from __future__ import annotations

import os
import sys
import time

from mcp.server.mcpserver import MCPServer

server = MCPServer("small")


@server.tool()
def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


@server.tool()
def refuse() -> str:
    """Fail, as tools may."""
    raise ValueError("no luck today")


@server.tool()
def repeat(text: str, times: int) -> str:
    """Say the same many times."""
    return text * times


@server.tool()
def wait() -> str:
    """Give no answer for a long time."""
    time.sleep(600)
    return "late"


@server.tool()
def leave() -> str:
    """End the server in the middle of a call."""
    os._exit(3)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run()
