"""Checks on the text of the wire that are the same for both versions.

`Strict` is what a version brings along: parsers made from models that were written elsewhere.
"""

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol
from uuid import uuid4

import meaning
import scripted
from harness import Checks, equal, true, until
from meaning import Json
from peer import message
from peer import pair as pair_name
from wire import PAIRS, Frame, Reply, Stream, Wire, http_client


class Strict(Protocol):
    """Reads what a server says on one pair and finds the smallest fault."""

    def reply(self, operation: str, reply: Reply) -> None:
        """A successful answer to send, get, list or cancel."""

    def item(self, frame: Frame) -> None:
        """One item of a stream."""

    def refusal(self, reply: Reply, code: int) -> None:
        """An error with the JSON-RPC code `code`, as this pair spells it."""


@asynccontextmanager
async def wires(base: str, *pairs: tuple[str, str]):
    async with http_client() as http:
        yield [Wire(http, base, version, binding) for version, binding in pairs]


def add_to(checks: Checks, base: str, pair: tuple[str, str], strict: Strict) -> None:
    """Adds the checks of one pair, named after their docstrings."""

    def add(check: Callable[[Wire, Strict], Any]) -> None:
        async def run() -> None:
            async with wires(base, pair) as (wire,):
                await check(wire, strict)

        checks.add(check.__doc__, run, pair_name(*pair))

    for check in (answers_parse, streams_parse, cancel_parses, refusals_parse, resumes_at_a_cursor):
        add(check)


def refused(strict: Strict, replies: list[tuple[str, Reply, int]]) -> None:
    """Every reply is a refusal with its code; all that are not are named at once."""
    wrong = []
    for what, reply, code in replies:
        try:
            strict.refusal(reply, code)
        except AssertionError as error:
            wrong.append(f"{what}: {error}")
    true(not wrong, " | ".join(wrong))


async def answers_parse(wire: Wire, strict: Strict) -> None:
    """every answer to send and get parses strictly"""
    for trigger in scripted.KINDS_OF_TASKS:
        sent = await wire.send(message(trigger))
        _is_json(wire, sent)
        strict.reply("send", sent)
        task_id = _task_of(wire, sent)["id"]
        for length in (None, 1):
            read = await wire.get(task_id, length)
            _is_json(wire, read)
            strict.reply("get", read)
    strict.reply("send", await wire.send(message(scripted.BARE)))


async def streams_parse(wire: Wire, strict: Strict) -> None:
    """every item of every stream parses strictly and is framed as one data line with an id"""
    for trigger in (*scripted.KINDS_OF_TASKS, scripted.STREAM, scripted.BARE):
        stream = await wire.stream(message(trigger))
        _framed(stream)
        for frame in stream.frames:
            strict.item(frame)


async def cancel_parses(wire: Wire, strict: Strict) -> None:
    """the answer to cancel parses strictly"""
    task_id = await _start(wire, scripted.SLOW)

    async def state() -> str:
        return meaning.task((await wire.get(task_id)).result)["status"]["state"]

    await until(state, lambda found: found == "working", "the state working")
    canceled = await wire.cancel(task_id)
    strict.reply("cancel", canceled)
    equal(meaning.task(canceled.result)["status"]["state"], "canceled", "the state")


async def refusals_parse(wire: Wire, strict: Strict) -> None:
    """refusals have the shape and the code of the table"""
    done = _task_of(wire, await wire.send(message(scripted.ECHO)))
    absent = str(uuid4())
    strict.refusal(await wire.get(absent), -32001)
    strict.refusal(await wire.cancel(absent), -32001)
    strict.refusal(await wire.cancel(done["id"]), -32002)
    strict.refusal(await wire.send(message(scripted.ECHO, taskId=done["id"])), -32004)
    strict.refusal(await wire.send(message("", parts=[])), -32602)
    strict.refusal(await wire.get(done["id"], -1), -32602)


