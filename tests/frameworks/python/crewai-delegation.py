"""PyPI `crewai`: the delegation that an agent with an `A2AClientConfig` makes, without a language model around it."""

import os
import uuid

os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"
os.environ["OTEL_SDK_DISABLED"] = "true"

from a2a.types import TaskState
from crewai.a2a.utils.agent_card import afetch_agent_card
from crewai.a2a.utils.delegation import aexecute_a2a_delegation
from crewai.events import crewai_event_bus
from crewai.events.types.a2a_events import A2AStreamingChunkEvent

from harness import Client, main


class Crewai(Client):
    async def connect(self, url):
        self.endpoint = f"{url}/.well-known/agent-card.json"
        await afetch_agent_card(self.endpoint)

    async def delegate(self, prompt, context, task=None):
        return await aexecute_a2a_delegation(
            endpoint=self.endpoint,
            auth=None,
            timeout=30,
            task_description=prompt,
            context_id=context,
            task_id=task,
        )

    async def conversation(self):
        context, task = str(uuid.uuid4()), None

        async def send(prompt):
            nonlocal task
            result = await self.delegate(prompt, context, task)
            waits = result["status"] == TaskState.input_required
            task = result["history"][-1].task_id if waits else None
            return result["error"] if "error" in result else result["result"]

        return send

    async def pieces(self, prompt):
        found = []
        with crewai_event_bus.scoped_handlers():

            @crewai_event_bus.on(A2AStreamingChunkEvent)
            def keep(_, event):
                found.append(event.chunk)

            await self.delegate(prompt, str(uuid.uuid4()))
        return found


main(Crewai())
