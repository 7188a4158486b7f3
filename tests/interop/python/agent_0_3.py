"""An agent on the server side of PyPI a2a-sdk 0.3.26 that obeys the steering words of the conformance suite.

Run as `python agent_0_3.py`: listens on free ports of loopback, prints where, and serves all three bindings. Everything
but the agent itself is the SDK's, with its defaults.
"""

import asyncio
import base64
import socket

import grpc
import uvicorn
from a2a.grpc import a2a_pb2_grpc
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    DataPart,
    FilePart,
    FileWithBytes,
    FileWithUri,
    Part,
    TextPart,
)
from a2a.utils import new_agent_text_message, new_task


def text(words: str) -> Part:
    return Part(root=TextPart(text=words))


class SteeredAgent(AgentExecutor):
    """Does what the second word of the message says."""

    async def execute(self, context, event_queue):
        words = context.get_user_input().split()
        word = words[1] if len(words) > 1 and words[0] == "conformance" else ""
        if word == "message":
            await event_queue.enqueue_event(new_agent_text_message("Just a message.", context.context_id))
            return
        if context.current_task is None:
            await event_queue.enqueue_event(new_task(context.message))
        task = TaskUpdater(event_queue, context.task_id, context.context_id)
        say = lambda words: task.new_agent_message([text(words)])
        await task.start_work()
        if word == "slow":
            await asyncio.sleep(60)
        elif word == "brief":
            await asyncio.sleep(0.4)
        elif word == "ask":
            return await task.requires_input(say("Which one?"), final=True)
        elif word == "auth":
            return await task.requires_auth(say("Sign in first."), final=True)
        elif word == "fail":
            return await task.failed(say("It did not work."))
        elif word == "reject":
            return await task.reject(say("Not for me."))
        await self.produce(task, word)
        await task.complete()

    async def produce(self, task, word):
        pieces = {"chunks": ["one ", "two ", "three"], "burst": [f"{number} " for number in range(1, 31)]}.get(word)
        if word == "parts":
            raw = base64.b64encode(bytes([0, 1, 2, 3])).decode()
            parts = [
                text("words"),
                Part(root=FilePart(file=FileWithBytes(bytes=raw, mime_type="application/octet-stream", name="four.bin"))),
                Part(root=FilePart(file=FileWithUri(uri="https://example.com/file.txt", mime_type="text/plain"))),
                Part(root=DataPart(data={"number": 1, "list": [True, None]})),
            ]
            return await task.add_artifact(parts, artifact_id="result", name="Result", last_chunk=True)
        pieces = pieces or ["done"]
        for place, piece in enumerate(pieces):
            last = place == len(pieces) - 1
            await task.add_artifact([text(piece)], "result", "Result", append=place > 0, last_chunk=last)
            await asyncio.sleep(0.025 if word == "burst" else 0)

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card(http, rpc, *more_skills):
    interfaces = [("JSONRPC", f"{http}/"), ("HTTP+JSON", http), ("GRPC", rpc)]
    return AgentCard(
        name="a2a-sdk 0.3 for Python",
        description="Obeys the words of the conformance suite.",
        version="0.3.26",
        url=f"{http}/",
        preferred_transport="JSONRPC",
        additional_interfaces=[AgentInterface(url=url, transport=transport) for transport, url in interfaces],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="steered", name="Steered", description="Does as it is told.", tags=["test"]), *more_skills],
        supports_authenticated_extended_card=True,
    )


async def serve():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    rpc_server = grpc.aio.server()
    rpc_port = rpc_server.add_insecure_port("127.0.0.1:0")
    http = f"http://127.0.0.1:{listener.getsockname()[1]}"
    agent_card = card(http, f"127.0.0.1:{rpc_port}")
    inside = AgentSkill(id="inside", name="Inside", description="Only the extended card tells of it.", tags=["test"])
    extended = card(http, f"127.0.0.1:{rpc_port}", inside)
    handler = DefaultRequestHandler(
        agent_executor=SteeredAgent(),
        task_store=InMemoryTaskStore(),
        push_config_store=InMemoryPushNotificationConfigStore(),
    )
    cards = {"agent_card": agent_card, "extended_agent_card": extended}
    app = A2ARESTFastAPIApplication(http_handler=handler, **cards).build()
    A2AStarletteApplication(http_handler=handler, **cards).add_routes_to_app(app, rpc_url="/")
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(agent_card, handler), rpc_server)
    await rpc_server.start()
    listener.listen()
    print(f"listening on {http}", flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[listener])


if __name__ == "__main__":
    asyncio.run(serve())
