"""PyPI `praisonaiagents`: its `A2AClient`, which posts to `/a2a` and keeps a conversation by its context alone."""

import uuid

from praisonaiagents.ui.a2a.client import A2AClient

from harness import Client, Unexpected, main


class Praisonai(Client):
    async def connect(self, url):
        self.client = A2AClient(url)
        await self.client.get_agent_card()

    async def conversation(self):
        context = str(uuid.uuid4())

        async def send(prompt):
            task = result_of(await self.client.send_message(prompt, context_id=context))
            # The client returns the task as it came.
            shown = [task["status"]["message"]] if "message" in task["status"] else task["artifacts"]
            return "\n".join(text(one) for one in shown)

        return send

    async def pieces(self, prompt):
        events = [result_of(event) async for event in self.client.send_message_streaming(prompt)]
        return [text(event["artifact"]) for event in events if "artifact" in event]


def result_of(response):
    if "result" not in response:
        raise Unexpected(str(response.get("error", response)))
    return response["result"]


def text(found):
    return "\n".join(part["text"] for part in found["parts"] if "text" in part)


main(Praisonai())
