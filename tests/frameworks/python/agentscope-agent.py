"""PyPI `agentscope`: `A2AAgent`, which keeps the context and the task that waits."""

import httpx
from a2a.client import A2ACardResolver
from agentscope.agent import A2AAgent
from agentscope.event import TextBlockDeltaEvent
from agentscope.message import UserMsg

from harness import Client, main


class Agentscope(Client):
    async def connect(self, url):
        async with httpx.AsyncClient() as http:
            self.card = await A2ACardResolver(http, url).get_agent_card()
        A2AAgent(self.card)

    async def conversation(self):
        agent = A2AAgent(self.card)

        async def send(prompt):
            return (await agent.reply(UserMsg("user", prompt))).get_text_content()

        return send

    async def pieces(self, prompt):
        events = A2AAgent(self.card).reply_stream(UserMsg("user", prompt))
        return [event.delta async for event in events if isinstance(event, TextBlockDeltaEvent)]


main(Agentscope())
