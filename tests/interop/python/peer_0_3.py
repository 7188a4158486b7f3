"""The Python SDK 0.3.26 as a client of a running server: `peer_0_3.py BASE_URL`.

Every check of `suite` on all three bindings through the SDK's own card resolver and clients, then everything
the server says parsed strictly with the SDK's models.
"""

import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientHTTPError, A2AClientJSONRPCError
from a2a.types import (
    AgentCard,
    GetTaskPushNotificationConfigParams,
    Message,
    MessageSendConfiguration,
    PushNotificationAuthenticationInfo,
    PushNotificationConfig,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TransportProtocol,
)
from pydantic import BaseModel

import channel
import crossing
import guarded
import meaning
import raw_0_3
import scripted
import suite
from harness import Checks, equal, main, true
from meaning import Json
from peer import message, pair
from wire import http_client, part_0_3

BINDINGS = {
    "jsonrpc": TransportProtocol.jsonrpc,
    "rest": TransportProtocol.http_json,
    "grpc": TransportProtocol.grpc,
}

# What the message of a gRPC status begins with.
ERROR_NAMES = {
    "TaskNotFoundError": -32001,
    "TaskNotCancelableError": -32002,
    "PushNotificationNotSupportedError": -32003,
    "UnsupportedOperationError": -32004,
    "ContentTypeNotSupportedError": -32005,
    "AuthenticatedExtendedCardNotConfiguredError": -32007,
    "InvalidParamsError": -32602,
}


class Peer03:
    """The SDK's client on one binding; see `peer.Peer`."""

    version = "0.3"
    # 0.3 names no error for an extended card that is not offered.
    extended_card_codes = {-32004, -32007}
    reads_file_bytes = True
    lists_push = False

    def __init__(
        self, http: httpx.AsyncClient, card: AgentCard, binding: str, calls: grpc.aio.Channel
    ) -> None:
        self.binding = binding
        self.card = card
        self._http, self._calls = http, calls
        self.zero_history_is_everything = binding != "jsonrpc"
        # In protobuf and its JSON this SDK takes base64 text for the bytes themselves, both ways.
        self.sends_file_bytes = binding == "jsonrpc"
        self._refused: int | None = None
        http.event_hooks = {"response": [self._keep_refusal]}

    def _client(self, card: AgentCard | None = None, **settings: Any) -> Client:
        config = ClientConfig(
            httpx_client=self._http,
            grpc_channel_factory=lambda _url: self._calls,
            supported_transports=[BINDINGS[self.binding]],
            **settings,
        )
        return ClientFactory(config).create(card or self.card)

    async def send(
        self, said: Json, *, wait: bool = True, history_length: int | None = None, push: Json | None = None
    ) -> Json:
        configs = [_push_config(push)] if push else []
        client = self._client(streaming=False, polling=not wait, push_notification_configs=configs)
        configuration = (
            MessageSendConfiguration(history_length=history_length) if history_length is not None else None
        )
        (answered,) = [one async for one in client.send_message(_message(said), configuration=configuration)]
        if isinstance(answered, Message):
            return {"kind": "message", "message": meaning.message(self._spell(answered))}
        return {"kind": "task", "task": self._task(answered[0])}

    async def stream(self, said: Json) -> AsyncIterator[Json]:
        async for one in self._client().send_message(_message(said)):
            yield self._event(one)

    async def resubscribe(self, task_id: str) -> AsyncIterator[Json]:
        async for one in self._client().resubscribe(TaskIdParams(id=task_id)):
            yield self._event(one)

    async def get(self, task_id: str, history_length: int | None = None) -> Json:
        return self._task(
            await self._client().get_task(TaskQueryParams(id=task_id, history_length=history_length))
        )

    async def cancel(self, task_id: str) -> Json:
        return self._task(await self._client().cancel_task(TaskIdParams(id=task_id)))

    async def push_create(self, task_id: str, config: Json) -> Json:
        create = TaskPushNotificationConfig(task_id=task_id, push_notification_config=_push_config(config))
        return _read_push(await self._client().set_task_callback(create))

    async def push_get(self, task_id: str, config_id: str) -> Json:
        read = GetTaskPushNotificationConfigParams(id=task_id, push_notification_config_id=config_id)
        return _read_push(await self._client().get_task_callback(read))

    async def push_list(self, task_id: str) -> list[Json]:
        raise NotImplementedError("this SDK does not list them")

    async def push_delete(self, task_id: str, config_id: str) -> None:
        raise NotImplementedError("this SDK does not delete them")

    async def extended_card(self) -> Any:
        # The SDK only asks when the card promises one.
        promising = self.card.model_copy(update={"supports_authenticated_extended_card": True})
        card = await self._client(promising).get_card()
        return card.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def attempt(self, call: Awaitable[Any]) -> tuple[Any, int | None]:
        self._refused = None
        try:
            return await call, None
        except A2AClientJSONRPCError as error:
            return None, error.error.code
        except grpc.aio.AioRpcError as error:
            name = (error.details() or "").split(":")[0]
            true(name in ERROR_NAMES, f"refused with {error.code().name} {error.details()}")
            return None, ERROR_NAMES[name]
        except A2AClientHTTPError as error:
            # For HTTP+JSON, and for streams that never open, the SDK keeps the status only.
            if self._refused is None:
                raise AssertionError(f"refused without an error body: {error}") from error
            return None, self._refused

    async def _keep_refusal(self, response: httpx.Response) -> None:
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            return
        body = json.loads(await response.aread() or b"null")
        if isinstance(body, dict):
            self._refused = body.get("code") or (body.get("error") or {}).get("code")

    def _event(self, one: Any) -> Json:
        if isinstance(one, Message):
            return {"kind": "message", "message": meaning.message(self._spell(one))}
        task, update = one
        folded = self._task(task)
        if update is None:
            return {"kind": "task", "task": folded, "folded": folded}
        spelled = self._spell(update)
        final = {"final": spelled["final"]} if "final" in spelled else {}
        return {**meaning.event(spelled), **final, "folded": folded}

    def _task(self, task: BaseModel) -> Json:
        return meaning.task(self._spell(task))

    def _spell(self, model: BaseModel) -> Json:
        spelled = model.model_dump(mode="json", by_alias=True, exclude_none=True)
        return spelled if self.binding == "jsonrpc" else _encode_bytes(spelled)


