"""`attache call` against an agent on the server of an SDK or framework: the checks, and how to run the program.

An agent obeys steering words: `conformance WORD`. Not here: the agents, which other programs start.
"""

import asyncio
import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

import delegating
from harness import Checks, equal, true

START_SECONDS = 30.0
FILE = "four.bin"


class Agent:
    """A program that prints `listening on URL`."""

    def __init__(self, *command: str) -> None:
        self.command = command
        self.url = ""

    async def __aenter__(self) -> "Agent":
        self.process = await asyncio.create_subprocess_exec(
            *self.command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            env=os.environ | {"EXTENDED_CARD": "1"},
        )
        async with asyncio.timeout(START_SECONDS):
            while line := await self.process.stdout.readline():
                if line.startswith(b"listening on "):
                    self.url = line.decode().split()[-1]
                    return self
        raise RuntimeError(f"{' '.join(self.command)} ended before it listened")

    async def __aexit__(self, *_: object) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()


class Caller:
    """Runs `attache call`."""

    def __init__(self, program: str, url: str, flags: tuple[str, ...] = ()) -> None:
        self.program, self.url, self.flags = str(Path(program).resolve()), url, flags

    async def call(self, *arguments: str, code: int = 0) -> tuple[str, str]:
        """What was printed on standard output and standard error."""
        process = await asyncio.create_subprocess_exec(
            self.program, "call", self.url, *arguments, *self.flags,
            env={"HOME": os.getcwd(), "NO_COLOR": "1"}, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )
        out, err = (text.decode() for text in await process.communicate())
        equal(process.returncode, code, f"the exit code of call {' '.join(arguments)} ({out}{err})")
        return out, err

    async def events(self, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
        out, _ = await self.call(*arguments, "--json", code=code)
        return [json.loads(line) for line in out.splitlines()]


def task_id(events: list[dict[str, Any]]) -> str:
    for event in events:
        if "task" in event:
            return event["task"]["id"]
        for update in ("statusUpdate", "artifactUpdate"):
            if update in event:
                return event[update]["taskId"]
    raise AssertionError(f"no event names a task: {events}")


def add(checks: Checks, caller: Caller, pair: str, lacks: dict[str, str]) -> None:
    """What every agent with the steering words does, except what its server lacks for a reason."""

    async def streams() -> None:
        equal((await caller.call("conformance chunks"))[0], "one two three\n", "the answer")
        out, _ = await caller.call("conformance burst")
        equal(out.split(), [str(number) for number in range(1, 31)], "thirty pieces")

    async def message() -> None:
        equal((await caller.call("conformance message"))[0], "Just a message.\n", "the answer")

    async def ends() -> None:
        ends = [("fail", 3, "It did not work."), ("reject", 4, "Not for me."), ("auth", 7, "Sign in first.")]
        for word, code, words in ends:
            _, err = await caller.call(f"conformance {word}", code=code)
            true(words in err, err)

    async def asks() -> None:
        _, err = await caller.call("conformance ask", code=6)
        true("Which one?" in err, err)
        out, _ = await caller.call("conformance ask", "--answer", "the first")
        true("done" in out, out)

    async def parts() -> None:
        events = await caller.events("conformance parts")
        found = [part for event in events for part in event.get("artifactUpdate", {}).get("artifact", {}).get("parts", [])]
        true(any(part.get("text") == "words" for part in found), f"a text: {found}")
        raw = base64.b64encode(bytes([0, 1, 2, 3])).decode()
        expected = base64.b64encode(raw.encode()).decode() if lacks.get("bytes") else raw
        equal([part["raw"] for part in found if "raw" in part], [expected], "the bytes")
        true(any(part.get("url") == "https://example.com/file.txt" for part in found), f"a URL: {found}")
        data = [part["data"] for part in found if "data" in part]
        equal(data, [{"number": 1, "list": [True, None]}], "the data")

    async def file() -> None:
        path = Path(os.getcwd()) / FILE
        path.write_bytes(bytes([0, 1, 2, 3]))
        events = await caller.events("a file", "--file", str(path))
        if "file" in lacks:
            return
        shown = json.loads((await caller.call("--task", task_id(events), "--json"))[0])
        parts = [part for message in shown.get("history", []) for part in message["parts"]]
        raw = [part["raw"] for part in parts if "raw" in part]
        equal(raw, [base64.b64encode(bytes([0, 1, 2, 3])).decode()], "the bytes that the agent got")

    async def tasks() -> None:
        events = await caller.events("conformance slow", "--detach")
        task = task_id(events)
        shown, _ = await caller.call("--task", task, "--json")
        equal(json.loads(shown)["id"], task, "the task that is shown")
        canceled, _ = await caller.call("--task", task, "--cancel")
        true("canceled" in canceled, canceled)
        await caller.call("--task", task, code=5)

    async def follows() -> None:
        events = await caller.events("conformance brief", "--detach")
        out, _ = await caller.call("--task", task_id(events), "--follow")
        true("done" in out, out)

    async def pushes() -> None:
        task = task_id(await caller.events("conformance ask", code=6))
        created = json.loads((await caller.call("--task", task, "--push", "http://127.0.0.1:9/hook", "--json"))[0])
        listed = json.loads((await caller.call("--task", task, "--list-pushes", "--json"))[0])
        equal([it["url"] for it in listed], ["http://127.0.0.1:9/hook"], "the places")
        await caller.call("--task", task, "--delete-push", created[0]["id"])
        equal(json.loads((await caller.call("--task", task, "--list-pushes", "--json"))[0]), [], "the places after that")

    async def lists() -> None:
        if pair.startswith("0.3"):
            _, err = await caller.call("--list", code=1)
            true("0.3 has no request" in err, err)
            return
        task = task_id(await caller.events("conformance chunks"))
        listed = json.loads((await caller.call("--list", "--json"))[0])
        true(task in [it["id"] for it in listed], f"{task} in {listed}")

    async def extended() -> None:
        card = json.loads((await caller.call("--extended-card"))[0])
        skills = [skill["id"] for skill in card["skills"]]
        equal(skills, ["steered"] if lacks.get("extended") else ["steered", "inside"], "its skills")

    async def missing() -> None:
        _, err = await caller.call("--task", "00000000-0000-4000-8000-000000000000", code=1)
        true("error:" in err, err)

    for what, check in [
        ("a stream is printed as it comes", streams), ("a bare message is an answer", message),
        ("the exit code tells how a task ended", ends), ("questions are shown and answered", asks),
        ("parts of every kind arrive", parts), ("a file is sent", file),
        ("tasks are shown and canceled", tasks), ("a task is followed", follows), ("a missing task is an error", missing),
        ("push configurations are created, listed and deleted", pushes), ("tasks are listed where the version can", lists),
        ("the extended card is fetched", extended),
    ]:
        if check is not pushes or "pushes" not in lacks:
            checks.add(f"attache call: {what}", check, pair)


async def grpc_origin(program: str, url: str) -> str:
    """The origin that the program names when it refuses to follow the card there."""
    process = await asyncio.create_subprocess_exec(
        str(Path(program).resolve()), "call", url, "hi", "--binding", "grpc",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env={"HOME": os.getcwd()},
    )
    _, err = await process.communicate()
    true(process.returncode == 1 and b"another origin" in err, err.decode())
    return err.decode().split("--allow-origin ")[1].split(";")[0].strip()


PAIRS = {"JSON-RPC": "jsonrpc", "HTTP+JSON": "http", "gRPC": "grpc"}


# By pair: what the SDK's server lacks there, and why.
Lacks = dict[str, dict[str, str]]


async def run_pairs(program: str, name: str, agent: Agent, versions: list[str], lacks: Lacks) -> int:
    """All bindings of these versions; gRPC listens on a port of its own."""
    async with agent, delegating.Session(program, agent.url) as session:
        checks = Checks(name)
        origin = await grpc_origin(program, agent.url)
        for version in versions:
            for title, binding in PAIRS.items():
                flags = ("--version", version, "--binding", binding, "--allow-origin", origin)
                pair = f"{version} {title}"
                add(checks, Caller(program, agent.url, flags), pair, lacks.get(pair, {}))
        delegating.add(checks, session)
        return await checks.run()


def main(name: str, agent: Agent, versions: list[str], lacks: Lacks) -> None:
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} ATTACHE")
    sys.exit(asyncio.run(run_pairs(sys.argv[1], name, agent, versions, lacks)))


