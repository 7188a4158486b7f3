"""The Python SDK 1.3.0 as a client of a running server: `peer_1_0.py BASE_URL`.

Every check of `suite` on both bindings of 1.0, and on both of 0.3 through the SDK's own layer for older
agents; lists; then everything the server says parsed strictly with the SDK's descriptors.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.server.tasks.task_manager import append_artifact_to_task
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import JSON_RPC_ERROR_CODE_MAP, A2AError
from google.protobuf.json_format import MessageToDict, ParseDict

import lists
import meaning
import raw
import raw_1_0
import scripted
import suite
from harness import Checks, equal, main, true
from meaning import Json
from peer import TASK_NOT_FOUND, message, refusal
from wire import http_client

BINDINGS = {"jsonrpc": "JSONRPC", "rest": "HTTP+JSON"}


class Peer10:
    """The SDK's client on one binding; see `peer.Peer`. Version 0.3 means its layer for older agents."""

    sends_file_bytes = True

    def __init__(
        self, http: httpx.AsyncClient, card: pb.AgentCard, binding: str, version: str, tenant: str
    ) -> None:
        self.binding, self.version = binding, version
        self._http = http
        self._card = pb.AgentCard()
        self._card.CopyFrom(card)
        offered = [one for one in card.supported_interfaces if one.protocol_version == version]
        del self._card.supported_interfaces[:]
        self._card.supported_interfaces.extend(
            one for one in offered if one.protocol_binding == BINDINGS[binding]
        )
        for one in self._card.supported_interfaces:
            one.tenant = tenant
        self.zero_history_is_everything = (version, binding) == ("0.3", "rest")
        # The SDK's layer for 0.3 takes base64 text for the bytes themselves over HTTP+JSON.
        self.reads_file_bytes = (version, binding) != ("0.3", "rest")
        self.extended_card_codes = {-32004} if version == "1.0" else {-32004, -32007}

    def _client(self, card: pb.AgentCard | None = None, **settings: Any) -> Client:
        bindings = [BINDINGS[self.binding]]
        config = ClientConfig(httpx_client=self._http, supported_protocol_bindings=bindings, **settings)
        return ClientFactory(config).create(card or self._card)

    async def send(self, said: Json, *, wait: bool = True, history_length: int | None = None) -> Json:
        request = pb.SendMessageRequest(message=_message(said))
        if history_length is not None:
            request.configuration.history_length = history_length
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

    def push_calls(self, task_id: str) -> dict[str, Callable[[], Any]]:
        client = self._client()
        config = pb.TaskPushNotificationConfig(task_id=task_id, id="hook", url="https://hook.example/a2a")
        read = pb.GetTaskPushNotificationConfigRequest(task_id=task_id, id="hook")
        some = pb.ListTaskPushNotificationConfigsRequest(task_id=task_id)
        drop = pb.DeleteTaskPushNotificationConfigRequest(task_id=task_id, id="hook")

        async def send_with_push() -> None:
            request = pb.SendMessageRequest(message=_message(message("echo with push")))
            request.configuration.task_push_notification_config.url = "https://hook.example/a2a"
            [one async for one in self._client(streaming=False).send_message(request)]

        calls = {
            "create": lambda: client.create_task_push_notification_config(config),
            "get": lambda: client.get_task_push_notification_config(read),
            "list": lambda: client.list_task_push_notification_configs(some),
            "delete": lambda: client.delete_task_push_notification_config(drop),
            "send with a push configuration": send_with_push,
        }
        if (self.version, self.binding) == ("0.3", "rest"):
            del calls["list"], calls["delete"]  # the SDK's layer for 0.3 does not offer them here
        return calls

    async def extended_card(self) -> Any:
        # The SDK only asks when the card promises one.
        promising = pb.AgentCard()
        promising.CopyFrom(self._card)
        promising.capabilities.extended_agent_card = True
        return await self._client(promising).get_extended_agent_card(pb.GetExtendedAgentCardRequest())

    async def attempt(self, call: Awaitable[Any]) -> tuple[Any, int | None]:
        try:
            return await call, None
        except A2AError as error:
            if type(error) not in JSON_RPC_ERROR_CODE_MAP:
                raise AssertionError(f"an error the SDK does not know: {error!r}") from error
            return None, JSON_RPC_ERROR_CODE_MAP[type(error)]


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
        true(not card.capabilities.push_notifications, "the card promises no push")
        true(not card.capabilities.extended_agent_card, "the card promises no extended card")
        for skill in card.skills:
            true(
                skill.id and skill.name and skill.description and skill.tags,
                f"a skill is incomplete: {skill}",
            )

    return check


def reads_equal_on_both_bindings(base: str) -> Callable[[], Any]:
    async def check() -> None:
        async with connect(base, "jsonrpc") as rpc, connect(base, "rest") as rest:
            for maker, reader in ((rpc, rest), (rest, rpc)):
                for trigger in scripted.KINDS_OF_TASKS:
                    made = (await maker.send(message(trigger)))["task"]
                    equal(await reader.get(made["id"]), made, f"{trigger!r} on the other binding")

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


@asynccontextmanager
async def connect(base: str, binding: str, version: str = "1.0", tenant: str = "") -> AsyncIterator[Peer10]:
    async with http_client() as http:
        card = await A2ACardResolver(http, base).get_agent_card()
        yield Peer10(http, card, binding, version, tenant)


async def run(base: str) -> int:
    checks = Checks("py-1.0")
    checks.add("card is whole in both forms and at both paths", card_is_whole(base))
    for binding in BINDINGS:
        suite.add_to(checks, binding, lambda binding=binding: connect(base, binding), has_final=False)
        checks.add(f"{binding} tenants do not see each other's tasks", tenants_are_apart(base, binding))
        lists.add_to(checks, binding, lambda binding=binding: connect(base, binding))
    for binding in BINDINGS:
        label = f"{binding} to a 0.3 agent"
        suite.add_to(checks, label, lambda binding=binding: connect(base, binding, "0.3"), has_final=False)
    checks.add("a task made on one binding reads equal on the other", reads_equal_on_both_bindings(base))
    checks.add("a task reads equal on all four pairs of version and binding", raw.pairs_read_equal(base))
    checks.add("a stream tells the same story on all four pairs", raw.pairs_stream_equal(base))
    raw_1_0.add_to(checks, base)
    return await checks.run()


if __name__ == "__main__":
    main(run)
