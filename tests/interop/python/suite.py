"""The checks that every SDK must pass on every binding, in words free of version and binding."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import following
import pushing
import refusing
import talking
from harness import Checks
from peer import Peer

Connect = Callable[[], AbstractAsyncContextManager[Peer]]


def add_to(checks: Checks, pair: str, connect: Connect, *, has_final: bool, lists_push: bool) -> None:
    """Adds every check, named after its docstring.

    `has_final`: the SDK shows the `final` of 0.3. `lists_push`: it lists and deletes push configurations.
    """

    def add(check: Callable[[Peer], Any]) -> None:
        async def run() -> None:
            async with connect() as peer:
                await check(peer)

        checks.add(check.__doc__, run, pair)

    left_out = [] if has_final else [following.final_marks_the_end]
    left_out += [] if lists_push else [pushing.listed_and_deleted, pushing.deleted]
    for check in ALL:
        if check not in left_out:
            add(check)


ALL = [
    talking.send_answers,
    talking.send_without_waiting,
    talking.history_is_trimmed,
    talking.question_and_answer,
    talking.question_on_a_stream,
    talking.ends_waiting,
    talking.other_ends,
    talking.auth_goes_on,
    talking.final_status_text,
    talking.bare_message,
    talking.artifacts_of_all_kinds,
    talking.input_of_all_kinds,
    talking.same_context,
    talking.sent_twice,
    following.stream_in_order,
    following.final_marks_the_end,
    following.stream_folds_to_the_task,
    following.chunked_artifact,
    following.resubscribe_has_no_gap,
    following.resubscribe_after_the_end,
    following.leaving_does_not_stop,
    following.cancel_running,
    following.cancel_waiting,
    following.cancel_reaches_every_stream,
    refusing.cancel_finished,
    refusing.unknown_task,
    refusing.message_to_finished,
    refusing.wrong_context,
    refusing.foreign_media,
    refusing.bad_parameters,
    pushing.kept_and_replaced,
    pushing.listed_and_deleted,
    pushing.received,
    pushing.deleted,
    pushing.refused,
    refusing.no_extended_card,
]
