"""The Python SDK 1.3.0 as a client of a running server: `peer_1_0.py BASE_URL`.

Every check of `suite` on all bindings of 1.0, and on all of 0.3 through the SDK's own layer for older
agents; lists; the services beside A2A; then everything the server says parsed strictly with the SDK's descriptors.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.server.tasks.task_manager import append_artifact_to_task
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import JSON_RPC_ERROR_CODE_MAP, A2AError
from google.protobuf.json_format import MessageToDict, ParseDict

import channel
import crossing
import grpc_services
import guarded
import lists
import meaning
import raw
import raw_1_0
import scripted
import suite
from harness import Checks, equal, main, true
from meaning import Json
from peer import TASK_NOT_FOUND, message, pair, refusal
from wire import http_client

BINDINGS = {"jsonrpc": "JSONRPC", "rest": "HTTP+JSON", "grpc": "GRPC"}


class Peer10:
    """The SDK's client on one binding; see `peer.Peer`. Version 0.3 means its layer for older agents."""

    sends_file_bytes = True

    def __init__(
        self,
        http: httpx.AsyncClient,
        calls: grpc.aio.Channel,
        card: pb.AgentCard,
        binding: str,
        version: str,
        tenant: str,
    ) -> None:
        self.binding, self.version = binding, version
        self._http, self._calls = http, calls
        self._card = pb.AgentCard()
        self._card.CopyFrom(card)
        offered = [one for one in card.supported_interfaces if one.protocol_version == version]
        del self._card.supported_interfaces[:]
        self._card.supported_interfaces.extend(
            one for one in offered if one.protocol_binding == BINDINGS[binding]
        )
        for one in self._card.supported_interfaces:
            one.tenant = tenant
        in_older_protobuf = version == "0.3" and binding != "jsonrpc"
        self.zero_history_is_everything = in_older_protobuf
        # The SDK's layer for 0.3 takes base64 text for the bytes themselves in protobuf and its JSON.
        self.reads_file_bytes = not in_older_protobuf
        self.lists_push = lists_push(version, binding)
        self.extended_card_codes = {-32004} if version == "1.0" else {-32004, -32007}

    def _client(self, card: pb.AgentCard | None = None, **settings: Any) -> Client:
        bindings = [BINDINGS[self.binding]]
        config = ClientConfig(
            httpx_client=self._http,
            grpc_channel_factory=lambda _url: self._calls,
            supported_protocol_bindings=bindings,
            **settings,
        )
        return ClientFactory(config).create(card or self._card)

    async def send(
        self, said: Json, *, wait: bool = True, history_length: int | None = None, push: Json | None = None
    ) -> Json:
        request = pb.SendMessageRequest(message=_message(said))
        if history_length is not None:
            request.configuration.history_length = history_length
        if push:
            ParseDict(push, request.configuration.task_push_notification_config)
        client = self._client(streaming=False, polling=not wait)
        (answered,) = [one async for one in client.send_message(request)]
        return meaning.event(MessageToDict(answered))

    async def stream(self, said: Json) -> AsyncIterator[Json]:
        async for event in _folding(
            self._client().send_message(pb.SendMessageRequest(message=_message(said)))
        ):
            yield event

    async def resubscribe(self, task_id: str) -> AsyncIterator[Json]:
        async for event in _folding(self._client().subscribe(pb.SubscribeToTaskRequest(id=task_id))):
            yield event

    async def get(self, task_id: str, history_length: int | None = None) -> Json:
        request = pb.GetTaskRequest(id=task_id)
        if history_length is not None:
            request.history_length = history_length
        return meaning.task(MessageToDict(await self._client().get_task(request)))

    async def list(self, **filters: Any) -> pb.ListTasksResponse:
        return await self._client().list_tasks(ParseDict(filters, pb.ListTasksRequest()))

    async def cancel(self, task_id: str) -> Json:
        return meaning.task(MessageToDict(await self._client().cancel_task(pb.CancelTaskRequest(id=task_id))))

    async def push_create(self, task_id: str, config: Json) -> Json:
        request = ParseDict({**config, "taskId": task_id}, pb.TaskPushNotificationConfig())
        return _read_push(await self._client().create_task_push_notification_config(request))

    async def push_get(self, task_id: str, config_id: str) -> Json:
        request = pb.GetTaskPushNotificationConfigRequest(task_id=task_id, id=config_id)
        return _read_push(await self._client().get_task_push_notification_config(request))

    async def push_list(self, task_id: str) -> Sequence[Json]:
        request = pb.ListTaskPushNotificationConfigsRequest(task_id=task_id)
        listed = await self._client().list_task_push_notification_configs(request)
        return [_read_push(one) for one in listed.configs]

    async def push_delete(self, task_id: str, config_id: str) -> None:
        request = pb.DeleteTaskPushNotificationConfigRequest(task_id=task_id, id=config_id)
        await self._client().delete_task_push_notification_config(request)

    async def extended_card(self) -> Any:
        # The SDK only asks when the card promises one.
        promising = pb.AgentCard()
        promising.CopyFrom(self._card)
        promising.capabilities.extended_agent_card = True
        asked = pb.GetExtendedAgentCardRequest()
        return MessageToDict(await self._client(promising).get_extended_agent_card(asked))

    async def attempt(self, call: Awaitable[Any]) -> tuple[Any, int | None]:
        try:
            return await call, None
        except A2AError as error:
            if type(error) not in JSON_RPC_ERROR_CODE_MAP:
                raise AssertionError(f"an error the SDK does not know: {error!r}") from error
            return None, JSON_RPC_ERROR_CODE_MAP[type(error)]


