"""An MCP server on the official Python SDK, for what the published servers do not show.

    python notes.py stdio
    python notes.py http PORT
    python notes.py plain PORT      JSON answers instead of streams, no sessions
    python notes.py sse PORT
"""

import asyncio
import os
import sys
from pathlib import Path

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("notes", instructions="Keeps notes.")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
async def grow(ctx: Context) -> str:
    """Offers one more tool from now on."""

    def grown() -> str:
        """Was not there at first."""
        return "grown"

    server.add_tool(grown)
    await ctx.session.send_tool_list_changed()
    return "one more"


@server.tool()
async def wait(file: str) -> str:
    """Waits until it is called off, and says so in a file."""
    Path(file + ".begun").touch()
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        Path(file).write_text("called off")
        raise
    return "nobody called it off"


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("as it should")


@server.tool()
def crash() -> str:
    """Takes the whole server down."""
    os._exit(3)


@server.resource("note://first")
def first() -> str:
    """The first note."""
    return "remember the milk"


def main() -> None:
    way, *rest = sys.argv[1:]
    if way == "stdio":
        server.run("stdio")
    elif way == "sse":
        server.run("sse", port=int(rest[0]))
    else:
        plain = way == "plain"
        server.run("streamable-http", port=int(rest[0]), json_response=plain, stateless_http=plain)


if __name__ == "__main__":
    main()
