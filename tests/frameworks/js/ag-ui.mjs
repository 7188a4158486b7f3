// npm `@ag-ui/a2a`: the agent behind an AG-UI agent, with the A2A client that the package brings along.

import { randomUUID } from 'node:crypto';

import { Client, main, packaged } from './harness.mjs';

const { A2AAgent } = await packaged('@ag-ui/a2a');
const { A2AClient } = await packaged('@a2a-js/sdk/client');

class AgUi extends Client {
  async connect(url) {
    this.client = new A2AClient(url);
    await this.client.getAgentCard();
  }

  async conversation() {
    const agent = this.agent();
    return async (content) => {
      agent.addMessage({ id: randomUUID(), role: 'user', content });
      const { newMessages } = await agent.runAgent();
      return newMessages.map((message) => message.content).join('');
    };
  }

  async pieces(content) {
    const agent = this.agent();
    agent.addMessage({ id: randomUUID(), role: 'user', content });
    const found = [];
    await agent.runAgent({}, { onTextMessageContentEvent: ({ event }) => void found.push(event.delta) });
    return found;
  }

  agent() {
    return new A2AAgent({ a2aClient: this.client, threadId: randomUUID() });
  }
}

await main(new AgUi());
