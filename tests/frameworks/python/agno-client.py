"""PyPI `agno`: its `A2AClient` on JSON-RPC, which keeps a conversation by its context alone."""

import uuid

from agno.client.a2a import A2AClient

from harness import WAITS, Client, main, need


class Agno(Client):
    async def connect(self, url):
        # A client on JSON-RPC looks for the card at the address that it posts to; only one on REST looks where it is.
        need(await A2AClient(url, protocol="rest").aget_agent_card(), "it finds no card")
        self.client = A2AClient(url, protocol="json-rpc")
        self.streams_text = False

    async def conversation(self):
        context, waits = str(uuid.uuid4()), False

        async def send(prompt):
            nonlocal waits
            if waits and self.streams_text:
                # Without streaming it shows every message of the agent in the history, the question included.
                waits = False
                return "".join(await self.pieces(prompt, context))
            result = await self.client.send_message(prompt, context_id=context)
            waits = result.status == WAITS
            return result.content or result.status

        return send

    async def pieces(self, prompt, context=None):
        events = self.client.stream_message(prompt, context_id=context or str(uuid.uuid4()))
        found = [event.content async for event in events if event.is_content]
        self.streams_text = bool(found)
        return found


main(Agno())
