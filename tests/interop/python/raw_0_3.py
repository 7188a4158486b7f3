"""0.3 on the wire, parsed by the models of the Python SDK 0.3.26.

JSON-RPC by its pydantic types, in strict mode and without a member they do not know; HTTP+JSON by its
protobuf types.
"""

import json
from collections.abc import Callable
from typing import Any

from a2a.grpc import a2a_pb2
from a2a.types import (
    CancelTaskSuccessResponse,
    GetTaskSuccessResponse,
    JSONRPCErrorResponse,
    SendMessageSuccessResponse,
    SendStreamingMessageSuccessResponse,
)
from pydantic import BaseModel, ValidationError

import bad_requests
import protojson
import raw
from harness import Checks, equal, true
from peer import pair
from wire import Frame, Reply

HTTP_STATUS = {-32001: 404, -32601: 404, -32603: 500}
ERROR_TYPES = {
    -32001: "TaskNotFoundError",
    -32002: "TaskNotCancelableError",
    -32003: "PushNotificationNotSupportedError",
    -32004: "UnsupportedOperationError",
}


class StrictJsonRpc:
    """See `raw.Strict`."""

    _MODELS = {
        "send": SendMessageSuccessResponse,
        "get": GetTaskSuccessResponse,
        "cancel": CancelTaskSuccessResponse,
    }

    def reply(self, operation: str, reply: Reply) -> None:
        parse(reply.text, self._MODELS[operation])

    def item(self, frame: Frame) -> None:
        parse(frame.text, SendStreamingMessageSuccessResponse)

    def refusal(self, reply: Reply, code: int) -> None:
        equal(reply.status, 200, f"the HTTP status of a refusal: {reply.text}")
        refused = parse(reply.text, JSONRPCErrorResponse)
        equal(refused.error.code, code, f"the code of {reply.text}")
        true(refused.error.message, "a refusal has a message")
        true(not isinstance(refused.error.data, list), "the data of a 0.3 error is no list")


class StrictRest:
    """See `raw.Strict`."""

    _MODELS = {"send": a2a_pb2.SendMessageResponse, "get": a2a_pb2.Task, "cancel": a2a_pb2.Task}

    def reply(self, operation: str, reply: Reply) -> None:
        protojson.parse(reply.body, self._MODELS[operation]())

    def item(self, frame: Frame) -> None:
        protojson.parse(frame.body, a2a_pb2.StreamResponse())

    def refusal(self, reply: Reply, code: int) -> None:
        equal(reply.body.get("code"), code, f"the code of {reply.text}")
        equal(reply.status, HTTP_STATUS.get(code, 400), f"the HTTP status of {reply.text}")
        true(set(reply.body) <= {"type", "code", "message", "data"}, f"the members of {reply.text}")
        true(reply.body["message"], "a refusal has a message")
        equal(reply.body.get("type"), ERROR_TYPES.get(code, reply.body.get("type")), "the type of a refusal")
        true(not isinstance(reply.body.get("data"), list), "the data of a 0.3 error is no list")


def parse(text: str, model: type[BaseModel]) -> Any:
    """Reads `text`; whatever the model does not know would be missing from what it dumps again."""
    try:
        parsed = model.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise AssertionError(f"{model.__name__} does not parse: {error}; text: {text}") from error
    dumped = parsed.model_dump(mode="json", by_alias=True, exclude_unset=True)
    equal(dumped, json.loads(text), f"{model.__name__} without unknown members")
    return parsed


def bad_bodies_are_refused(base: str, binding: str, strict: raw.Strict) -> Callable[[], Any]:
    async def check() -> None:
        async with raw.wires(base, ("0.3", binding)) as (wire,):
            raw.refused(
                strict,
                [(what, await wire.send_body(body), code) for what, body, code in bad_requests.bodies(wire)],
            )

    return check


def bad_envelopes_are_refused(base: str) -> Callable[[], Any]:
    async def check() -> None:
        async with raw.wires(base, ("0.3", "jsonrpc")) as (wire,):
            replies = []
            for what, body, headers, code in bad_requests.envelopes(wire):
                replies.append((what, await wire.post_text(body, headers), code))
            raw.refused(StrictJsonRpc(), replies)

    return check


def bad_routes_are_refused(base: str) -> Callable[[], Any]:
    async def check() -> None:
        async with raw.wires(base, ("0.3", "rest")) as (wire,):
            equal((await wire.request("GET", "/v1/tasks")).status, 404, "there is no list in 0.3")
            equal((await wire.request("GET", "/v1/nowhere")).status, 404, "an unknown route")
            equal((await wire.request("DELETE", "/v1/message:send")).status, 405, "a wrong verb")
            versioned = await wire.request("POST", "/v1/message:send", {"A2A-Version": "7.1"}, json={})
            raw.refused(
                StrictRest(), [("a version nobody speaks", versioned, bad_requests.VERSION_NOT_SUPPORTED)]
            )

    return check


def add_to(checks: Checks, base: str) -> None:
    for binding, strict in (("jsonrpc", StrictJsonRpc()), ("rest", StrictRest())):
        raw.add_to(checks, base, ("0.3", binding), strict)
        check = bad_bodies_are_refused(base, binding, strict)
        checks.add("bad parameters are refused exactly", check, pair("0.3", binding))
    checks.add("bad envelopes are refused exactly", bad_envelopes_are_refused(base), pair("0.3", "jsonrpc"))
    checks.add("bad routes are refused exactly", bad_routes_are_refused(base), pair("0.3", "rest"))
