"""PyPI `litellm`: chat completions by the provider `a2a/`, which sends no ids; conversations by `litellm.a2a_protocol`."""

import os
import uuid

# No list of prices is fetched from the network.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from a2a.compat.v0_3.types import MessageSendParams, SendMessageRequest
from litellm.a2a_protocol import A2AClient
from litellm.llms.a2a.common_utils import extract_text_from_a2a_response

from harness import Client, main, need


class Litellm(Client):
    async def connect(self, url):
        self.url = url
        self.client = A2AClient(base_url=url)
        need(await self.client.get_agent_card(), "it finds no card")

    async def complete(self, prompt, **options):
        messages = [{"role": "user", "content": prompt}]
        return await litellm.acompletion(model="a2a/attache", api_base=self.url, messages=messages, **options)

    async def ask(self, prompt):
        return (await self.complete(prompt)).choices[0].message.content

    async def pieces(self, prompt):
        return [chunk.choices[0].delta.content or "" async for chunk in await self.complete(prompt, stream=True)]

    async def conversation(self):
        ids = {"contextId": str(uuid.uuid4())}

        async def send(prompt):
            message = {
                "role": "user",
                "parts": [{"kind": "text", "text": prompt}],
                "messageId": str(uuid.uuid4()),
                **ids,
            }
            request = SendMessageRequest(id=message["messageId"], params=MessageSendParams(message=message))
            response = (await self.client.send_message(request)).model_dump(mode="json", exclude_none=True)
            task = response["result"]
            ids.pop("taskId", None)
            if task["status"]["state"] == "input-required":
                ids["taskId"] = task["id"]
            return extract_text_from_a2a_response(response)

        return send


main(Litellm())
