"""What the shared checks need of an SDK, and the words they are written in.

A peer is one SDK client on one binding. It answers with the readings of `meaning` and turns what the SDK
raises into the JSON-RPC code of the error, so each check is written once.
"""

from collections.abc import AsyncIterator, Awaitable
from contextlib import aclosing
from typing import Any, Protocol
from uuid import uuid4

import meaning
from harness import equal, until
from meaning import Json

TASK_NOT_FOUND = -32001
TASK_NOT_CANCELABLE = -32002
UNSUPPORTED_OPERATION = -32004
CONTENT_TYPE_NOT_SUPPORTED = -32005
INVALID_PARAMS = -32602

BINDINGS = {"jsonrpc": "JSON-RPC", "rest": "HTTP+JSON", "grpc": "gRPC"}


def pair(version: str, binding: str) -> str:
    """The name under which checks of one version on one binding are told."""
    return f"{version} {BINDINGS[binding]}"


class Peer(Protocol):
    """One SDK client on one binding. Messages go in as 1.0 spells them."""

    version: str
    binding: str
    # How the SDK and the protocol version differ where a check cares.
    zero_history_is_everything: bool
    extended_card_codes: set[int]
    sends_file_bytes: bool
    reads_file_bytes: bool
    # Whether the SDK offers to list and to delete push configurations here.
    lists_push: bool

    async def send(
        self, said: Json, *, wait: bool = True, history_length: int | None = None, push: Json | None = None
    ) -> Json:
        """`{"kind": "task", "task": …}` or `{"kind": "message", "message": …}`."""

    def stream(self, said: Json) -> AsyncIterator[Json]:
        """Events, each with `folded`, the task as the SDK itself folds it, where it does."""

    def resubscribe(self, task_id: str) -> AsyncIterator[Json]: ...

    async def get(self, task_id: str, history_length: int | None = None) -> Json: ...

    async def cancel(self, task_id: str) -> Json: ...

    async def push_create(self, task_id: str, config: Json) -> Json:
        """Configurations go in and come out as 1.0 spells them, without the task."""

    async def push_get(self, task_id: str, config_id: str) -> Json: ...

    async def push_list(self, task_id: str) -> list[Json]: ...

    async def push_delete(self, task_id: str, config_id: str) -> None: ...

    async def extended_card(self) -> Any: ...

    async def attempt(self, call: Awaitable[Any]) -> tuple[Any, int | None]:
        """The answer to a call, or nothing and the code it is refused with."""


def message(text: str, **more: Any) -> Json:
    """What a user says, as 1.0 spells it. The id is new every time."""
    said = {"messageId": f"interop-{uuid4()}", "role": "ROLE_USER", "parts": [{"text": text}]}
    return {**said, **more}


async def everything(stream: AsyncIterator[Json]) -> list[Json]:
    async with aclosing(stream):
        return [event async for event in stream]


async def refusal(peer: Peer, call: Awaitable[Any]) -> int:
    """The code a call is refused with."""
    answered, code = await peer.attempt(call)
    if code is None:
        raise AssertionError(f"the call was answered: {answered!r}")
    return code


def answer(task: Json) -> str:
    return "".join(meaning.text(artifact["parts"]) for artifact in task["artifacts"])


async def sent(peer: Peer, text: str, **more: Any) -> Json:
    answered = await peer.send(message(text, **more))
    equal(answered["kind"], "task", f"the answer to {text!r}")
    return answered["task"]


async def started(peer: Peer, text: str) -> Json:
    answered = await peer.send(message(text), wait=False)
    equal(answered["kind"], "task", f"the answer to {text!r}")
    return answered["task"]


async def reaches(peer: Peer, task_id: str, state: str) -> Json:
    return await until(
        lambda: peer.get(task_id), lambda task: task["status"]["state"] == state, f"the state {state}"
    )
