"""A stand-in for an editor: it lends the texts that are open in it to a coding agent, as tools of an MCP server.

    python editor.py http://127.0.0.1:41242 FOLDER "Sort the shopping list in my buffers"
"""

import asyncio
import json
import socket
import sys
import uuid
from pathlib import Path

import httpx
import uvicorn
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types.a2a_pb2 import SendMessageRequest
from google.protobuf.json_format import MessageToDict, ParseDict
from mcp.server.mcpserver import MCPServer

EXTENSION = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"
# What is open and not saved. No file has these texts, so no tool of the agent's own could read them.
buffers = {"shopping.txt": "milk\nbread\napples\n", "letter.txt": "Dear Ann,\n"}
editor = MCPServer("editor", log_level="ERROR")


@editor.tool()
def list_buffers() -> list[str]:
    """The names of the texts that are open in the editor."""
    return list(buffers)


@editor.tool()
def read_buffer(name: str) -> str:
    """The text of one of them as it is on the screen, saved or not."""
    return buffers[name]


@editor.tool()
def write_buffer(name: str, text: str) -> str:
    """Replaces the text of one of them on the screen, and saves nothing."""
    buffers[name] = text
    return f"{name} has {len(text.splitlines())} lines now"


async def main(address, folder, prompt):
    # Only this machine can reach the tools, and only who knows the path, for as long as this program runs.
    listening, path = socket.create_server(("127.0.0.1", 0)), f"/{uuid.uuid4()}"
    app = editor.streamable_http_app(streamable_http_path=path)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve(sockets=[listening]))

    async with httpx.AsyncClient(headers={"A2A-Extensions": EXTENSION}, timeout=None) as http:
        card = await A2ACardResolver(http, address).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
        # AgentSettings name the server. Its tools are there for this conversation and for no other.
        servers = {"editor": {"httpUrl": f"http://127.0.0.1:{listening.getsockname()[1]}{path}"}}
        settings = {"workspace_path": str(Path(folder).resolve()), "mcp_servers": servers}
        await converse(client, {"parts": [{"text": prompt}], "metadata": {EXTENSION: settings}})
    print(json.dumps(buffers))
    server.should_exit = True
    await serving


async def converse(client, message):
    asked, task = {}, {}
    while message:
        message |= {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", **task}
        async for event in client.send_message(ParseDict({"message": message}, SendMessageRequest())):
            event = MessageToDict(event)
            if opened := event.get("task"):
                task = {"taskId": opened["id"], "contextId": opened["contextId"]}
            for part in event.get("statusUpdate", {}).get("status", {}).get("message", {}).get("parts", []):
                show(part, asked)
        # Whoever is asked answers with a message to the same task.
        answers = [{"data": await ask(call)} for call in asked.values()]
        message = {"parts": answers} if answers else None


def show(part, asked):
    """Prints a part of the agent's message, and notes which calls wait for an answer."""
    if "text" in part:
        print(part["text"])
    elif call := part["data"] if "tool_call_id" in part["data"] else None:
        print(f"{call['tool_name']}: {call['status']}")
        asked.pop(call["tool_call_id"], None)
        if "confirmation_request" in call:
            asked[call["tool_call_id"]] = call


async def ask(call):
    """Lets the person decide, in a thread: the tools have to work while the person thinks."""
    about = call["confirmation_request"].get("generic_details", {"description": ""})["description"]
    line = await asyncio.to_thread(input, f"{about}\nAllow {call['tool_name']}? y, always, or n:\n".lstrip())
    # The last one holds for all tools of this MCP server; what was offered is in call["confirmation_request"].
    options = {"y": "proceed_once", "always": "proceed_always_server"}
    return {"tool_call_id": call["tool_call_id"], "selected_option_id": options.get(line, "cancel")}


asyncio.run(main(*sys.argv[1:]))
