"""Requests that are wrong in one way each, and the JSON-RPC code they are refused with."""

from collections.abc import Iterator
from typing import Any

import scripted
from meaning import Json
from peer import message
from wire import Wire

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
VERSION_NOT_SUPPORTED = -32009


def bodies(wire: Wire) -> Iterator[tuple[str, Any, int]]:
    """What is wrong, the parameters of a send, and the code."""
    parts = "content" if (wire.version, wire.binding) == ("0.3", "rest") else "parts"

    def without(member: str) -> Json:
        said = wire.spell(message(scripted.ECHO))
        return {"message": {key: value for key, value in said.items() if key != member}}

    def changed(**members: Any) -> Json:
        return {"message": {**wire.spell(message(scripted.ECHO)), **members}}

    yield "no message", {}, INVALID_PARAMS
    yield "no parts", without(parts), INVALID_PARAMS
    yield "empty parts", changed(**{parts: []}), INVALID_PARAMS
    yield "no role", without("role"), INVALID_PARAMS
    yield "an unknown role", changed(role="ROLE_ROBOT"), INVALID_PARAMS
    yield "no message id", without("messageId"), INVALID_PARAMS
    yield "a message id that is a number", changed(messageId=7), INVALID_PARAMS
    yield "a part without content", changed(**{parts: [{}]}), INVALID_PARAMS
    yield "a part of unknown kind", changed(**{parts: [{"kind": "video", "video": "x"}]}), INVALID_PARAMS
    yield "text that is a number", changed(**{parts: [{"kind": "text", "text": 5}]}), INVALID_PARAMS
    yield "metadata that is a list", changed(metadata=[1]), INVALID_PARAMS
    length = {**changed(), "configuration": {"historyLength": -1}}
    yield "a negative history length", length, INVALID_PARAMS


def envelopes(wire: Wire) -> Iterator[tuple[str, bytes | Any, Json, int]]:
    """What is wrong with a JSON-RPC request as a whole: the body, extra headers, the code."""
    send = "SendMessage" if wire.version == "1.0" else "message/send"
    whole = {"jsonrpc": "2.0", "id": 1, "method": send, "params": {}}
    yield "bad JSON", b'{"jsonrpc": "2.0", ', {}, PARSE_ERROR
    yield "a batch", [whole], {}, INVALID_REQUEST
    yield "another jsonrpc", {**whole, "jsonrpc": "1.0"}, {}, INVALID_REQUEST
    yield "an id that is an object", {**whole, "id": {}}, {}, INVALID_REQUEST
    yield "no method", {"jsonrpc": "2.0", "id": 1}, {}, INVALID_REQUEST
    yield "an unknown method", {**whole, "method": "tasks/vanish"}, {}, METHOD_NOT_FOUND
    if wire.version == "0.3":
        yield "a list", {**whole, "method": "tasks/list"}, {}, METHOD_NOT_FOUND
    yield "parameters that are a list", {**whole, "params": []}, {}, INVALID_PARAMS
    yield "a version nobody speaks", whole, {"A2A-Version": "7.1"}, VERSION_NOT_SUPPORTED
    other = "0.3" if wire.version == "1.0" else "1.0"
    yield "the method of another version", whole, {"A2A-Version": other}, METHOD_NOT_FOUND
