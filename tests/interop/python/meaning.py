"""One neutral reading of tasks, messages and stream events, whatever version or binding spelled them.

Two spellings of one task read equal here. What a dialect has no place for is left out of the reading on
purpose: media type and file name of text and data parts, `referenceTaskIds`, and `final` of an event.
"""

import base64
from datetime import datetime
from typing import Any

Json = dict[str, Any]


def task(spelled: Json) -> Json:
    return {
        "id": spelled["id"],
        "context": spelled.get("contextId"),
        "status": status(spelled["status"]),
        "artifacts": [artifact(one) for one in spelled.get("artifacts") or []],
        "history": [message(one) for one in spelled.get("history") or []],
        "metadata": spelled.get("metadata") or None,
    }


def status(spelled: Json) -> Json:
    said = spelled.get("message") or {}
    return {
        "state": state(spelled["state"]),
        # An SDK may hand out an empty message where there is none.
        "message": message(said) if said.get("messageId") else None,
        "at": instant(spelled.get("timestamp")),
    }


def state(spelled: str) -> str:
    word = spelled.removeprefix("TASK_STATE_").lower().replace("_", "-")
    return "canceled" if word == "cancelled" else word


def message(spelled: Json) -> Json:
    return {
        "id": spelled["messageId"],
        "role": spelled["role"].removeprefix("ROLE_").lower(),
        "context": spelled.get("contextId") or None,
        "task": spelled.get("taskId") or None,
        "parts": [part(one) for one in spelled.get("parts") or spelled.get("content") or []],
        "extensions": spelled.get("extensions") or [],
        "metadata": spelled.get("metadata") or None,
    }


def artifact(spelled: Json) -> Json:
    return {
        "id": spelled["artifactId"],
        "name": spelled.get("name") or None,
        "description": spelled.get("description") or None,
        "parts": [part(one) for one in spelled.get("parts") or []],
        "extensions": spelled.get("extensions") or [],
        "metadata": spelled.get("metadata") or None,
    }


def part(spelled: Json) -> Json:
    metadata = dict(spelled.get("metadata") or {})
    read = _content(spelled)
    if metadata.pop("data_part_compat", False):
        read["data"] = read["data"]["value"]
    return {**read, "metadata": metadata or None}


def _content(spelled: Json) -> Json:
    if "text" in spelled:
        return {"text": spelled["text"]}
    if "file" in spelled:  # both 0.3 dialects
        file = spelled["file"]
        name, media_type = file.get("name") or None, file.get("mimeType") or None
        address = file.get("uri") or file.get("fileWithUri")
        if address:
            return {"url": address, "name": name, "type": media_type}
        return {
            "raw": _bytes(file.get("bytes") or file.get("fileWithBytes")),
            "name": name,
            "type": media_type,
        }
    name, media_type = spelled.get("filename") or None, spelled.get("mediaType") or None
    if "url" in spelled:
        return {"url": spelled["url"], "name": name, "type": media_type}
    if "raw" in spelled:
        return {"raw": _bytes(spelled["raw"]), "name": name, "type": media_type}
    data = spelled["data"]
    # The 0.3 HTTP+JSON spelling has one more layer and no `kind`.
    if "kind" not in spelled and isinstance(data, dict) and set(data) == {"data"}:
        data = data["data"]
    return {"data": data}


def event(spelled: Json) -> Json:
    """A stream item, from the wrapped spelling (`task`, `statusUpdate`, …) or the one with `kind`."""
    kinds = {
        "task": "task",
        "message": "message",
        "status-update": "statusUpdate",
        "artifact-update": "artifactUpdate",
    }
    if "kind" in spelled:
        spelled = {kinds[spelled["kind"]]: spelled}
    ((kind, inner),) = spelled.items()
    if kind == "task":
        return {"kind": "task", "task": task(inner)}
    if kind == "message":
        return {"kind": "message", "message": message(inner)}
    place = {"task_id": inner["taskId"], "context": inner["contextId"]}
    if kind == "statusUpdate":
        return {"kind": "status", **place, "status": status(inner["status"])}
    if kind == "artifactUpdate":
        return {
            "kind": "artifact",
            **place,
            "artifact": artifact(inner["artifact"]),
            "append": bool(inner.get("append")),
            "last": bool(inner.get("lastChunk")),
        }
    raise AssertionError(f"a stream item of unknown kind {kind}")


def instant(spelled: str | None) -> float | None:
    return datetime.fromisoformat(spelled).timestamp() if spelled else None


def fold(events: list[Json]) -> Json:
    """The task that a stream tells, by the rules for `append`."""
    folded = events[0]["task"]
    folded = {**folded, "artifacts": [{**one, "parts": list(one["parts"])} for one in folded["artifacts"]]}
    for one in events[1:]:
        if one["kind"] == "status":
            folded["status"] = one["status"]
        elif one["kind"] == "artifact":
            _fold_artifact(folded["artifacts"], one)
        else:
            raise AssertionError(f"a {one['kind']} in the middle of a stream")
    return folded


def _fold_artifact(artifacts: list[Json], one: Json) -> None:
    piece = {**one["artifact"], "parts": list(one["artifact"]["parts"])}
    places = [place for place, known in enumerate(artifacts) if known["id"] == piece["id"]]
    if not places:
        artifacts.append(piece)
    elif one["append"]:
        artifacts[places[0]]["parts"].extend(piece["parts"])
    else:
        artifacts[places[0]] = piece


def shown(read: Json) -> Json:
    """What a stream tells of a task: everything but the history, of which it shows only the start.

    A stream tells a text in pieces and a task shows it as one part, so adjacent texts are joined here.
    """
    told = {key: value for key, value in read.items() if key not in ("history", "metadata")}
    artifacts = [{**one, "parts": joined(one["parts"])} for one in told["artifacts"]]
    return {**told, "artifacts": artifacts}


def joined(parts: list[Json]) -> list[Json]:
    whole: list[Json] = []
    for part in parts:
        if whole and all("text" in one and not one.get("metadata") for one in (whole[-1], part)):
            whole[-1] = {**whole[-1], "text": whole[-1]["text"] + part["text"]}
        else:
            whole.append(part)
    return whole


def text(parts: list[Json]) -> str:
    return "".join(one["text"] for one in parts if "text" in one)


def _bytes(encoded: str) -> bytes:
    return base64.b64decode(encoded, validate=True)
