"""Checks of what comes back when somebody speaks to the agent."""

from uuid import uuid4

import meaning
import scripted
from harness import equal, true
from meaning import Json
from peer import Peer, answer, everything, message, reaches, sent, started


async def send_answers(peer: Peer) -> None:
    """send waits for the end and shows the answer in an artifact and in the history"""
    said = message(scripted.ECHO)
    task = (await peer.send(said))["task"]
    equal(task["status"]["state"], "completed", "the state")
    equal(answer(task), scripted.ECHO_ANSWER, "the answer")
    equal([one["role"] for one in task["history"]], ["user", "agent"], "who spoke")
    equal(task["history"][0]["id"], said["messageId"], "the id of the first message")
    equal(meaning.text(task["history"][1]["parts"]), scripted.ECHO_ANSWER, "the answer in the history")
    for one in task["history"]:
        equal((one["task"], one["context"]), (task["id"], task["context"]), "where a message belongs")
    equal(await peer.get(task["id"]), task, "the task as get shows it")


async def send_without_waiting(peer: Peer) -> None:
    """send without blocking returns at once and get shows the end later"""
    task = await started(peer, scripted.STREAM)
    true(task["status"]["state"] in ("submitted", "working"), f"returned in state {task['status']['state']}")
    done = await reaches(peer, task["id"], "completed")
    equal(answer(done), scripted.STREAM_ANSWER, "the answer")


async def history_is_trimmed(peer: Peer) -> None:
    """historyLength trims what get and send show, newest kept"""
    task = await sent(peer, scripted.ECHO)
    whole = (await peer.get(task["id"]))["history"]
    equal((await peer.get(task["id"], 1))["history"], whole[-1:], "one message")
    equal((await peer.get(task["id"], 99))["history"], whole, "more than there are")
    expected = whole if peer.zero_history_is_everything else []
    equal((await peer.get(task["id"], 0))["history"], expected, "history length zero")
    trimmed = await peer.send(message(scripted.ECHO), history_length=1)
    equal([one["role"] for one in trimmed["task"]["history"]], ["agent"], "the history that send shows")


async def question_and_answer(peer: Peer) -> None:
    """a task that asks goes on with the answer sent to it"""
    asked = await sent(peer, scripted.ASK)
    equal(asked["status"]["state"], "input-required", "the state")
    question = asked["status"]["message"]
    equal((question["role"], meaning.text(question["parts"])), ("agent", scripted.QUESTION), "the question")
    reply = message(scripted.REPLY, taskId=asked["id"], contextId=asked["context"])
    done = (await peer.send(reply))["task"]
    equal((done["id"], done["context"]), (asked["id"], asked["context"]), "the task that goes on")
    equal(done["status"]["state"], "completed", "the state after the answer")
    equal(answer(done), scripted.GREETING, "what is made of the answer")
    ids = [one["id"] for one in done["history"]]
    true(ids.index(question["id"]) < ids.index(reply["messageId"]), "the question stands before its answer")


async def question_on_a_stream(peer: Peer) -> None:
    """a stream closes at a question and a second one goes on"""
    asked = await everything(peer.stream(message(scripted.ASK)))
    equal(asked[-1]["status"]["state"], "input-required", "the last state of the first stream")
    task = asked[0]["task"]
    # Only the task id: the server finds the context itself.
    events = await everything(peer.stream(message(scripted.REPLY, taskId=task["id"])))
    equal(events[0]["task"]["id"], task["id"], "the task of the second stream")
    equal(events[0]["task"]["context"], task["context"], "the context of the second stream")
    equal(events[-1]["status"]["state"], "completed", "the last state of the second stream")


async def ends_waiting(peer: Peer) -> None:
    """a turn may end in input-required without a question"""
    task = await sent(peer, scripted.WAIT_FOR_INPUT)
    equal(task["status"]["state"], "input-required", "the state")
    equal(task["status"]["message"], None, "the question")


async def other_ends(peer: Peer) -> None:
    """rejected, failed and auth-required tasks say why"""
    ends = {scripted.REJECT: "rejected", scripted.FAIL: "failed", scripted.AUTH: "auth-required"}
    for trigger, state in ends.items():
        task = await sent(peer, trigger)
        events = await everything(peer.stream(message(trigger)))
        for status in (task["status"], events[-1]["status"]):
            equal(status["state"], state, f"the state after {trigger!r}")
            said = status["message"]
            equal(
                (said["role"], meaning.text(said["parts"])),
                ("agent", scripted.REASONS[trigger]),
                "the reason",
            )


