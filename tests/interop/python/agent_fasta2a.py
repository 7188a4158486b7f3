"""An agent of fasta2a: listens on a free port of loopback, prints where."""

import asyncio
import base64
import contextlib
import socket
import uuid
from collections.abc import AsyncIterator

import uvicorn
from fasta2a import FastA2A, Worker
from fasta2a.broker import InMemoryBroker
from fasta2a.storage import InMemoryStorage


class Echo(Worker):
    """Says again what it hears. `send a file` and `fail` do what they say."""

    async def run_task(self, params):
        task = await self.storage.load_task(params["id"])
        await self.storage.update_task(task["id"], state="working")
        said = " ".join(part.get("text", "") for part in params["message"]["parts"])
        parts = [{"text": f"You said: {said}"}]
        if said == "send a file":
            raw = base64.b64encode(bytes([0, 1, 2, 3])).decode()
            parts.append({"raw": raw, "filename": "four.bin", "media_type": "application/octet-stream"})
        artifact = {"artifact_id": str(uuid.uuid4()), "parts": parts}
        state = "failed" if said == "fail" else "completed"
        await self.storage.update_task(task["id"], state=state, new_artifacts=[artifact])

    async def cancel_task(self, params):
        await self.storage.update_task(params["id"], state="canceled")

    def build_message_history(self, history):
        return history

    def build_artifacts(self, result):
        return []


async def serve() -> None:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    storage, broker = InMemoryStorage(), InMemoryBroker()
    worker = Echo(broker=broker, storage=storage)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastA2A) -> AsyncIterator[None]:
        async with app.task_manager, worker.run():
            yield

    app = FastA2A(storage=storage, broker=broker, name="echo", url=url, lifespan=lifespan)
    listener.listen()
    print(f"listening on {url}", flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[listener])


if __name__ == "__main__":
    asyncio.run(serve())
