"""Checks of streams: their order, their fold, joining and leaving them, and cancelling."""

import asyncio
from contextlib import aclosing

import meaning
import scripted
from harness import equal, true
from meaning import Json
from peer import UNSUPPORTED_OPERATION, Peer, answer, everything, message, reaches, refusal, sent, started


async def stream_in_order(peer: Peer) -> None:
    """stream shows the task first, then work, deltas and one last status"""
    events = await everything(peer.stream(message(scripted.STREAM)))
    equal(events[0]["kind"], "task", "the first item")
    task = events[0]["task"]
    true(task["status"]["state"] in ("submitted", "working"), "the first item is an unfinished task")
    kinds = [event["kind"] for event in events]
    if task["status"]["state"] == "submitted":
        equal(events[1].get("status", {}).get("state"), "working", "the second item's state")
    deltas = [event for event in events if event["kind"] == "artifact"]
    # Pieces said while the log is busy go out as one.
    true(len(deltas) >= 2, f"several deltas, found {len(deltas)}")
    equal(
        "".join(meaning.text(event["artifact"]["parts"]) for event in deltas),
        scripted.STREAM_ANSWER,
        "the text",
    )
    equal({event["artifact"]["id"] for event in deltas}, {deltas[0]["artifact"]["id"]}, "the artifact ids")
    equal([event["append"] for event in deltas], [False] + [True] * (len(deltas) - 1), "append of the deltas")
    equal(
        [event["last"] for event in deltas], [False] * (len(deltas) - 1) + [True], "lastChunk of the deltas"
    )
    equal(kinds[-1], "status", "the last item")
    equal(events[-1]["status"]["state"], "completed", "the last state")
    for event in events[1:]:
        equal((event["task_id"], event["context"]), (task["id"], task["context"]), "where an event belongs")


async def final_marks_the_end(peer: Peer) -> None:
    """only the last status of a stream says that it is final"""
    events = await everything(peer.stream(message(scripted.STREAM)))
    finals = [event["final"] for event in events if event["kind"] == "status"]
    equal(finals, [False] * (len(finals) - 1) + [True], "final of the status events")


async def stream_folds_to_the_task(peer: Peer) -> None:
    """the fold of a stream equals the task that get shows"""
    for trigger in (scripted.STREAM, *scripted.KINDS_OF_TASKS):
        events = await everything(peer.stream(message(trigger)))
        shown = meaning.shown(await peer.get(events[0]["task"]["id"]))
        equal(meaning.shown(meaning.fold(events)), shown, f"the fold of {trigger!r}")
        if "folded" in events[-1]:
            equal(meaning.shown(events[-1]["folded"]), shown, f"the SDK's own fold of {trigger!r}")


async def chunked_artifact(peer: Peer) -> None:
    """a chunked artifact arrives in pieces that append, the last one marked"""
    events = await everything(peer.stream(message(scripted.ARTIFACTS)))
    pieces = [event for event in events if event["kind"] == "artifact" and event["artifact"]["id"] == "text"]
    equal([meaning.text(piece["artifact"]["parts"]) for piece in pieces], ["abc", "def", "ghi"], "the pieces")
    equal([piece["append"] for piece in pieces], [False, True, True], "append")
    equal([piece["last"] for piece in pieces], [False, False, True], "lastChunk")


async def resubscribe_has_no_gap(peer: Peer) -> None:
    """resubscribe in the middle of a stream sees the rest without gap or repeat"""
    await joins_without_gap(peer, peer)


async def joins_without_gap(peer: Peer, other: Peer) -> None:
    """What one peer streams another joins in the middle, perhaps over another binding."""
    for _ in range(10):
        first, late = await _two_streams(peer, other)
        if late and late[0]["task"]["status"]["state"] == "working":
            break
    else:
        raise AssertionError("ten streams were over before a second connection could join them")
    true(len(late) > 1, "live events after the snapshot")
    tail = [_bare(event) for event in late[1:]]
    equal(tail, [_bare(event) for event in first[-len(tail) :]], "the live events of both streams")
    task_id = first[0]["task"]["id"]
    equal(
        meaning.shown(meaning.fold(late)), meaning.shown(await other.get(task_id)), "the fold of the late stream"
    )
    equal(
        meaning.shown(meaning.fold(first)), meaning.shown(await peer.get(task_id)), "the fold of the first stream"
    )


async def _two_streams(peer: Peer, other: Peer) -> tuple[list[Json], list[Json]]:
    """A whole stream and one that joined it after the first delta; empty if that one came too late."""
    first: list[Json] = []
    second = None
    async with aclosing(peer.stream(message(scripted.STREAM))) as stream:
        async for event in stream:
            first.append(event)
            if event["kind"] == "artifact" and second is None:
                second = asyncio.create_task(_joined(other, first[0]["task"]["id"]))
    true(second is not None, "the stream has a delta")
    return first, await second


async def _joined(peer: Peer, task_id: str) -> list[Json]:
    events, code = await peer.attempt(everything(peer.resubscribe(task_id)))
    true(code in (None, UNSUPPORTED_OPERATION), f"a late connection is refused with {code}")
    return events or []


def _bare(event: Json) -> Json:
    """An event without what an SDK adds to it or shows on one binding only: the time of a status is not on all."""
    shown = {key: value for key, value in event.items() if key not in ("folded", "final")}
    return {**shown, "status": {**shown["status"], "at": None}} if "status" in shown else shown


async def resubscribe_after_the_end(peer: Peer) -> None:
    """resubscribe to a finished task follows the rule of the version"""
    done = await sent(peer, scripted.ECHO)
    if peer.version == "0.3":
        equal([one["task"] for one in await everything(peer.resubscribe(done["id"]))], [done], "the stream")
    else:
        code = await refusal(peer, everything(peer.resubscribe(done["id"])))
        equal(code, UNSUPPORTED_OPERATION, "the refusal")


async def leaving_does_not_stop(peer: Peer) -> None:
    """a client that leaves its stream does not stop the task"""
    async with aclosing(peer.stream(message(scripted.STREAM))) as stream:
        task_id = (await anext(stream))["task"]["id"]
    equal(answer(await reaches(peer, task_id, "completed")), scripted.STREAM_ANSWER, "the answer")


async def cancel_running(peer: Peer) -> None:
    """cancel stops a running task"""
    task = await started(peer, scripted.SLOW)
    await reaches(peer, task["id"], "working")
    equal((await peer.cancel(task["id"]))["status"]["state"], "canceled", "the state that cancel shows")
    equal((await peer.get(task["id"]))["status"]["state"], "canceled", "the state that get shows")


async def cancel_waiting(peer: Peer) -> None:
    """cancel stops a task that waits for input"""
    task = await sent(peer, scripted.ASK)
    equal((await peer.cancel(task["id"]))["status"]["state"], "canceled", "the state that cancel shows")


async def cancel_reaches_every_stream(peer: Peer) -> None:
    """cancel ends every open stream of the task with the canceled status"""
    async with aclosing(peer.stream(message(scripted.SLOW))) as first:
        task_id = (await anext(first))["task"]["id"]
        await reaches(peer, task_id, "working")
        async with aclosing(peer.resubscribe(task_id)) as second:
            equal((await anext(second))["kind"], "task", "the first item after resubscribing")
            await peer.cancel(task_id)
            for stream in (first, second):
                rest = [event async for event in stream]
                equal(rest[-1]["status"]["state"], "canceled", "the last status of a stream")
