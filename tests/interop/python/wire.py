"""Plain HTTP on each (version, binding) pair, without an SDK, so that a test sees exactly what was sent.

Takes messages as 1.0 spells them and answers with the text of the wire. Not here: any judgement of it.
"""

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx

from meaning import Json

PAIRS = [("0.3", "jsonrpc"), ("0.3", "rest"), ("1.0", "jsonrpc"), ("1.0", "rest")]

METHODS = {
    "0.3": {
        "send": "message/send",
        "stream": "message/stream",
        "get": "tasks/get",
        "cancel": "tasks/cancel",
        "subscribe": "tasks/resubscribe",
    },
    "1.0": {
        "send": "SendMessage",
        "stream": "SendStreamingMessage",
        "get": "GetTask",
        "list": "ListTasks",
        "cancel": "CancelTask",
        "subscribe": "SubscribeToTask",
    },
}


@dataclass
class Reply:
    """An answer that is not a stream."""

    status: int
    headers: httpx.Headers
    text: str
    body: Any
    # The object asked for: the `result` of JSON-RPC, the whole body over HTTP+JSON.
    result: Any


@dataclass
class Frame:
    """One server-sent event."""

    fields: list[tuple[str, str]]
    text: str
    body: Any
    result: Any

    @property
    def id(self) -> str | None:
        return dict(self.fields).get("id")


@dataclass
class Stream:
    status: int
    headers: httpx.Headers
    frames: list[Frame]


def http_client(token: str | None = None) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    # Plain HTTP only: loading certificates for each client would cost more than all its requests.
    return httpx.AsyncClient(timeout=8, verify=False, headers=headers)


