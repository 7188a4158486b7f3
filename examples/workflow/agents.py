"""Two agents on PyPI a2a-sdk: one knows which days are free, one knows the weather.

    python agents.py calendar 9101
    python agents.py weather 9102
"""

import asyncio
import socket
import sys

import uvicorn
from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part
from starlette.applications import Starlette

AGENTS = {
    "calendar": ("Knows which days are free.", "free days", "Free: Friday, Sunday."),
    "weather": ("Knows the weather of the next days.", "forecast", "Friday: rain. Saturday: sun. Sunday: sun."),
}


class Answering(AgentExecutor):
    """Says the same to all questions, in two pieces."""

    def __init__(self, answer):
        self.pieces = answer.partition(" ")

    async def execute(self, context, event_queue):
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        task = TaskUpdater(event_queue, context.task_id, context.context_id)
        await task.start_work()
        first, space, rest = self.pieces
        await task.add_artifact([Part(text=first + space)], artifact_id="answer", name="Answer")
        # Long enough for two agents to be seen at work at the same time.
        await asyncio.sleep(0.5)
        await task.add_artifact([Part(text=rest)], artifact_id="answer", append=True, last_chunk=True)
        await task.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def serve(name, port):
    description, skill, answer = AGENTS[name]
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    card = AgentCard(
        name=name,
        description=description,
        version="1.0.0",
        supported_interfaces=[AgentInterface(url=f"{url}/", protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id=name, name=skill, description=description, tags=["picnic"])],
    )
    handler = DefaultRequestHandler(
        agent_executor=Answering(answer), task_store=InMemoryTaskStore(), agent_card=card
    )
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, rpc_url="/")]
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="warning"))
    listener.listen()
    print(f"{name} is listening on {url}", flush=True)
    await server.serve(sockets=[listener])


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2])))
