// npm `@a2a-js/sdk` 1: the client that `ClientFactory` makes, as it is without options.

import { randomUUID } from 'node:crypto';

import { Client, main, packaged } from './harness.mjs';

const { Role, TaskState } = await packaged('@a2a-js/sdk');
const { ClientFactory } = await packaged('@a2a-js/sdk/client');

class A2aJs extends Client {
  async connect(url) {
    this.client = await new ClientFactory().createFromUrl(url);
  }

  async conversation() {
    const contextId = randomUUID();
    let taskId = '';
    return async (prompt) => {
      const task = await this.client.sendMessage(request(prompt, { contextId, taskId }));
      const asks = task.status.state === TaskState.TASK_STATE_INPUT_REQUIRED;
      taskId = asks ? task.id : '';
      return firstText(asks || !task.artifacts.length ? task.status.message : task.artifacts[0]);
    };
  }

  async pieces(prompt) {
    const found = [];
    for await (const { payload } of this.client.sendMessageStream(request(prompt))) {
      if (payload.$case === 'artifactUpdate') found.push(firstText(payload.value.artifact));
      if (payload.$case === 'statusUpdate') found.push(firstText(payload.value.status.message));
    }
    return found;
  }
}

function request(text, place = { contextId: '', taskId: '' }) {
  const part = { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' };
  const message = {
    messageId: randomUUID(),
    role: Role.ROLE_USER,
    parts: [part],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...place,
  };
  return { tenant: '', message, configuration: undefined, metadata: undefined };
}

/** The first part of a message or an artifact, as samples read answers. */
function firstText(holder) {
  return holder?.parts[0]?.content?.value;
}

await main(new A2aJs());
