"""PyPI `a2a-sdk` 1: the client that `create_client` makes, and the SDK's own helpers that read text."""

import uuid

from a2a.client import ClientConfig, create_client
from a2a.helpers import get_artifact_text, get_message_text, get_stream_response_text, new_text_message
from a2a.types import Role, SendMessageRequest, TaskState

from harness import Client, main


class A2aSdk(Client):
    async def connect(self, url):
        self.streaming = await create_client(url)
        self.waiting = await create_client(url, ClientConfig(streaming=False))

    async def conversation(self):
        context, task = str(uuid.uuid4()), None

        async def send(prompt):
            nonlocal task
            message = new_text_message(prompt, context_id=context, task_id=task, role=Role.ROLE_USER)
            (answer,) = [one async for one in self.waiting.send_message(SendMessageRequest(message=message))]
            asks = answer.task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
            task = answer.task.id if asks else None
            if asks or not answer.task.artifacts:
                return get_message_text(answer.task.status.message)
            return "".join(get_artifact_text(artifact) for artifact in answer.task.artifacts)

        return send

    async def pieces(self, prompt):
        message = new_text_message(prompt, role=Role.ROLE_USER)
        request = SendMessageRequest(message=message)
        return [get_stream_response_text(one) async for one in self.streaming.send_message(request)]


main(A2aSdk())
