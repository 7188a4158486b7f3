"""Prints every message of a WebSocket as one line: `follow.py URL`. Ends when the connection does."""

import asyncio
import sys

import websockets


async def main() -> None:
    async with websockets.connect(sys.argv[1]) as socket:
        async for message in socket:
            print(message, flush=True)


try:
    asyncio.run(main())
except (websockets.ConnectionClosed, OSError):
    pass