def add_echo(checks: Checks, caller: Caller, pair: str) -> None:
    """What an agent does that says again what it hears."""

    async def answers() -> None:
        out, _ = await caller.call("hello there")
        equal(out, "You said: hello there\n", "the answer")

    async def shows() -> None:
        events = await caller.events("hello")
        shown, _ = await caller.call("--task", task_id(events), "--json")
        texts = [part.get("text") for artifact in json.loads(shown)["artifacts"] for part in artifact["parts"]]
        equal(texts, ["You said: hello"], "the artifacts")

    async def converses() -> None:
        out, _ = await caller.call("again", "--context", "a-conversation")
        true("You said: again" in out, out)

    for what, check in [
        ("a message is answered", answers), ("a task is shown afterwards", shows),
        ("a conversation is named by the caller", converses),
    ]:
        checks.add(f"attache call: {what}", check, pair)


def main_echo(name: str, script: str, pair: str) -> None:
    async def run(program: str) -> int:
        agent = str(Path(__file__).with_name(script))
        served = Agent(sys.executable, "-W", "ignore", agent)
        async with served, delegating.Session(program, served.url) as session:
            checks = Checks(name)
            add_echo(checks, Caller(program, served.url), pair)
            delegating.add_echo(checks, session)
            return await checks.run()

    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} ATTACHE")
    sys.exit(asyncio.run(run(sys.argv[1])))
