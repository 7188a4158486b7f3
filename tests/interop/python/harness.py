"""Runs named checks against a server and prints one line for each.

A line is `ok NAME`, `not ok NAME: REASON` or `skip NAME: REASON`, where a name is `PROGRAM | PAIR | WHAT`: which
version and binding was spoken, or `-` where that does not matter, and what was found to be so. Checks do not depend on
each other: several run at once, each under its own time limit, and the lines keep the order in which the checks
were added. Not here: anything that knows A2A.
"""

import asyncio
import sys
import time
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

CHECK_LIMIT_SECONDS = 12.0
PROGRAM_LIMIT_SECONDS = 120.0
CHECKS_AT_ONCE = 4

Check = Callable[[], Awaitable[None]]


class Skip(Exception):
    """Raised by a check that does not apply, with the reason."""


class Checks:
    """The checks of one program, in the order in which they are reported."""

    def __init__(self, program: str) -> None:
        self.program = program
        self._checks: list[tuple[str, Check]] = []

    def add(self, what: str, check: Check, pair: str = "-") -> None:
        self._checks.append((f"{self.program} | {pair} | {what}", check))

    async def run(self) -> int:
        """Runs everything and gives the exit code."""
        # SDKs leave their own generators to the collector when a stream is left early, and it complains.
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
        deadline = time.monotonic() + PROGRAM_LIMIT_SECONDS
        turnstile = asyncio.Semaphore(CHECKS_AT_ONCE)
        running = [asyncio.create_task(_run_one(check, turnstile, deadline)) for _, check in self._checks]
        failures = 0
        for (name, _), outcome in zip(self._checks, running, strict=True):
            verdict, reason = await outcome
            failures += verdict == "not ok"
            print(f"{verdict} {name}" + (f": {reason}" if reason else ""), flush=True)
        return 1 if failures or not self._checks else 0


async def _run_one(check: Check, turnstile: asyncio.Semaphore, deadline: float) -> tuple[str, str]:
    async with turnstile:
        limit = min(CHECK_LIMIT_SECONDS, deadline - time.monotonic())
        if limit <= 0:
            return "not ok", "the program ran out of time before this check"
        try:
            await asyncio.wait_for(check(), limit)
        except Skip as skip:
            return "skip", _one_line(str(skip))
        except TimeoutError:
            return "not ok", f"no result within {limit:.0f} seconds"
        except AssertionError as error:
            return "not ok", _one_line(str(error) or "an assertion failed at " + _place(error))
        except Exception as error:  # whatever an SDK raises is a finding, not a crash of the program
            return "not ok", _one_line(f"{type(error).__name__}: {error} ({_place(error)})")
        return "ok", ""


def equal(actual: Any, expected: Any, what: str) -> None:
    if actual != expected:
        raise AssertionError(f"{what}: expected {expected!r}, found {actual!r}")


def true(condition: Any, what: str) -> None:
    if not condition:
        raise AssertionError(what)


async def until(
    probe: Callable[[], Awaitable[Any]], accept: Callable[[Any], bool], what: str, seconds: float = 6.0
) -> Any:
    """Asks again and again until the answer is accepted."""
    give_up = time.monotonic() + seconds
    while True:
        answer = await probe()
        if accept(answer):
            return answer
        if time.monotonic() > give_up:
            raise AssertionError(f"{what} did not happen within {seconds:.0f} seconds; last seen: {answer!r}")
        await asyncio.sleep(0.05)


def main(run: Callable[[str], Awaitable[int]]) -> None:
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} BASE_URL")
    sys.exit(asyncio.run(run(sys.argv[1].rstrip("/"))))


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "site-packages" not in frame.filename]
    frame = (own or frames)[-1]
    return f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 2000 else line[:2000] + "…"
