"""Checks of push notifications: configurations that come and go, and what arrives at a receiver."""

from uuid import uuid4

import hook
import meaning
import scripted
from harness import equal, true
from peer import INVALID_PARAMS, TASK_NOT_FOUND, Peer, message, reaches, refusal, sent, started

TOKEN = "told-by-the-client"
CREDENTIALS = "credentials-of-the-client"


async def kept_and_replaced(peer: Peer) -> None:
    """push configurations are created, read and replaced"""
    task = await sent(peer, scripted.ASK)
    async with hook.listening() as place:
        url = place.url
        first = await peer.push_create(task["id"], {"id": "one", "url": url, "token": TOKEN})
        equal((first["id"], first["url"], first.get("token")), ("one", url, TOKEN), "what was created")
        equal(await peer.push_get(task["id"], "one"), first, "what was read again")
        replaced = await peer.push_create(task["id"], {"id": "one", "url": url + "/1"})
        equal((replaced["url"], replaced.get("token") or None), (url + "/1", None), "what took its place")
        equal(await peer.push_get(task["id"], "one"), replaced, "what was read after that")
    await peer.cancel(task["id"])


async def listed_and_deleted(peer: Peer) -> None:
    """push configurations are listed and deleted"""
    task = await sent(peer, scripted.ASK)
    async with hook.listening() as place:
        for name in ("one", "two"):
            await peer.push_create(task["id"], {"id": name, "url": f"{place.url}/{name}"})
        listed = {one["id"]: one["url"] for one in await peer.push_list(task["id"])}
        equal(listed, {"one": place.url + "/one", "two": place.url + "/two"}, "the list")
        await peer.push_delete(task["id"], "one")
        await peer.push_delete(task["id"], "one")
        equal(await refusal(peer, peer.push_get(task["id"], "one")), TASK_NOT_FOUND, "what is gone")
        equal([one["id"] for one in await peer.push_list(task["id"])], ["two"], "what is left")
    await peer.cancel(task["id"])


async def received(peer: Peer) -> None:
    """a push configured with the message reports every state in order, with token and credentials"""
    async with hook.listening() as place:
        config = {
            "url": place.url,
            "token": TOKEN,
            "authentication": {"scheme": "Bearer", "credentials": CREDENTIALS},
        }
        answered = await peer.send(message(scripted.STREAM), push=config)
        task = answered["task"]

        def states(notices: list[hook.Notice]) -> list[str]:
            told = [hook.task_in(one, peer.version) for one in notices]
            return [meaning.state(one["status"]["state"]) for one in told if one]

        notices = await place.received(
            lambda arrived: "completed" in states(arrived), "the notification of the end"
        )
        equal(states(notices)[-1], "completed", "the last state")
        true(set(states(notices)) <= {"submitted", "working", "completed"}, f"the states: {states(notices)}")
        for notice in notices:
            kind = "application/a2a+json" if peer.version == "1.0" else "application/json"
            equal(notice.headers["content-type"].split(";")[0], kind, "the content type")
            equal(notice.headers.get("x-a2a-notification-token"), TOKEN, "the token")
            equal(notice.headers.get("authorization"), f"Bearer {CREDENTIALS}", "the credentials")
        if peer.version == "0.3":
            equal([one.body["kind"] for one in notices], ["task"] * len(notices), "what 0.3 is sent")
            equal({one.body["id"] for one in notices}, {task["id"]}, "the task")
        else:
            true(all(len(one.body) == 1 for one in notices), "1.0 is sent one item each time")
            told = [one.body["statusUpdate"]["taskId"] for one in notices if "statusUpdate" in one.body]
            equal(set(told), {task["id"]}, "the task")


async def deleted(peer: Peer) -> None:
    """after a push configuration is deleted nothing is sent to it"""
    async with hook.listening() as kept, hook.listening() as gone:
        task = await started(peer, scripted.SLOW)
        await reaches(peer, task["id"], "working")
        await peer.push_create(task["id"], {"id": "kept", "url": kept.url})
        await peer.push_create(task["id"], {"id": "gone", "url": gone.url})
        await peer.push_delete(task["id"], "gone")
        before = len(gone.notices)
        await peer.cancel(task["id"])

        def ended(notices: list[hook.Notice]) -> bool:
            told = [hook.task_in(one, peer.version) for one in notices]
            return any(one and meaning.state(one["status"]["state"]) == "canceled" for one in told)

        await kept.received(ended, "the notification that the task was canceled")
        equal(len(gone.notices), before, "notifications to what was deleted")


async def refused(peer: Peer) -> None:
    """push configurations of unknown tasks and with addresses that are not allowed are refused"""
    absent = str(uuid4())
    config = {"id": "one", "url": "https://hook.example/notices"}
    equal(await refusal(peer, peer.push_create(absent, config)), TASK_NOT_FOUND, "create")
    equal(await refusal(peer, peer.push_get(absent, "one")), TASK_NOT_FOUND, "get")
    if peer.lists_push:
        equal(await refusal(peer, peer.push_list(absent)), TASK_NOT_FOUND, "list")
        equal(await refusal(peer, peer.push_delete(absent, "one")), TASK_NOT_FOUND, "delete")
    task = await sent(peer, scripted.ASK)
    for url in ("ftp://127.0.0.1/notices", "http://169.254.169.254/notices", "nowhere"):
        code = await refusal(peer, peer.push_create(task["id"], {"id": "one", "url": url}))
        equal(code, INVALID_PARAMS, url)
    await peer.cancel(task["id"])
