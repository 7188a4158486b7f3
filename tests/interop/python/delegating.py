"""A session of attache gives tasks to an agent on the server of an SDK: the checks, and the server that delegates."""

import asyncio
import os
import tempfile
from pathlib import Path

from harness import Checks, equal, true

START_SECONDS = 30.0

SCRIPT = """rules:
  - text: '^delegate (?s:(.+))$'
    steps:
      - call: { tool: invoke_agent, input: { agent_name: peer, prompt: '{{1}}' } }
      - say: '{{result}}'
"""


class Session:
    """`attache serve` whose model delegates what it is told to the agent at `url`."""

    def __init__(self, program: str, url: str) -> None:
        self.program, self.agent, self.url = str(Path(program).resolve()), url, ""

    async def __aenter__(self) -> "Session":
        self.home = tempfile.TemporaryDirectory()
        home = Path(self.home.name)
        (home / ".gemini/agents").mkdir(parents=True)
        (home / ".gemini/settings.json").write_text('{"experimental": {"enableAgents": true}}')
        (home / ".gemini/agents/peer.md").write_text(
            f"---\nkind: remote\nname: peer\nagent_card_url: {self.agent}/.well-known/agent-card.json\n---\n"
        )
        (home / "script.yaml").write_text(SCRIPT)
        self.process = await asyncio.create_subprocess_exec(
            self.program, "serve", "--trust", "--port", "0", "--store", "memory:", "--approval-mode", "yolo",
            "--model", f"script:{home / 'script.yaml'}", env={"HOME": str(home), "NO_COLOR": "1"}, cwd=home,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )
        async with asyncio.timeout(START_SECONDS):
            while line := await self.process.stdout.readline():
                if b"listening on " in line:
                    self.url = line.decode().split()[-1]
                    return self
        raise RuntimeError("attache ended before it listened")

    async def __aexit__(self, *_: object) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        self.home.cleanup()

    async def call(self, prompt: str, *arguments: str, code: int = 0) -> tuple[str, str]:
        """What the session says about what it delegated."""
        process = await asyncio.create_subprocess_exec(
            self.program, "call", self.url, f"delegate {prompt}", *arguments,
            env={"HOME": os.getcwd(), "NO_COLOR": "1"}, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )
        out, err = (text.decode() for text in await process.communicate())
        equal(process.returncode, code, f"the exit code of {prompt} ({out}{err})")
        return out, err


def add(checks: Checks, session: Session) -> None:
    async def speaks() -> None:
        true("one two three" in (await session.call("conformance chunks"))[0], "the pieces as one text")
        true("Just a message." in (await session.call("conformance message"))[0], "a bare message")

    async def fails() -> None:
        for word, words in [("fail", "It did not work."), ("reject", "Not for me.")]:
            out, _ = await session.call(f"conformance {word}")
            true(words in out and "The agent peer failed: its task ended as" in out, out)

    async def asks() -> None:
        _, err = await session.call("conformance ask", code=6)
        true("the agent peer asks:" in err and "Which one?" in err, err)
        out, _ = await session.call("conformance ask", "--answer", "the first")
        true("The person answered: the first" in out and "done" in out, out)

    async def sends_files() -> None:
        out, _ = await session.call("conformance parts")
        true("words" in out and "The agent sent files:" in out and "(4 bytes)" in out, out)
        true("https://example.com/file.txt" in out, out)

    for what, check in [
        ("what the agent says comes back", speaks), ("a task that fails is reported with its text", fails),
        ("a question is answered by the person", asks), ("files are saved and named", sends_files),
    ]:
        checks.add(f"a session delegates: {what}", check, "-")


def add_echo(checks: Checks, session: Session) -> None:
    """The same for an agent that says again what it hears."""

    async def speaks() -> None:
        out, _ = await session.call("hello there")
        true("You said: hello there" in out, out)

    async def fails() -> None:
        out, _ = await session.call("fail")
        true("You said: fail" in out and "The agent peer failed: its task ended as" in out, out)

    async def sends_files() -> None:
        out, _ = await session.call("send a file")
        true("The agent sent files:" in out and "(4 bytes)" in out, out)

    for what, check in [
        ("what the agent says comes back", speaks), ("a task that fails is reported with its text", fails),
        ("files are saved and named", sends_files),
    ]:
        checks.add(f"a session delegates: {what}", check, "-")