def lists_push(version: str, binding: str) -> bool:
    """The SDK's layer for 0.3 does not offer to list and delete push configurations over HTTP+JSON."""
    return (version, binding) != ("0.3", "rest")


async def _folding(stream: AsyncIterator[pb.StreamResponse]) -> AsyncIterator[Json]:
    """Readings of the events, with the task folded by the SDK's own rule for artifacts."""
    task = pb.Task()
    async for one in stream:
        event = meaning.event(MessageToDict(one))
        if one.HasField("message"):
            yield event
            continue
        if one.HasField("task"):
            task.CopyFrom(one.task)
        elif one.HasField("status_update"):
            task.status.CopyFrom(one.status_update.status)
        else:
            append_artifact_to_task(task, one.artifact_update)
        yield {**event, "folded": meaning.task(MessageToDict(task))} if task.id else event


def _read_push(config: pb.TaskPushNotificationConfig) -> Json:
    return {"id": config.id, "url": config.url, "token": config.token or None}


def _message(said: Json) -> pb.Message:
    return ParseDict(said, pb.Message())


def card_is_whole(base: str) -> Callable[[], Any]:
    async def check() -> None:
        async with http_client() as http:
            card = await A2ACardResolver(http, base).get_agent_card()
            pure = await A2ACardResolver(http, base).get_agent_card(
                http_kwargs={"headers": {"A2A-Version": "1.0"}}
            )
            old_path = await A2ACardResolver(http, base, "/.well-known/agent.json").get_agent_card()
        equal(old_path, card, "the card at the old path")
        equal(card, pure, "the card for both versions, read as 1.0, and the card of 1.0")
        for name in (
            "name",
            "description",
            "version",
            "default_input_modes",
            "default_output_modes",
            "skills",
        ):
            true(getattr(card, name), f"the card's {name} is empty")
        offered = [(one.protocol_version, one.protocol_binding) for one in card.supported_interfaces]
        for pair in ((version, binding) for version in ("1.0", "0.3") for binding in BINDINGS.values()):
            true(pair in offered, f"{pair} is offered: {offered}")
        versions = [version for version, _ in offered]
        equal(versions, sorted(versions, reverse=True), "1.0 stands before 0.3")
        true(card.capabilities.streaming, "the card promises streaming")
        true(card.capabilities.push_notifications, "the card promises push")
        true(not card.capabilities.extended_agent_card, "the card promises no extended card")
        for skill in card.skills:
            true(
                skill.id and skill.name and skill.description and skill.tags,
                f"a skill is incomplete: {skill}",
            )

    return check


