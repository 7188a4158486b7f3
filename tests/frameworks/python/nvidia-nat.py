"""PyPI `nvidia-nat-a2a`: `A2ABaseClient` and its own way of reading text from events."""

from a2a.types import TaskArtifactUpdateEvent, TaskState
from nat.plugins.a2a.client.client_base import A2ABaseClient

from harness import WAITS, Client, main


class Nat(Client):
    async def connect(self, url):
        # It puts spaces between the pieces of a streamed answer, so answers are read without streaming.
        self.client = await A2ABaseClient(url, streaming=False).__aenter__()
        self.streaming = await A2ABaseClient(url).__aenter__()

    async def conversation(self):
        context, task = None, None

        async def send(prompt):
            nonlocal context, task
            events = [event async for event in self.client.send_message(prompt, task, context)]
            found = events[-1][0]
            waits = found.status.state == TaskState.input_required
            context, task = found.context_id, found.id if waits else None
            # It shows the state of a task that waits, and not the question.
            return WAITS if waits else self.client.extract_text_from_events(events)

        return send

    async def pieces(self, prompt):
        found = []
        async for event in self.streaming.send_message_streaming(prompt):
            update = event[1] if isinstance(event, tuple) else None
            if isinstance(update, TaskArtifactUpdateEvent):
                found.append(" ".join(self.streaming.extract_text_from_parts(update.artifact.parts)))
        return found


main(Nat())
