"""PyPI `a2a-handler`: the commands that a person types, in a home folder of their own."""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

from harness import WAITS, Client, Unexpected, main


class Handler(Client):
    async def connect(self, url):
        self.url = url
        self.home = tempfile.TemporaryDirectory()
        await self.run("card", "get")

    async def run(self, *words):
        """What a command shows; its options follow the words."""
        program = Path(sys.executable).with_name("handler")
        process = await asyncio.create_subprocess_exec(
            program,
            *words,
            "--url",
            self.url,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "HOME": self.home.name},
        )
        shown, complaint = await process.communicate()
        if process.returncode:
            raise Unexpected(f"{complaint.decode()} {shown.decode()}")
        return shown.decode()

    async def conversation(self):
        goes_on = []

        async def send(prompt):
            shown = await self.run("message", "send", *goes_on, "--text", prompt)
            goes_on[:] = ["--continue"]
            # It shows the state of a task that waits, and not the question.
            return WAITS if shown.startswith("State: input_required") else shown

        return send

    async def pieces(self, prompt):
        shown = await self.run("--output", "ndjson", "message", "stream", "--text", prompt)
        return [json.loads(line).get("text") or "" for line in shown.splitlines()]


main(Handler())
