"""The conversation that every framework is taken through, and how its steps are told.

A program subclasses `Client` for one framework and calls `main`. See ../README.md.
"""

import asyncio
import os
import sys
import traceback

POEM_PROMPT = "Please recite the poem."
POEM = "The quick brown fox\njumps over the lazy dog."
NOTES_PROMPT = "Please write the notes."
NOTES = "The notes are written.\nNothing else was changed."
GOODBYE_PROMPT = "Please say goodbye."
GOODBYE = "Goodbye, and thanks for the notes."

# What a framework shows that hides the question and tells only the state of the task.
WAITS = "input-required"

# Seconds.
LIMIT = 30

# Several frameworks print to standard output, also from threads, so only the lines of the steps go there.
REPORT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


class Missing(Exception):
    """The framework has no means for this step."""


class Client:
    """A framework as the client of a remote agent."""

    async def connect(self, url: str) -> None:
        """Finds the agent at `url` by its card."""
        raise NotImplementedError

    async def conversation(self):
        """Begins a conversation: an async function from a prompt to the text of the answer, or of the question."""
        raise NotImplementedError

    async def ask(self, prompt: str) -> str:
        """The answer to a prompt in a conversation of its own."""
        send = await self.conversation()
        return await send(prompt)

    async def pieces(self, prompt: str) -> list[str]:
        """The answer to a prompt, piece by piece as it arrives."""
        raise NotImplementedError


class Steps:
    def __init__(self):
        self.failed = False

    async def step(self, name: str, work) -> bool:
        """Runs one step and prints its line; true when it is ok."""
        try:
            await asyncio.wait_for(work, LIMIT)
        except Missing as reason:
            print(f"skip {name}: {line(reason)}", file=REPORT, flush=True)
            return False
        except Exception as error:
            if os.environ.get("FRAMEWORKS_TRACE") and not isinstance(error, Unexpected):
                traceback.print_exc()
            self.failed = True
            print(f"not ok {name}: {line(error)}", file=REPORT, flush=True)
            return False
        print(f"ok {name}", file=REPORT, flush=True)
        return True


class Unexpected(Exception):
    """The framework showed something else."""


def expect(found, expected: str) -> None:
    if not isinstance(found, str):
        raise Unexpected(f"no text but {found!r}")
    if found.strip() != expected:
        raise Unexpected(f"it shows {found!r}")


async def run(client: Client, url: str) -> int:
    steps = Steps()
    connected = await steps.step("connect", client.connect(url))

    async def exact_text():
        need(connected, "not connected")
        expect(await client.ask(POEM_PROMPT), POEM)

    async def stream():
        need(connected, "not connected")
        pieces = await client.pieces(POEM_PROMPT)
        expect("".join(pieces), POEM)
        need(len([piece for piece in pieces if piece]) > 1, "all of it arrives as one piece")

    send = None

    async def approval():
        nonlocal send
        need(connected, "not connected")
        send = await client.conversation()
        question = await send(NOTES_PROMPT)
        need(isinstance(question, str), f"no text but {question!r}")
        asks = "notes.txt" in question and "yes or no" in question
        need(asks or question == WAITS, f"it shows {question!r}")

    async def text_after_approval():
        need(send, "there is no conversation")
        expect(await send("yes"), NOTES)

    async def second_message():
        need(send, "there is no conversation")
        expect(await send(GOODBYE_PROMPT), GOODBYE)

    await steps.step("exact text", exact_text())
    await steps.step("stream", stream())
    await steps.step("approval", approval())
    await steps.step("text after approval", text_after_approval())
    await steps.step("second message", second_message())
    return 1 if steps.failed else 0


def need(found, reason: str) -> None:
    if not found:
        raise Unexpected(reason)


def line(error: Exception) -> str:
    """A reason on one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else f"{text[:300]}…"


def main(client: Client) -> None:
    code = asyncio.run(run(client, sys.argv[1].rstrip("/")))
    sys.stdout.flush()
    sys.stderr.flush()
    # Some frameworks leave threads behind that would keep the program waiting.
    os._exit(code)
