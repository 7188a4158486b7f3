"""PyPI `a2a-sdk` 0.3: the client that `ClientFactory` makes, and the SDK's own helpers that read text."""

import uuid

import httpx
from a2a.client import ClientConfig, ClientFactory, create_text_message_object
from a2a.types import TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent
from a2a.utils.artifact import get_artifact_text
from a2a.utils.message import get_message_text

from harness import Client, main


class A2aSdk(Client):
    async def connect(self, url):
        self.http = httpx.AsyncClient(timeout=30)
        self.streaming = await ClientFactory.connect(url, ClientConfig(httpx_client=self.http))
        config = ClientConfig(httpx_client=self.http, streaming=False)
        self.waiting = await ClientFactory.connect(url, config)

    async def conversation(self):
        context, waits = str(uuid.uuid4()), None

        async def send(prompt):
            nonlocal waits
            message = create_text_message_object(content=prompt)
            message.context_id, message.task_id = context, waits
            ((task, _),) = [one async for one in self.waiting.send_message(message)]
            asks = task.status.state == TaskState.input_required
            waits = task.id if asks else None
            if asks or not task.artifacts:
                return get_message_text(task.status.message)
            return "".join(get_artifact_text(artifact) for artifact in task.artifacts)

        return send

    async def pieces(self, prompt):
        found = []
        async for _, event in self.streaming.send_message(create_text_message_object(content=prompt)):
            if isinstance(event, TaskArtifactUpdateEvent):
                found.append(get_artifact_text(event.artifact))
            elif isinstance(event, TaskStatusUpdateEvent) and event.status.message:
                found.append(get_message_text(event.status.message))
        return found


main(A2aSdk())
