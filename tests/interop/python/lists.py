"""Checks of listing tasks, which only 1.0 has. Each works in a context of its own."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from google.protobuf.json_format import MessageToDict

import meaning
import scripted
from harness import Checks, equal, true
from peer import INVALID_PARAMS, message, refusal


def add_to(checks: Checks, pair: str, connect: Callable[[], Any]) -> None:
    """Adds the checks, named after their docstrings."""

    def add(check: Callable[[Any], Any]) -> None:
        async def run() -> None:
            async with connect() as peer:
                await check(peer)

        checks.add(check.__doc__, run, pair)

    for check in (newest_first, pages, filters, artifacts_on_request, history, bad_filters):
        add(check)


async def _context(peer: Any, *triggers: str) -> tuple[str, list[meaning.Json]]:
    """A context with one settled task for each trigger, oldest first."""
    context = f"interop-{uuid4()}"
    made = [(await peer.send(message(trigger, contextId=context)))["task"] for trigger in triggers]
    return context, made


async def newest_first(peer: Any) -> None:
    """list shows the tasks of a context, newest first"""
    context, made = await _context(peer, scripted.ECHO, scripted.FAIL, scripted.ASK)
    listed = await peer.list(contextId=context)
    tasks = [meaning.task(MessageToDict(task)) for task in listed.tasks]
    equal({task["id"] for task in tasks}, {task["id"] for task in made}, "the tasks")
    times = [task["status"]["at"] for task in tasks]
    equal(times, sorted(times, reverse=True), "the order")
    equal((listed.total_size, listed.page_size, listed.next_page_token), (3, 50, ""), "the frame of the page")
    nothing = await peer.list(contextId=f"interop-{uuid4()}")
    equal((len(nothing.tasks), nothing.total_size), (0, 0), "an unknown context")


async def pages(peer: Any) -> None:
    """list gives every task once over several pages"""
    context, made = await _context(peer, *[scripted.ECHO] * 5)
    seen, token, sizes = [], "", []
    while True:
        page = await peer.list(contextId=context, pageSize=2, pageToken=token)
        equal((page.page_size, page.total_size), (2, 5), "the frame of a page")
        seen += [task.id for task in page.tasks]
        sizes.append(len(page.tasks))
        token = page.next_page_token
        if not token:
            break
        true(len(sizes) < 5, "pages come to an end")
    equal(sizes, [2, 2, 1], "the sizes of the pages")
    equal(sorted(seen), sorted(task["id"] for task in made), "every task once")
    # A task made later does not disturb the pages after the first.
    first = await peer.list(contextId=context, pageSize=3)
    await peer.send(message(scripted.ECHO, contextId=context))
    rest = await peer.list(contextId=context, pageSize=3, pageToken=first.next_page_token)
    equal([task.id for task in (*first.tasks, *rest.tasks)], seen, "pages across an insert")


async def filters(peer: Any) -> None:
    """list filters by state and by time"""
    context, (echoed, failed, asked) = await _context(peer, scripted.ECHO, scripted.FAIL, scripted.ASK)
    by_state = await peer.list(contextId=context, status="TASK_STATE_FAILED")
    equal([task.id for task in by_state.tasks], [failed["id"]], "failed tasks")
    every = await peer.list(contextId=context)
    newest = every.tasks[0].status.timestamp
    later = await peer.list(contextId=context, statusTimestampAfter=newest.ToJsonString())
    expected = [task.id for task in every.tasks if task.status.timestamp == newest]
    equal([task.id for task in later.tasks], expected, "tasks from the newest on, itself included")
    none = await peer.list(contextId=context, statusTimestampAfter="2999-01-01T00:00:00Z")
    equal(len(none.tasks), 0, "tasks of the far future")


async def artifacts_on_request(peer: Any) -> None:
    """list shows artifacts only when asked"""
    context, (made,) = await _context(peer, scripted.ECHO)
    plain = await peer.list(contextId=context)
    equal(len(plain.tasks[0].artifacts), 0, "artifacts without asking")
    full = await peer.list(contextId=context, includeArtifacts=True)
    equal(meaning.task(MessageToDict(full.tasks[0]))["artifacts"], made["artifacts"], "artifacts on request")


async def history(peer: Any) -> None:
    """list trims the history as asked"""
    context, (made,) = await _context(peer, scripted.ECHO)
    one = await peer.list(contextId=context, historyLength=1)
    equal(
        [meaning.message(MessageToDict(said)) for said in one.tasks[0].history],
        made["history"][-1:],
        "one message",
    )
    none = await peer.list(contextId=context, historyLength=0)
    equal(len(none.tasks[0].history), 0, "no message")


async def bad_filters(peer: Any) -> None:
    """list refuses page sizes out of bounds and tokens it did not make"""
    for filters in (
        {"pageSize": 0},
        {"pageSize": 101},
        {"pageSize": -1},
        {"pageToken": "?"},
        {"historyLength": -1},
    ):
        equal(await refusal(peer, peer.list(**filters)), INVALID_PARAMS, f"{filters}")
