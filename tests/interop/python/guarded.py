"""Checks against a second server that asks for a token, lists its tenants and has an extended card.

`INTEROP_GUARDED` names it and `INTEROP_TOKEN` is its token.
"""

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import scripted
from harness import Checks, equal, true
from meaning import Json
from peer import Peer, everything, message

# The skill that only the extended card of the server tells of.
SKILL = "interop-inside"

Connect = Callable[[str, str | None], AbstractAsyncContextManager[Peer]]


def place() -> tuple[str, str]:
    """The server's address and its token."""
    return os.environ["INTEROP_GUARDED"], os.environ["INTEROP_TOKEN"]


def add_to(checks: Checks, pair: str, connect: Connect) -> None:
    """Adds the checks, named after their docstrings. `connect` takes the server's address and the token."""
    base, token = place()

    def add(check: Callable[[Any, Any], Any]) -> None:
        async def run() -> None:
            async with connect(base, token) as known, connect(base, None) as nobody:
                await check(known, nobody)

        checks.add(check.__doc__, run, pair)

    for check in (token_is_asked_for, extended_card):
        add(check)


async def token_is_asked_for(known: Peer, nobody: Peer) -> None:
    """calls without the token are refused as unauthenticated, and calls with it are served"""
    task = (await known.send(message(scripted.ECHO)))["task"]
    equal((await known.get(task["id"]))["status"]["state"], "completed", "the state")
    equal((await everything(known.stream(message(scripted.ECHO))))[0]["kind"], "task", "the first item")
    calls: dict[str, Any] = {
        "send": nobody.send(message(scripted.ECHO)),
        "stream": everything(nobody.stream(message(scripted.ECHO))),
        "get": nobody.get(task["id"]),
        "cancel": nobody.cancel(task["id"]),
        "extended card": nobody.extended_card(),
    }
    for name, call in calls.items():
        await refused_with(("401", "UNAUTHENTICATED", "CREDENTIALS ARE MISSING"), name, call)


async def refused_with(words: tuple[str, ...], name: str, call: Any) -> None:
    """Every SDK has an error of its own for a refusal that is none of A2A's; some of the words are in it."""
    try:
        answered = await call
    except Exception as refusal:  # whatever an SDK raises
        told = f"{refusal!r} {refusal}"
        true(any(word in told.upper() for word in words), f"{name}: refused with {told}")
        return
    raise AssertionError(f"{name} was answered: {answered!r}")


async def extended_card(known: Peer, _nobody: Peer) -> None:
    """the extended card tells callers with the token of more skills than the public one"""
    card: Json = await known.extended_card()
    ids = [skill["id"] for skill in card["skills"]]
    true(SKILL in ids and len(ids) > 1, f"the skills: {ids}")