async def auth_goes_on(peer: Peer) -> None:
    """a stream stays open through auth-required when the agent goes on by itself"""
    events = await everything(peer.stream(message(scripted.RESUME)))
    states = [event["status"]["state"] for event in events if event["kind"] == "status"]
    equal(states[-3:], ["auth-required", "working", "completed"], "the states")
    waiting = await sent(peer, scripted.RESUME)
    equal(waiting["status"]["state"], "auth-required", "the state that send returns at")
    await reaches(peer, waiting["id"], "completed")


async def final_status_text(peer: Peer) -> None:
    """a final status may carry a text"""
    task = await sent(peer, scripted.STATUS)
    equal(task["status"]["state"], "completed", "the state")
    equal(meaning.text(task["status"]["message"]["parts"]), scripted.STATUS_TEXT, "the text of the status")


async def bare_message(peer: Peer) -> None:
    """a bare message answers send and stream"""
    answered = await peer.send(message(scripted.BARE))
    streamed = await everything(peer.stream(message(scripted.BARE)))
    equal([event["kind"] for event in streamed], ["message"], "the stream")
    for one in (answered, streamed[0]):
        equal(one["kind"], "message", "the answer")
        said = one["message"]
        equal((said["role"], meaning.text(said["parts"])), ("agent", scripted.BARE_ANSWER), "what is said")
        true(said["id"] and said["context"], "the message has an id and a context")


async def artifacts_of_all_kinds(peer: Peer) -> None:
    """artifacts carry text, file bytes, file addresses and data"""
    task = await sent(peer, scripted.ARTIFACTS)
    equal(task["status"]["state"], "completed", "the state")
    found = {artifact["id"]: artifact for artifact in task["artifacts"]}
    for artifact_id, expected in scripted.ARTIFACT_PARTS.items():
        if artifact_id == "bytes" and not peer.reads_file_bytes:
            continue
        parts = [{**part, "metadata": None} for part in found[artifact_id]["parts"]]
        equal(parts, [{**part, "metadata": None} for part in expected], f"the parts of {artifact_id}")
    equal(
        (found["text"]["name"], found["text"]["description"]),
        ("Text", "Three pieces"),
        "name and description",
    )


async def input_of_all_kinds(peer: Peer) -> None:
    """what the user sends stands in the history unchanged"""
    parts: list[Json] = [
        {"text": scripted.ECHO, "metadata": {"note": "über"}},
        {"data": {"nested": {"list": [1, 2.5, "three", None, True]}}},
        {"url": "https://files.example/readme.txt", "filename": "readme.txt", "mediaType": "text/plain"},
    ]
    if peer.sends_file_bytes:
        parts.append({"raw": "aGVsbG8=", "filename": "hello.txt", "mediaType": "text/plain"})
    said = message("", parts=parts, metadata={"https://example.test/ext": {"depth": 3}})
    task = (await peer.send(said))["task"]
    kept = task["history"][0]
    equal(kept["parts"], meaning.message(said)["parts"], "the parts")
    equal(kept["metadata"], said["metadata"], "the metadata")


async def same_context(peer: Peer) -> None:
    """a context made by the client is kept for every task in it"""
    context = f"interop-{uuid4()}"
    first = await sent(peer, scripted.ECHO, contextId=context)
    second = await sent(peer, scripted.ECHO, contextId=context)
    equal((first["context"], second["context"]), (context, context), "the contexts")
    true(first["id"] != second["id"], "two tasks")


async def sent_twice(peer: Peer) -> None:
    """a message sent again while it is worked on is one task, and after that another"""
    said = message(scripted.SLOW)
    first = (await peer.send(said, wait=False))["task"]
    second = (await peer.send(said, wait=False))["task"]
    equal(second["id"], first["id"], "the second answer")
    await peer.cancel(first["id"])
    third = (await peer.send(said, wait=False))["task"]
    true(third["id"] != first["id"], "a new task")
    await peer.cancel(third["id"])
