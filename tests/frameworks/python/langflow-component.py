"""PyPI `lfx` (the executor of Langflow): the component "A2A Agent", which sends neither a context nor a task."""

from lfx.components.models_and_agents.a2a_agent import A2AAgentComponent, build_a2a_client, _resolve_card_bounded

from harness import Client, Missing, main


class Langflow(Client):
    async def connect(self, url):
        self.url = url
        async with build_a2a_client(url, []) as http:
            await _resolve_card_bounded(http, url)

    async def conversation(self):
        async def send(prompt):
            if prompt == "yes":
                raise Missing("it sends neither a context nor a task, so an answer reaches no question")
            component = A2AAgentComponent(mode="External", agent_url=self.url, input_value=prompt, timeout=30)
            try:
                return (await component.send_to_agent()).text
            except ValueError as error:
                # A question is shown as an error of the component.
                return str(error)

        return send

    async def pieces(self, prompt):
        raise Missing("the component does not stream")


main(Langflow())