async def resumes_at_a_cursor(wire: Wire, strict: Strict) -> None:
    """Last-Event-ID resumes a stream exactly after that event"""
    task_id = await _start(wire, scripted.SLOW)
    is_open = asyncio.Event()
    # The first event of every task is its opening.
    following = asyncio.create_task(wire.subscribe(task_id, "1", is_open))
    await is_open.wait()
    await wire.cancel(task_id)
    stream = await following
    _framed(stream)
    for frame in stream.frames:
        strict.item(frame)
    events = [meaning.event(frame.result) for frame in stream.frames]
    equal(events[0]["task"]["status"]["state"], "submitted", "the state as of the cursor")
    equal(events[0]["task"]["artifacts"], [], "the artifacts as of the cursor")
    equal(events[1]["status"]["state"], "working", "the first event after the cursor")
    shown = meaning.shown(meaning.task((await wire.get(task_id)).result))
    equal(meaning.shown(meaning.fold(events)), shown, "the fold of the resumed stream")
    ids = [int(frame.id) for frame in stream.frames]
    equal(ids, sorted(set(ids)), "ids that only rise")


async def _start(wire: Wire, trigger: str) -> str:
    configuration = {"returnImmediately": True} if wire.version == "1.0" else {"blocking": False}
    return _task_of(wire, await wire.send(message(trigger), configuration))["id"]


def pairs_read_equal(base: str) -> Callable[[], Any]:
    """One task, read on all four pairs, means the same; made in turn on each of them."""

    async def check() -> None:
        async with wires(base, *PAIRS) as every:
            for number, trigger in enumerate(scripted.KINDS_OF_TASKS):
                maker = every[number % len(every)]
                made = _task_of(maker, await maker.send(message(trigger)))
                reads = {
                    (wire.version, wire.binding): meaning.task((await wire.get(made["id"])).result)
                    for wire in every
                }
                for pair, read in reads.items():
                    equal(read, reads[PAIRS[0]], f"{trigger!r} on {pair}, compared with {PAIRS[0]}")

    return check


def pairs_stream_equal(base: str) -> Callable[[], Any]:
    """One running task, followed on all four pairs, tells the same story."""

    async def check() -> None:
        async with wires(base, *PAIRS) as every:
            stories = []
            for wire in every:
                stream = await wire.stream(message(scripted.ARTIFACTS))
                stories.append([_anonymous(meaning.event(frame.result)) for frame in stream.frames])
            for (version, binding), story in zip(PAIRS, stories, strict=True):
                equal(story, stories[0], f"the story on {version} {binding}")

    return check


def _anonymous(event: Json) -> Json:
    """An event without ids and times, which differ between two tasks."""
    if event["kind"] == "artifact":
        parts = event["artifact"]["parts"]
        return {"artifact": parts, "append": event["append"], "last": event["last"]}
    return {event["kind"]: (event.get("status") or event["task"]["status"])["state"]}


def _task_of(wire: Wire, reply: Reply) -> Json:
    wrapped = (wire.version, wire.binding) != ("0.3", "jsonrpc")
    true(isinstance(reply.result, dict), f"send was refused: {reply.text}")
    return reply.result["task"] if wrapped else reply.result


def _is_json(wire: Wire, reply: Reply) -> None:
    equal(reply.status, 200, "the HTTP status")
    kind = "application/a2a+json" if (wire.version, wire.binding) == ("1.0", "rest") else "application/json"
    equal(reply.headers["content-type"].split(";")[0], kind, "the content type")


def _framed(stream: Stream) -> None:
    equal(stream.status, 200, "the HTTP status of a stream")
    equal(stream.headers["content-type"].split(";")[0], "text/event-stream", "the content type of a stream")
    equal(stream.headers.get("x-accel-buffering"), "no", "X-Accel-Buffering")
    true("no-" in stream.headers.get("cache-control", ""), "a stream is not cached")
    true("content-length" not in stream.headers, "a stream has no length")
    for frame in stream.frames:
        equal(sorted(name for name, _ in frame.fields), ["data", "id"], "the fields of a frame")
        true(frame.id.isdigit(), f"an id is a number: {frame.id!r}")
