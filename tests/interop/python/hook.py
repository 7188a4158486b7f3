"""A receiver of push notifications on loopback: keeps what arrives and answers that it is well."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from harness import until
from meaning import Json


@dataclass
class Notice:
    """One notification as it came over the wire; names of headers in lower case."""

    headers: dict[str, str]
    body: Any


class Hook:
    def __init__(self) -> None:
        self.notices: list[Notice] = []
        self.url = ""

    async def received(self, enough: Any, what: str) -> list[Notice]:
        """Waits until `enough` accepts what has arrived."""

        async def arrived() -> list[Notice]:
            return list(self.notices)

        return await until(arrived, enough, what)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")[1:]
                headers = {
                    name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
                }
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                self.notices.append(Notice(headers, json.loads(body or b"null")))
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def listening() -> AsyncIterator[Hook]:
    hook = Hook()
    server = await asyncio.start_server(hook._serve, "127.0.0.1", 0)
    hook.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/notices"
    try:
        yield hook
    finally:
        server.close()


def task_in(notice: Notice, version: str) -> Json | None:
    """What a notification says about a task: 1.0 sends one item of a stream, 0.3 the whole task."""
    if version == "0.3":
        return notice.body
    return notice.body.get("statusUpdate") or notice.body.get("task")
