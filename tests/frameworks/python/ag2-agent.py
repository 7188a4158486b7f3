"""PyPI `ag2`: an `Agent` whose model is the remote agent. A question reaches the hook for human input within the same run."""

import asyncio

from ag2 import Agent, MemoryStream
from ag2.a2a import A2AConfig
from ag2.a2a._session import open_session
from ag2.events import ModelMessageChunk

from harness import Client, main


class Ag2(Client):
    async def connect(self, url):
        self.config = A2AConfig(card_url=url)
        # The first message does the same by itself.
        async with open_session(self.config):
            pass

    async def conversation(self):
        talk = Talk(Agent("attache", config=self.config))
        return talk.send

    async def pieces(self, prompt):
        found = []
        stream = MemoryStream()
        stream.where(ModelMessageChunk).subscribe(lambda event: found.append(event.content))
        await Agent("attache", config=self.config).ask(prompt, stream=stream)
        return found


class Talk:
    """A conversation in which a person is asked while a run goes on."""

    def __init__(self, agent):
        self.agent, self.reply, self.run = agent, None, None
        self.questions, self.answers = asyncio.Queue(), asyncio.Queue()

    async def hook(self, event) -> str:
        await self.questions.put(event.content)
        return await self.answers.get()

    async def send(self, prompt):
        if self.run:
            await self.answers.put(prompt)
        else:
            asking = self.reply or self.agent
            self.run = asyncio.create_task(asking.ask(prompt, hitl_hook=self.hook))
        question = asyncio.create_task(self.questions.get())
        await asyncio.wait([self.run, question], return_when=asyncio.FIRST_COMPLETED)
        if question.done():
            return question.result()
        question.cancel()
        self.reply, self.run = await self.run, None
        return self.reply.body


main(Ag2())
