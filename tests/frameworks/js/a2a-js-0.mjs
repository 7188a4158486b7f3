// npm `@a2a-js/sdk` 0.3: the client that `ClientFactory` makes, read as the SDK's own README reads it.

import { randomUUID } from 'node:crypto';

import { Client, main, packaged } from './harness.mjs';

const { ClientFactory } = await packaged('@a2a-js/sdk/client');

class A2aJs extends Client {
  async connect(url) {
    this.client = await new ClientFactory().createFromUrl(url);
  }

  async conversation() {
    const contextId = randomUUID();
    let taskId;
    return async (prompt) => {
      const task = await this.client.sendMessage({ message: message(prompt, { contextId, taskId }) });
      const asks = task.status.state === 'input-required';
      taskId = asks ? task.id : undefined;
      const answer = task.artifacts?.[0];
      return asks || !answer ? task.status.message?.parts[0].text : answer.parts[0].text;
    };
  }

  async pieces(prompt) {
    const found = [];
    for await (const event of this.client.sendMessageStream({ message: message(prompt) })) {
      if (event.kind === 'artifact-update') found.push(event.artifact.parts[0].text);
      if (event.kind === 'status-update' && event.status.message) found.push(event.status.message.parts[0].text);
    }
    return found;
  }
}

function message(text, place = {}) {
  return { kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text }], ...place };
}

await main(new A2aJs());
