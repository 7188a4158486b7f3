"""PyPI `fasta2a`: its `A2AClient`, which finds the agent by its card."""

import uuid

from fasta2a.client import A2AClient

from harness import Client, Unexpected, main


class Fasta2a(Client):
    async def connect(self, url):
        self.client = A2AClient(url, fetch_card=True)

    async def conversation(self):
        ids = {"context_id": str(uuid.uuid4())}

        async def send(prompt):
            result = result_of(await self.client.send_message(message(prompt, **ids)))
            if "task" not in result:
                raise Unexpected("it calls a method of 0.3 and reads the answer as one of 1.0")
            task = result["task"]
            ids.pop("task_id", None)
            if task["status"]["state"] == "input-required":
                ids["task_id"] = task["id"]
                return text(task["status"]["message"])
            return "".join(text(artifact) for artifact in task.get("artifacts", [])) or text(task["status"]["message"])

        return send

    async def pieces(self, prompt):
        found = []
        async for event in self.client.stream_message(message(prompt)):
            update = result_of(event)
            if "artifact_update" in update:
                found.append(text(update["artifact_update"]["artifact"]))
        return found


def message(prompt, **ids):
    return {"role": "user", "parts": [{"text": prompt}], "message_id": str(uuid.uuid4()), **ids}


def result_of(response):
    if "result" not in response:
        raise Unexpected(str(response.get("error", response)))
    return response["result"]


def text(found):
    return "".join(part["text"] for part in found["parts"] if "text" in part)


main(Fasta2a())
