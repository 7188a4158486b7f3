"""PyPI `google-adk`: `RemoteA2aAgent` as the root agent of a `Runner`, with sessions in memory."""

import uuid

import httpx
from a2a.client import ClientConfig, ClientFactory
from google.adk.agents.remote_a2a_agent import AGENT_CARD_WELL_KNOWN_PATH, RemoteA2aAgent
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai.types import Content, Part

from harness import Client, Unexpected, main


class GoogleAdk(Client):
    async def connect(self, url):
        self.sessions = InMemorySessionService()
        card = f"{url}{AGENT_CARD_WELL_KNOWN_PATH}"
        # The final response of a streamed answer is only its last piece, so answers are read without streaming.
        self.runner = await self.runner_of(card, streaming=False)
        self.streaming_runner = await self.runner_of(card, streaming=True)

    async def runner_of(self, card, streaming):
        factory = ClientFactory(ClientConfig(httpx_client=httpx.AsyncClient(timeout=30), streaming=streaming))
        agent = RemoteA2aAgent(name="attache", agent_card=card, a2a_client_factory=factory)
        # What the first message does, too.
        await agent._ensure_resolved()
        return Runner(agent=agent, app_name="attache", session_service=self.sessions)

    async def events(self, runner, session, prompt):
        message = Content(role="user", parts=[Part(text=prompt)])
        async for event in runner.run_async(user_id="user", session_id=session, new_message=message):
            if event.error_message:
                raise Unexpected(event.error_message)
            yield event

    async def conversation(self):
        session = str(uuid.uuid4())
        await self.sessions.create_session(app_name="attache", user_id="user", session_id=session)

        async def send(prompt):
            events = [event async for event in self.events(self.runner, session, prompt)]
            return "".join(text(event) for event in events if event.is_final_response())

        return send

    async def pieces(self, prompt):
        session = str(uuid.uuid4())
        await self.sessions.create_session(app_name="attache", user_id="user", session_id=session)
        return [text(event) async for event in self.events(self.streaming_runner, session, prompt)]


def text(event) -> str:
    """The text of an event; a question is the call of a function that a person answers."""
    parts = event.content.parts if event.content and event.content.parts else []
    asked = [str(part.function_call.args) for part in parts if part.function_call]
    return "".join([part.text or "" for part in parts if not part.thought] + asked)


main(GoogleAdk())
