"""Checks of requests that an SDK can make and a server must refuse."""

from uuid import uuid4

import scripted
from harness import equal, true
from peer import (
    CONTENT_TYPE_NOT_SUPPORTED,
    INVALID_PARAMS,
    TASK_NOT_CANCELABLE,
    TASK_NOT_FOUND,
    UNSUPPORTED_OPERATION,
    Peer,
    everything,
    message,
    refusal,
    sent,
)


async def cancel_finished(peer: Peer) -> None:
    """cancel of a finished or canceled task is refused"""
    done = await sent(peer, scripted.ECHO)
    equal(await refusal(peer, peer.cancel(done["id"])), TASK_NOT_CANCELABLE, "for a completed task")
    canceled = await sent(peer, scripted.ASK)
    await peer.cancel(canceled["id"])
    equal(await refusal(peer, peer.cancel(canceled["id"])), TASK_NOT_CANCELABLE, "for a canceled task")


async def unknown_task(peer: Peer) -> None:
    """an unknown task is not found by any operation"""
    absent = str(uuid4())
    equal(await refusal(peer, peer.get(absent)), TASK_NOT_FOUND, "get")
    equal(await refusal(peer, peer.cancel(absent)), TASK_NOT_FOUND, "cancel")
    equal(await refusal(peer, everything(peer.resubscribe(absent))), TASK_NOT_FOUND, "resubscribe")
    equal(await refusal(peer, peer.send(message(scripted.ECHO, taskId=absent))), TASK_NOT_FOUND, "send")
    stream = peer.stream(message(scripted.ECHO, taskId=absent))
    equal(await refusal(peer, everything(stream)), TASK_NOT_FOUND, "stream")


async def message_to_finished(peer: Peer) -> None:
    """a message to a finished task is refused"""
    done = await sent(peer, scripted.ECHO)
    more = message(scripted.ECHO, taskId=done["id"])
    equal(await refusal(peer, peer.send(more)), UNSUPPORTED_OPERATION, "send")
    equal(await refusal(peer, everything(peer.stream(more))), UNSUPPORTED_OPERATION, "stream")


async def wrong_context(peer: Peer) -> None:
    """a message whose context is not the task's is refused"""
    asked = await sent(peer, scripted.ASK)
    lost = message(scripted.REPLY, taskId=asked["id"], contextId=str(uuid4()))
    equal(await refusal(peer, peer.send(lost)), INVALID_PARAMS, "the refusal")


async def foreign_media(peer: Peer) -> None:
    """a media type the agent does not take is refused"""
    film = {"url": "https://files.example/film", "filename": "film", "mediaType": "video/x-interop"}
    code = await refusal(peer, peer.send(message("", parts=[{"text": scripted.ECHO}, film])))
    equal(code, CONTENT_TYPE_NOT_SUPPORTED, "the refusal")


async def bad_parameters(peer: Peer) -> None:
    """parameters the SDK lets through are checked by the server"""
    done = await sent(peer, scripted.ECHO)
    equal(await refusal(peer, peer.get(done["id"], -1)), INVALID_PARAMS, "a negative history length")
    equal(await refusal(peer, peer.send(message("", parts=[]))), INVALID_PARAMS, "a message without parts")
    equal(
        await refusal(peer, peer.send(message(scripted.ECHO, messageId=""))),
        INVALID_PARAMS,
        "an empty message id",
    )


async def no_extended_card(peer: Peer) -> None:
    """the extended card is refused where there is none; over the gRPC of 0.3 the public one takes its place"""
    if (peer.version, peer.binding) == ("0.3", "grpc"):
        # Clients that speak nothing but gRPC have no other way to a card.
        true((await peer.extended_card())["skills"], "the public card has skills")
        return
    code = await refusal(peer, peer.extended_card())
    true(
        code in peer.extended_card_codes,
        f"refused with {code}, not one of {sorted(peer.extended_card_codes)}",
    )
