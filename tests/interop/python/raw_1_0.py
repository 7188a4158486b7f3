"""1.0 on the wire, parsed by the descriptors of the Python SDK 1.3.0, and errors by Google's own."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import A2A_ERROR_MAPPING, JSON_RPC_ERROR_CODE_MAP
from google.rpc import error_details_pb2

import bad_requests
import protojson
import raw
import scripted
from harness import Checks, equal, true
from peer import message, pair
from wire import Frame, Reply

DETAILS = {
    "type.googleapis.com/google.rpc.ErrorInfo": error_details_pb2.ErrorInfo,
    "type.googleapis.com/google.rpc.BadRequest": error_details_pb2.BadRequest,
}
MAPPING = {
    code: A2A_ERROR_MAPPING[error]
    for error, code in JSON_RPC_ERROR_CODE_MAP.items()
    if error in A2A_ERROR_MAPPING
}
MODELS = {
    "send": pb.SendMessageResponse,
    "get": pb.Task,
    "cancel": pb.Task,
    "list": pb.ListTasksResponse,
}


class StrictJsonRpc:
    """See `raw.Strict`."""

    def reply(self, operation: str, reply: Reply) -> None:
        equal(set(reply.body), {"jsonrpc", "id", "result"}, f"the members of {reply.text}")
        protojson.parse(reply.result, MODELS[operation]())

    def item(self, frame: Frame) -> None:
        equal(set(frame.body), {"jsonrpc", "id", "result"}, f"the members of {frame.text}")
        protojson.parse(frame.result, pb.StreamResponse())

    def refusal(self, reply: Reply, code: int) -> None:
        equal(reply.status, 200, f"the HTTP status of a refusal: {reply.text}")
        equal(set(reply.body), {"jsonrpc", "id", "error"}, f"the members of {reply.text}")
        error = reply.body["error"]
        equal(error["code"], code, f"the code of {reply.text}")
        true(error["message"], "a refusal has a message")
        true(set(error) <= {"code", "message", "data"}, f"the members of {reply.text}")
        _details(error.get("data"), code)


class StrictRest:
    """See `raw.Strict`."""

    def reply(self, operation: str, reply: Reply) -> None:
        protojson.parse(reply.body, MODELS[operation]())

    def item(self, frame: Frame) -> None:
        protojson.parse(frame.body, pb.StreamResponse())

    def refusal(self, reply: Reply, code: int) -> None:
        equal(set(reply.body), {"error"}, f"the members of {reply.text}")
        error = reply.body["error"]
        equal(set(error), {"code", "status", "message", "details"}, f"the members of {reply.text}")
        equal((error["code"], error["status"]), MAPPING[code][:2], f"the status of {reply.text}")
        equal(reply.status, error["code"], "the HTTP status")
        equal(reply.headers["content-type"].split(";")[0], "application/a2a+json", "the content type")
        _details(error["details"], code)


def _details(details: Any, code: int) -> None:
    true(isinstance(details, list), f"details are a list: {details!r}")
    reasons = []
    for detail in details:
        kind = detail["@type"]
        true(kind in DETAILS, f"a detail of unknown type {kind}")
        parsed = protojson.parse(
            {key: value for key, value in detail.items() if key != "@type"}, DETAILS[kind]()
        )
        if isinstance(parsed, error_details_pb2.ErrorInfo):
            equal(parsed.domain, "a2a-protocol.org", "the domain")
            reasons.append(parsed.reason)
    if code in MAPPING:
        equal(reasons, [MAPPING[code].reason], "the reason")
    if code == bad_requests.INVALID_PARAMS:
        true(
            any(detail["@type"].endswith("BadRequest") for detail in details), f"field violations: {details}"
        )


def pure_card_parses(base: str) -> Callable[[], Any]:
    async def check() -> None:
        async with raw.wires(base, ("1.0", "rest"), ("0.3", "rest")) as (new, old):
            for path in ("/.well-known/agent-card.json", "/.well-known/agent.json"):
                pure = await new.request("GET", path)
                equal(pure.headers["content-type"].split(";")[0], "application/json", "the content type")
                protojson.parse(pure.body, pb.AgentCard())
                both = await old.request("GET", path)
                for member in ("supportedInterfaces", "url", "preferredTransport", "protocolVersion"):
                    true(member in both.body, f"{member} in the card for both versions")
                true(
                    "A2A-Version".lower() in both.headers.get("vary", "").lower(),
                    "the card varies by version",
                )
                true(pure.headers["etag"] != both.headers["etag"], "each form has its own tag")
                again = await new.http.get(
                    base + path, headers={"A2A-Version": "1.0", "If-None-Match": pure.headers["etag"]}
                )
                equal((again.status_code, again.text), (304, ""), "a card that did not change")

    return check


def lists_parse(base: str, binding: str, strict: raw.Strict) -> Callable[[], Any]:
    async def check() -> None:
        async with raw.wires(base, ("1.0", binding)) as (wire,):
            context = f"interop-{uuid4()}"
            for trigger in (scripted.ECHO, scripted.ARTIFACTS, scripted.ASK):
                await wire.send(message(trigger, contextId=context))
            for more in (
                {},
                {"includeArtifacts": True},
                {"pageSize": 1},
                {"historyLength": 0},
                {"status": "TASK_STATE_FAILED"},
            ):
                listed = await wire.list({"contextId": context, **more})
                strict.reply("list", listed)
                for task in listed.result["tasks"]:
                    equal("artifacts" in task, "includeArtifacts" in more, f"artifacts in a list with {more}")
            strict.refusal(await wire.list({"pageSize": 0}), bad_requests.INVALID_PARAMS)
            strict.refusal(await wire.list({"status": "TASK_STATE_LOST"}), bad_requests.INVALID_PARAMS)

    return check


def bad_bodies_are_refused(base: str, binding: str, strict: raw.Strict) -> Callable[[], Any]:
    async def check() -> None:
        async with raw.wires(base, ("1.0", binding)) as (wire,):
            raw.refused(
                strict,
                [(what, await wire.send_body(body), code) for what, body, code in bad_requests.bodies(wire)],
            )

    return check


def bad_envelopes_are_refused(base: str) -> Callable[[], Any]:
    async def check() -> None:
        async with raw.wires(base, ("1.0", "jsonrpc")) as (wire,):
            replies = []
            for what, body, headers, code in bad_requests.envelopes(wire):
                replies.append((what, await wire.post_text(body, headers), code))
            raw.refused(StrictJsonRpc(), replies)

    return check


def bad_routes_are_refused(base: str) -> Callable[[], Any]:
    async def check() -> None:
        async with raw.wires(base, ("1.0", "rest")) as (wire,):
            equal((await wire.request("GET", "/nowhere/at/all")).status, 404, "an unknown route")
            equal((await wire.request("DELETE", "/message:send")).status, 405, "a wrong verb")
            crossed = await wire.request("POST", "/v1/message:send", json={})
            true(crossed.status >= 400, "a 0.3 route with the version 1.0")
            versioned = await wire.request("POST", "/message:send", {"A2A-Version": "7.1"}, json={})
            raw.refused(
                StrictRest(), [("a version nobody speaks", versioned, bad_requests.VERSION_NOT_SUPPORTED)]
            )
            text = await wire.request(
                "POST", "/message:send", {"Content-Type": "text/plain"}, content=b"hello"
            )
            true(text.status in (400, 415), f"a body that is not JSON: {text.status}")

    return check


def add_to(checks: Checks, base: str) -> None:
    checks.add("the card of 1.0 parses strictly and can be cached", pure_card_parses(base))
    for binding, strict in (("jsonrpc", StrictJsonRpc()), ("rest", StrictRest())):
        raw.add_to(checks, base, ("1.0", binding), strict)
        checks.add("lists parse strictly", lists_parse(base, binding, strict), pair("1.0", binding))
        check = bad_bodies_are_refused(base, binding, strict)
        checks.add("bad parameters are refused exactly", check, pair("1.0", binding))
    checks.add("bad envelopes are refused exactly", bad_envelopes_are_refused(base), pair("1.0", "jsonrpc"))
    checks.add("bad routes are refused exactly", bad_routes_are_refused(base), pair("1.0", "rest"))
