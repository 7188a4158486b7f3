// An agent on npm @a2a-js/sdk that writes an invitation from what it is told: `node writer.mjs 9103`.

import { createServer } from 'node:http';

import { TaskState } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler } from '@a2a-js/sdk/server/express';
import express from 'express';

const text = (value) => ({ content: { $case: 'text', value }, mediaType: '', filename: '', metadata: undefined });

/** The first day that is free and sunny. */
function invitation(told) {
  const free = /Free: ([^.]*)\./.exec(told)?.[1].split(', ') ?? [];
  const day = free.find((day) => told.includes(`${day}: sun`));
  return day ? `Come to our picnic on ${day}! The sun will shine.` : 'No day is free and sunny.';
}

class Writer {
  async execute({ taskId, contextId, userMessage, task }, bus) {
    const told = userMessage.parts.map((part) => (part.content?.$case === 'text' ? part.content.value : '')).join('\n');
    const status = (state) => ({ state, message: undefined, timestamp: new Date().toISOString() });
    const publish = (state) =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state), metadata: undefined }));
    bus.publish(AgentEvent.task(task ?? {
      id: taskId, contextId, status: status(TaskState.TASK_STATE_SUBMITTED), artifacts: [], history: [userMessage],
      metadata: undefined,
    }));
    publish(TaskState.TASK_STATE_WORKING);
    const artifact = {
      artifactId: 'invitation', name: 'Invitation', description: '', parts: [text(invitation(told))], metadata: undefined,
      extensions: [],
    };
    bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined }));
    publish(TaskState.TASK_STATE_COMPLETED);
    bus.finished();
  }

  async cancelTask() {}
}

const app = express();
const server = createServer(app);
await new Promise((done) => server.listen(Number(process.argv[2]), '127.0.0.1', done));
const url = `http://127.0.0.1:${server.address().port}`;
const description = 'Writes an invitation from the free days and the weather that it is told.';
const card = {
  name: 'writer', description, version: '1.0.0',
  supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
  provider: undefined, documentationUrl: undefined, iconUrl: undefined,
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  securitySchemes: {}, securityRequirements: [], signatures: [],
  defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'],
  skills: [{
    id: 'writer', name: 'invitation', description, tags: ['picnic'], examples: [], inputModes: [], outputModes: [],
    securityRequirements: [],
  }],
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Writer());
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
console.log(`writer is listening on ${url}`);
