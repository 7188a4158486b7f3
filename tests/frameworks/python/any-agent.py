"""PyPI `any-agent`: the tool that `a2a_tool_async` makes of the remote agent; it reads only the message of the status."""

from any_agent.tools import a2a_tool_async

from harness import Client, Missing, main


class AnyAgent(Client):
    async def connect(self, url):
        self.tool = await a2a_tool_async(url)

    async def conversation(self):
        context, task = None, None

        async def send(prompt):
            nonlocal context, task
            result = await self.tool(prompt, task, context)
            context = result.get("context_id") or context
            task = result.get("task_id") if result.get("status") == "input-required" else None
            return "".join(result.get("message", [str(result)]))

        return send

    async def pieces(self, prompt):
        raise Missing("the tool does not stream")


main(AnyAgent())