def tenants_are_apart(base: str, binding: str) -> Callable[[], Any]:
    async def check() -> None:
        async with connect(base, binding) as nobody, connect(base, binding, tenant="interop") as tenant:
            theirs = (await tenant.send(message(scripted.ECHO)))["task"]
            equal(await tenant.get(theirs["id"]), theirs, "the task as its tenant sees it")
            equal(
                await refusal(nobody, nobody.get(theirs["id"])), TASK_NOT_FOUND, "the task for everybody else"
            )
            ours = (await nobody.send(message(scripted.ECHO)))["task"]
            equal(await refusal(tenant, tenant.get(ours["id"])), TASK_NOT_FOUND, "a task of everybody else")
            listed = await tenant.list(contextId=theirs["context"])
            equal([task.id for task in listed.tasks], [theirs["id"]], "what the tenant lists")
            unseen = await nobody.list(contextId=theirs["context"])
            equal(len(unseen.tasks), 0, "what everybody else lists")

    return check


def unknown_tenants_are_refused(binding: str) -> Callable[[], Any]:
    """Against the server that lists its tenants."""

    async def check() -> None:
        base, token = guarded.place()
        async with (
            connect(base, binding, tenant="interop", token=token) as listed,
            connect(base, binding, tenant="nobody", token=token) as unknown,
        ):
            task = (await listed.send(message(scripted.ECHO)))["task"]
            equal(task["status"]["state"], "completed", "the state")
            for name, call in {
                "send": unknown.send(message(scripted.ECHO)),
                "get": unknown.get(task["id"]),
                "list": unknown.list(),
            }.items():
                await guarded.refused_with(("NO TENANT", "NOT FOUND"), name, call)

    return check


@asynccontextmanager
async def connect(
    base: str, binding: str, version: str = "1.0", *, tenant: str = "", token: str | None = None
) -> AsyncIterator[Peer10]:
    async with http_client(token) as http, channel.opened(base, token) as calls:
        card = await A2ACardResolver(http, base).get_agent_card()
        yield Peer10(http, calls, card, binding, version, tenant)


async def run(base: str) -> int:
    checks = Checks("py-1.0")
    checks.add("the card is whole in both forms and at both paths", card_is_whole(base))
    for version in ("1.0", "0.3"):
        for binding in BINDINGS:
            name = pair(version, binding)

            def plain(version: str = version, binding: str = binding) -> Any:
                return connect(base, binding, version)

            def known(
                base: str, token: str | None, version: str = version, binding: str = binding
            ) -> Any:
                return connect(base, binding, version, token=token)

            suite.add_to(
                checks, name, plain, has_final=False, lists_push=lists_push(version, binding)
            )
            guarded.add_to(checks, name, known)
            if version == "1.0":
                checks.add("tenants do not see each other's tasks", tenants_are_apart(base, binding), name)
                checks.add("a tenant that is not listed is refused", unknown_tenants_are_refused(binding), name)
                lists.add_to(checks, name, plain)
        crossing.add_to(
            checks, version, BINDINGS, lambda binding, version=version: connect(base, binding, version)
        )
    crossing.add_across_versions(checks, lambda binding, version: connect(base, binding, version))
    checks.add("a task reads equal on all four pairs of JSON", raw.pairs_read_equal(base))
    checks.add("a stream tells the same story on all four pairs of JSON", raw.pairs_stream_equal(base))
    raw_1_0.add_to(checks, base)
    grpc_services.add_to(checks, base)
    return await checks.run()


if __name__ == "__main__":
    main(run)