class Wire:
    """One (version, binding) pair of a server."""

    def __init__(self, http: httpx.AsyncClient, base: str, version: str, binding: str) -> None:
        self.http, self.base, self.version, self.binding = http, base, version, binding
        self.headers = {"A2A-Version": "1.0"} if version == "1.0" else {}
        self.prefix = "/v1" if version == "0.3" else ""

    async def send(self, said: Json, configuration: Json | None = None) -> Reply:
        return await self.send_body(self._sending(said, configuration))

    async def send_body(self, body: Any) -> Reply:
        """A send with any parameters, right or wrong."""
        return (
            await self.call("send", body)
            if self.binding == "jsonrpc"
            else await self.post("/message:send", body)
        )

    async def post_text(self, body: Any, headers: Json) -> Reply:
        """Any body at all, to the JSON-RPC endpoint."""
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.request("POST", "/", {"Content-Type": "application/json", **headers}, content=text)

    async def stream(self, said: Json) -> Stream:
        body = self._sending(said, None)
        if self.binding == "jsonrpc":
            return await self._open("POST", "/", self._envelope("stream", body))
        return await self._open("POST", self.prefix + "/message:stream", body)

    async def get(self, task_id: str, history_length: int | None = None) -> Reply:
        trim = {} if history_length is None else {"historyLength": history_length}
        if self.binding == "jsonrpc":
            return await self.call("get", {"id": task_id, **trim})
        return await self.request("GET", f"{self.prefix}/tasks/{task_id}", params=trim)

    async def list(self, filters: Json) -> Reply:
        if self.binding == "jsonrpc":
            return await self.call("list", filters)
        spelled = {
            key: json.dumps(value) if isinstance(value, bool) else value for key, value in filters.items()
        }
        return await self.request("GET", "/tasks", params=spelled)

    async def cancel(self, task_id: str) -> Reply:
        if self.binding == "jsonrpc":
            return await self.call("cancel", {"id": task_id})
        return await self.post(f"/tasks/{task_id}:cancel", {})

    async def subscribe(self, task_id: str, after: str, is_open: asyncio.Event) -> Stream:
        """Resumes after an event, and says when the stream is open."""
        resume = {"Last-Event-ID": after}
        if self.binding == "jsonrpc":
            return await self._open(
                "POST", "/", self._envelope("subscribe", {"id": task_id}), resume, is_open
            )
        return await self._open("GET", f"{self.prefix}/tasks/{task_id}:subscribe", None, resume, is_open)

    async def call(self, operation: str, params: Any) -> Reply:
        return await self.request("POST", "/", json=self._envelope(operation, params))

    async def post(self, path: str, body: Any) -> Reply:
        return await self.request("POST", self.prefix + path, json=body)

    async def request(self, verb: str, path: str, headers: Json | None = None, **more: Any) -> Reply:
        answered = await self.http.request(
            verb, self.base + path, headers={**self.headers, **(headers or {})}, **more
        )
        body = _json(answered.text)
        result = body.get("result") if self.binding == "jsonrpc" and isinstance(body, dict) else body
        return Reply(answered.status_code, answered.headers, answered.text, body, result)

    async def _open(
        self,
        verb: str,
        path: str,
        body: Any,
        headers: Json | None = None,
        is_open: asyncio.Event | None = None,
    ) -> Stream:
        more = {"json": body} if body is not None else {}
        wanted = {**self.headers, **(headers or {}), "Accept": "text/event-stream"}
        async with self.http.stream(verb, self.base + path, headers=wanted, **more) as opened:
            if is_open:
                is_open.set()
            await opened.aread()
        frames = [
            self._frame(block) for block in opened.text.replace("\r\n", "\n").split("\n\n") if block.strip()
        ]
        return Stream(opened.status_code, opened.headers, [frame for frame in frames if frame is not None])

    def _frame(self, block: str) -> Frame | None:
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        if not lines:
            return None
        fields = [
            (name, value.removeprefix(" ")) for name, _, value in (line.partition(":") for line in lines)
        ]
        text = "\n".join(value for name, value in fields if name == "data")
        body = _json(text)
        result = body.get("result") if self.binding == "jsonrpc" and isinstance(body, dict) else body
        return Frame(fields, text, body, result)

    def _envelope(self, operation: str, params: Any) -> Json:
        method = METHODS[self.version].get(operation, operation)
        return {"jsonrpc": "2.0", "id": str(uuid4()), "method": method, "params": params}

    def _sending(self, said: Json, configuration: Json | None) -> Json:
        body = {"message": self.spell(said)}
        return body if configuration is None else {**body, "configuration": configuration}

    def spell(self, said: Json) -> Json:
        """A message as 1.0 spells it, in the words of this pair."""
        if self.version == "1.0":
            return said
        if self.binding == "jsonrpc":
            return {
                **said,
                "kind": "message",
                "role": "user",
                "parts": [part_0_3(part) for part in said["parts"]],
            }
        spelled = {key: value for key, value in said.items() if key != "parts"}
        return {**spelled, "content": [_part_0_3_rest(part) for part in said["parts"]]}


def part_0_3(part: Json) -> Json:
    """A part as 0.3 JSON-RPC spells it."""
    more = {"metadata": part["metadata"]} if "metadata" in part else {}
    if "text" in part:
        return {"kind": "text", "text": part["text"], **more}
    if "data" in part:
        return {"kind": "data", "data": part["data"], **more}
    place = {"bytes": part["raw"]} if "raw" in part else {"uri": part["url"]}
    return {
        "kind": "file",
        "file": {**place, "name": part["filename"], "mimeType": part["mediaType"]},
        **more,
    }


def _part_0_3_rest(part: Json) -> Json:
    more = {"metadata": part["metadata"]} if "metadata" in part else {}
    if "text" in part:
        return {"text": part["text"], **more}
    if "data" in part:
        return {"data": {"data": part["data"]}, **more}
    place = {"fileWithBytes": part["raw"]} if "raw" in part else {"fileWithUri": part["url"]}
    return {"file": {**place, "name": part["filename"], "mimeType": part["mediaType"]}, **more}


def _json(text: str) -> Any:
    return json.loads(text) if text else None
