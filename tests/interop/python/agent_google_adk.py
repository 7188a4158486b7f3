"""An agent of google-adk without a model, served by its own `to_a2a`: listens on a free port of loopback, prints where."""

import asyncio
import socket
from collections.abc import AsyncGenerator

import uvicorn
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import BaseAgent
from google.adk.events import Event
from google.genai import types


class Echo(BaseAgent):
    """Says again what it hears. `send a file` and `fail` do what they say."""

    async def _run_async_impl(self, context) -> AsyncGenerator[Event, None]:
        said = " ".join(part.text or "" for part in context.user_content.parts)
        parts = [types.Part(text=f"You said: {said}")]
        if said == "send a file":
            blob = types.Blob(data=bytes([0, 1, 2, 3]), mime_type="application/octet-stream", display_name="four.bin")
            parts.append(types.Part(inline_data=blob))
        content = types.Content(role="model", parts=parts)
        yield Event(invocation_id=context.invocation_id, author=self.name, content=content)
        if said == "fail":
            raise RuntimeError("It did not work.")


async def serve() -> None:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    app = to_a2a(Echo(name="echo", description="Says again what it hears."), host="127.0.0.1", port=port)
    listener.listen()
    print(f"listening on http://127.0.0.1:{port}", flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[listener])


if __name__ == "__main__":
    asyncio.run(serve())
