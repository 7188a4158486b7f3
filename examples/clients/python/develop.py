"""A client of a coding agent, on PyPI's a2a-sdk. What is typed at the terminal answers what the agent asks.

    python develop.py http://127.0.0.1:41242 FOLDER "Make the greeting friendlier"
"""

import asyncio
import sys
import uuid
from pathlib import Path

import httpx
from a2a.client import A2ACardResolver, ClientCallContext, ClientConfig, ClientFactory
from a2a.types.a2a_pb2 import SendMessageRequest, SubscribeToTaskRequest
from google.protobuf.json_format import MessageToDict, ParseDict

EXTENSION = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"
seen = {"id": "0", "kind": None, "asked": {}}  # The latest event, and the calls that wait for an answer.


async def main(address, folder, prompt):
    # Naming the extension in a header of every call activates it. The card says whether the agent offers it.
    headers, hooks = {"A2A-Extensions": EXTENSION}, {"response": [remember_ids]}
    http = httpx.AsyncClient(headers=headers, event_hooks=hooks, timeout=None)
    card = await A2ACardResolver(http, address).get_agent_card()
    assert EXTENSION in [offered.uri for offered in card.capabilities.extensions], "the agent does not offer it"
    print(f"connected to {card.name}")
    client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
    # The first message of a conversation carries AgentSettings: which folder to work in.
    settings = {EXTENSION: {"workspace_path": str(Path(folder).resolve())}}
    events = say(client, parts=[{"text": prompt}], metadata=settings)
    task = MessageToDict(await anext(events))["task"]
    show(MessageToDict(await anext(events)))
    await events.aclose()
    # The stream was cut, here on purpose. With the id of the last event that was seen nothing is lost or repeated.
    print(f"-- cut after event {seen['id']} --")
    after = ClientCallContext(service_parameters={"Last-Event-ID": seen["id"]})
    events = client.subscribe(SubscribeToTaskRequest(id=task["id"]), context=after)
    while True:
        async for event in events:
            show(MessageToDict(event))
        if not seen["asked"]:
            return await http.aclose()  # Another message to the task would go on with it.
        # The answers go to the same task, all in one message or one by one.
        answers = [{"data": ask(call)} for call in seen["asked"].values()]
        events = say(client, parts=answers, taskId=task["id"], contextId=task["contextId"])


def say(client, **members):
    message = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", **members}
    return client.send_message(ParseDict({"message": message}, SendMessageRequest()))


async def remember_ids(response):
    """The SDK sends `Last-Event-ID` if told to, but does not tell the ids of events: they are read here."""
    lines = response.aiter_lines()

    async def watched():
        async for line in lines:
            seen["id"] = line[3:].strip() if line.startswith("id:") else seen["id"]
            yield line

    response.aiter_lines = watched


def show(event):
    if not (update := event.get("statusUpdate")):
        return
    part = update["status"].get("message", {}).get("parts", [{}])[0]
    text, data = part.get("text", ""), part.get("data", {})
    kind = update.get("metadata", {}).get(EXTENSION, {}).get("kind")
    if seen["kind"] == "TEXT_CONTENT" != kind:
        print()  # What was said is over.
    seen["kind"] = kind
    if kind == "TEXT_CONTENT":
        print(text, end="", flush=True)
    elif kind == "THOUGHT":
        print(f"({data['subject']}: {data['description']})")
    elif kind == "TOOL_CALL_UPDATE":
        print(f"{data['tool_name']}: {data['status']}")
        # Every update has the whole call: the latest is all there is to know about it.
        seen["asked"].pop(data["tool_call_id"], None)
        if request := data.get("confirmation_request"):
            print(request.get("file_edit_details", {}).get("formatted_diff", data.get("description", "")).rstrip())
            seen["asked"][data["tool_call_id"]] = data
    else:
        state = update["status"]["state"].removeprefix("TASK_STATE_").lower().replace("_", "-")
        print(f"[{state}] {text}".rstrip())


def ask(call):
    line = input(f"Allow {call['tool_name']}? y, n, or a line to add to the file:\n")
    # A change of the person's own is written instead of what was proposed.
    edit = call["confirmation_request"].get("file_edit_details")
    change = {"file_details": {"new_content": f"{edit['new_content']}{line}\n"}} if edit and line[1:] else {}
    option = "proceed_once" if change or line == "y" else "cancel"
    return {"tool_call_id": call["tool_call_id"], "selected_option_id": option, **change}


asyncio.run(main(*sys.argv[1:]))
