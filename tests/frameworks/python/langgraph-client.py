"""PyPI `langgraph-a2a-client`: the tool that sends a message; it sends neither a context nor a task."""

from langgraph_a2a_client import A2AClientToolProvider

from harness import Client, Missing, Unexpected, main


class Langgraph(Client):
    async def connect(self, url):
        self.url = url
        self.tools = {tool.name: tool for tool in A2AClientToolProvider().tools}
        await self.call("a2a_discover_agent", url=url)

    async def call(self, name, **words):
        found = await self.tools[name].ainvoke(words)
        if found["status"] != "success":
            raise Unexpected(found["error"])
        return found

    async def conversation(self):
        async def send(prompt):
            if prompt == "yes":
                raise Missing("it sends neither a context nor a task, so an answer reaches no question")
            found = await self.call("a2a_send_message", message_text=prompt, target_agent_url=self.url)
            task = found["response"]["task"]
            # A model is given all of this; these are the texts in it.
            shown = [task["status"]["message"]] if task["status"].get("message") else task.get("artifacts", [])
            return "\n".join(part["text"] for one in shown for part in one["parts"])

        return send

    async def pieces(self, prompt):
        raise Missing("the tool does not stream")


main(Langgraph())
