"""PyPI `strands-agents`: `A2AAgent`, which sends neither a context nor a task, so that a question cannot be answered."""

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.types import TaskArtifactUpdateEvent
from a2a.utils import get_artifact_text
from strands.agent.a2a_agent import A2AAgent

from harness import Client, Missing, main


class Strands(Client):
    async def connect(self, url):
        # The text of a result has a line break after each piece of a streamed answer, so answers are read without streaming.
        config = ClientConfig(httpx_client=httpx.AsyncClient(timeout=30), streaming=False)
        self.agent = A2AAgent(url, a2a_client_factory=ClientFactory(config))
        self.streaming_agent = A2AAgent(url)
        await self.agent.get_agent_card()

    async def conversation(self):
        async def send(prompt):
            if prompt == "yes":
                raise Missing("it sends neither a context nor a task, so an answer reaches no question")
            return str(await self.agent.invoke_async(prompt))

        return send

    async def pieces(self, prompt):
        found = []
        async for item in self.streaming_agent.stream_async(prompt):
            event = item.get("event")
            update = event[1] if isinstance(event, tuple) else None
            if isinstance(update, TaskArtifactUpdateEvent):
                found.append(get_artifact_text(update.artifact))
        return found


main(Strands())
