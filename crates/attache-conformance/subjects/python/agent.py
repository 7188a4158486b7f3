"""An agent on the server side of PyPI a2a-sdk that obeys the steering words of the conformance suite.

Run as `python agent.py`: listens on free ports of loopback, prints where, and serves all six pairs of version and
binding with the SDK's own 0.3 compatibility. Everything but the agent itself is the SDK's, with its defaults.
"""

import asyncio
import os
import socket

import grpc
import httpx
import uvicorn

from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.helpers import new_text_message, new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.request_handlers.grpc_handler import GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import a2a_pb2_grpc
from a2a.types.a2a_pb2 import (
    ROLE_AGENT,
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Part,
)
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value
from starlette.applications import Starlette


class SteeredAgent(AgentExecutor):
    """Does what the second word of the message says."""

    async def execute(self, context, event_queue):
        words = context.get_user_input().split()
        word = words[1] if len(words) > 1 and words[0] == 'conformance' else ''
        if word == 'message':
            await event_queue.enqueue_event(
                new_text_message('Just a message.', context_id=context.context_id, role=ROLE_AGENT)
            )
            return
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        task = TaskUpdater(event_queue, context.task_id, context.context_id)
        say = lambda text: task.new_agent_message([Part(text=text)])
        await task.start_work()
        if word == 'slow':
            await asyncio.sleep(60)
        elif word == 'brief':
            await asyncio.sleep(0.4)
        elif word == 'ask':
            await task.requires_input(say('Which one?'))
            return
        elif word == 'auth':
            await task.requires_auth(say('Sign in first.'))
            return
        elif word == 'fail':
            await task.failed(say('It did not work.'))
            return
        elif word == 'reject':
            await task.reject(say('Not for me.'))
            return
        await self.produce(task, word)
        await task.complete()

    async def produce(self, task, word):
        if word == 'chunks':
            pieces = ['one ', 'two ', 'three']
            pause = 0.0
        elif word == 'burst':
            pieces = [f'{number} ' for number in range(1, 31)]
            pause = 0.025
        elif word == 'parts':
            data = ParseDict({'number': 1, 'list': [True, None]}, Value())
            parts = [
                Part(text='words'),
                Part(raw=bytes([0, 1, 2, 3]), media_type='application/octet-stream', filename='four.bin'),
                Part(url='https://example.com/file.txt', media_type='text/plain'),
                Part(data=data),
            ]
            await task.add_artifact(parts, artifact_id='result', name='Result', last_chunk=True)
            return
        else:
            await task.add_artifact([Part(text='done')], artifact_id='result', name='Result', last_chunk=True)
            return
        for place, piece in enumerate(pieces):
            await task.add_artifact(
                [Part(text=piece)],
                artifact_id='result',
                name='Result',
                append=place > 0,
                last_chunk=place == len(pieces) - 1,
            )
            await asyncio.sleep(pause)

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


# Set to anything, the agent has an extended card.
EXTENDED = 'EXTENDED_CARD' in os.environ


def card(http, rpc, *more_skills):
    interfaces = []
    for version in ['1.0', '0.3']:
        for binding, url in [('JSONRPC', f'{http}/'), ('HTTP+JSON', http), ('GRPC', rpc)]:
            interfaces.append(AgentInterface(url=url, protocol_binding=binding, protocol_version=version))
    return AgentCard(
        name='a2a-sdk for Python',
        description='Obeys the words of the conformance suite.',
        version='1.3.0',
        supported_interfaces=interfaces,
        capabilities=AgentCapabilities(streaming=True, push_notifications=True, extended_agent_card=EXTENDED),
        default_input_modes=['text/plain', 'application/json', 'application/octet-stream'],
        default_output_modes=['text/plain'],
        skills=[AgentSkill(id='steered', name='Steered', description='Does as it is told.', tags=['test']), *more_skills],
    )


async def serve():
    listener = socket.socket()
    listener.bind(('127.0.0.1', 0))
    rpc_server = grpc.aio.server()
    rpc_port = rpc_server.add_insecure_port('127.0.0.1:0')
    http = f'http://127.0.0.1:{listener.getsockname()[1]}'
    agent_card = card(http, f'127.0.0.1:{rpc_port}')
    inside = AgentSkill(id='inside', name='Inside', description='Only the extended card tells of it.', tags=['test'])
    extended = card(http, f'127.0.0.1:{rpc_port}', inside)
    configs = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=SteeredAgent(),
        task_store=InMemoryTaskStore(),
        agent_card=agent_card,
        extended_agent_card=extended if EXTENDED else None,
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(trust_env=False), configs),
    )
    routes = [
        *create_agent_card_routes(agent_card),
        *create_jsonrpc_routes(handler, rpc_url='/', enable_v0_3_compat=True),
        *create_rest_routes(handler, enable_v0_3_compat=True),
    ]
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler), rpc_server)
    a2a_v0_3_pb2_grpc.add_A2AServiceServicer_to_server(CompatGrpcHandler(handler), rpc_server)
    await rpc_server.start()
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level='warning'))
    listener.listen()
    print(f'listening on {http}', flush=True)
    await server.serve(sockets=[listener])


if __name__ == '__main__':
    asyncio.run(serve())
