"""Checks that a task is the same one on every binding: read where it was not made, and joined where it does not run."""

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from itertools import permutations
from typing import Any

import following
import scripted
from harness import Checks, equal
from meaning import Json
from peer import BINDINGS, Peer, message, pair

Connect = Callable[[str], AbstractAsyncContextManager[Peer]]


def add_to(checks: Checks, version: str, bindings: Iterable[str], connect: Connect) -> None:
    """Adds the checks for every binding and every other one. Told under the binding that comes second."""
    for one, other in permutations(bindings, 2):
        begun = BINDINGS[one]
        name = pair(version, other)
        checks.add(f"a task made over {begun} reads equal", _reads_equal(connect, one, other), name)
        checks.add(f"a stream begun over {begun} is joined without a gap", _joins(connect, one, other), name)


def add_across_versions(checks: Checks, connect: Callable[[str, str], AbstractAsyncContextManager[Peer]]) -> None:
    """Adds the checks that one version joins what the other began, over the next binding."""
    bindings = list(BINDINGS)
    for one, other in zip(bindings, bindings[1:] + bindings[:1], strict=True):
        for begun, joined in (("1.0", "0.3"), ("0.3", "1.0")):

            async def check(one: str = one, other: str = other, begun: str = begun, joined: str = joined) -> None:
                async with connect(one, begun) as first, connect(other, joined) as second:
                    await following.joins_without_gap(first, second)

            what = f"a stream of {begun} begun over {BINDINGS[one]} is joined without a gap"
            checks.add(what, check, pair(joined, other))


def _reads_equal(connect: Connect, one: str, other: str) -> Callable[[], Any]:
    async def check() -> None:
        async with connect(one) as maker, connect(other) as reader:
            for trigger in scripted.KINDS_OF_TASKS:
                made = (await maker.send(message(trigger)))["task"]
                bytes_too = maker.reads_file_bytes and reader.reads_file_bytes
                equal(_shown(await reader.get(made["id"]), bytes_too), _shown(made, bytes_too), f"{trigger!r}")

    return check


def _joins(connect: Connect, one: str, other: str) -> Callable[[], Any]:
    async def check() -> None:
        async with connect(one) as first, connect(other) as second:
            await following.joins_without_gap(first, second)

    return check


def _shown(task: Json, bytes_too: bool) -> Json:
    """A task without what not every SDK shows on every binding: the time of its status, and the bytes of files."""
    artifacts = task["artifacts"]
    if not bytes_too:
        artifacts = [
            {**one, "parts": [{**part, "raw": None} if "raw" in part else part for part in one["parts"]]}
            for one in artifacts
        ]
    return {**task, "status": {**task["status"], "at": None}, "artifacts": artifacts}