def _encode_bytes(spelled: Any) -> Any:
    """Undoes what this SDK does to file bytes in protobuf: it decodes them into text."""
    if isinstance(spelled, list):
        return [_encode_bytes(one) for one in spelled]
    if not isinstance(spelled, dict):
        return spelled
    if spelled.get("kind") == "file" and "bytes" in spelled["file"]:
        encoded = base64.b64encode(spelled["file"]["bytes"].encode()).decode()
        return {**spelled, "file": {**spelled["file"], "bytes": encoded}}
    return {key: _encode_bytes(value) for key, value in spelled.items()}


def _push_config(config: Json) -> PushNotificationConfig:
    told = config.get("authentication")
    info = PushNotificationAuthenticationInfo(schemes=[told["scheme"]], credentials=told["credentials"]) if told else None
    return PushNotificationConfig(
        id=config.get("id"), url=config["url"], token=config.get("token"), authentication=info
    )


def _read_push(kept: TaskPushNotificationConfig) -> Json:
    config = kept.push_notification_config
    return {"id": config.id, "url": config.url, "token": config.token or None}


def _message(said: Json) -> Message:
    parts = [part_0_3(part) for part in said["parts"]]
    return Message.model_validate({**said, "role": "user", "parts": parts})


def card_is_whole(base: str) -> Callable[[], Any]:
    async def check() -> None:
        async with http_client() as http:
            card = await A2ACardResolver(http, base).get_agent_card()
            old_path = await A2ACardResolver(http, base, "/.well-known/agent.json").get_agent_card()
        equal(old_path, card, "the card at the old path")
        equal(card.protocol_version, "0.3.0", "the protocol version")
        for name in (
            "name",
            "description",
            "version",
            "url",
            "default_input_modes",
            "default_output_modes",
            "skills",
        ):
            true(getattr(card, name), f"the card's {name} is empty")
        equal(card.preferred_transport, "JSONRPC", "the preferred transport")
        offered = {one.transport: one.url for one in card.additional_interfaces or []}
        equal(offered.get("JSONRPC"), card.url, "the main address among the additional interfaces")
        for transport in ("HTTP+JSON", "GRPC"):
            true(transport in offered, f"{transport} is offered: {offered}")
        true(card.capabilities.streaming, "the card promises streaming")
        true(card.capabilities.push_notifications, "the card promises push")
        true(not card.supports_authenticated_extended_card, "the card promises no extended card")
        for skill in card.skills:
            true(
                skill.id and skill.name and skill.description and skill.tags,
                f"a skill is incomplete: {skill}",
            )

    return check


@asynccontextmanager
async def connect(base: str, binding: str, token: str | None = None) -> AsyncIterator[Peer03]:
    async with http_client(token) as http:
        card = await A2ACardResolver(http, base).get_agent_card()
        address = next(one.url for one in card.additional_interfaces or [] if one.transport == "GRPC")
        async with channel.opened(address, token) as calls:
            yield Peer03(http, card, binding, calls)


async def run(base: str) -> int:
    checks = Checks("py-0.3")
    checks.add("the card is whole at both paths", card_is_whole(base))
    for binding in BINDINGS:
        name = pair("0.3", binding)
        suite.add_to(checks, name, lambda binding=binding: connect(base, binding), has_final=True, lists_push=False)
        guarded.add_to(
            checks, name, lambda base, token, binding=binding: connect(base, binding, token)
        )
    # This SDK drops the time of a status in protobuf and its JSON; raw reads compare it.
    crossing.add_to(checks, "0.3", BINDINGS, lambda binding: connect(base, binding))
    raw_0_3.add_to(checks, base)
    return await checks.run()


if __name__ == "__main__":
    main(run)
