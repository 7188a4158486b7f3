"""PyPI `agent-framework-a2a`: `A2AAgent` with an agent session."""

from a2a.client import A2ACardResolver
import httpx
from agent_framework_a2a import A2AAgent

from harness import Client, main


class AgentFramework(Client):
    async def connect(self, url):
        async with httpx.AsyncClient() as http:
            card = await A2ACardResolver(http, url).get_agent_card()
        self.agent = A2AAgent(agent_card=card)

    async def conversation(self):
        session = self.agent.create_session()

        async def send(prompt):
            return (await self.agent.run(prompt, session=session)).text

        return send

    async def pieces(self, prompt):
        return [update.text async for update in self.agent.run(prompt, stream=True)]


main(AgentFramework())
