"""PyPI `beeai-framework`: `A2AAgent`; its updates are the events of the stream."""

from a2a.types import TaskArtifactUpdateEvent
from a2a.utils import get_artifact_text
from beeai_framework.adapters.a2a.agents import A2AAgent
from beeai_framework.memory import UnconstrainedMemory

from harness import Client, main


class Beeai(Client):
    async def connect(self, url):
        self.url = url
        await self.agent().check_agent_exists()

    def agent(self):
        return A2AAgent(url=self.url, memory=UnconstrainedMemory())

    async def conversation(self):
        agent = self.agent()

        async def send(prompt):
            return (await agent.run(prompt)).last_message.text

        return send

    async def pieces(self, prompt):
        found = []

        def keep(data, _):
            update = data.value[1] if isinstance(data.value, tuple) else None
            if isinstance(update, TaskArtifactUpdateEvent):
                found.append(get_artifact_text(update.artifact))

        await self.agent().run(prompt).on("update", keep)
        return found


main(Beeai())
