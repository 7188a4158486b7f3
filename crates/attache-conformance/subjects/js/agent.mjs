// An agent on the server side of npm @a2a-js/sdk that obeys the steering words of the conformance suite.
//
// Run as `node agent.mjs`: listens on free ports of loopback, prints where, and serves all six pairs of version and
// binding with the SDK's own 0.3 compatibility. Everything but the agent itself is the SDK's, with its defaults. The
// packages are looked for in the folder named by `INTEROP_SDK`, or in the current one.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const require = createRequire(join(process.env.INTEROP_SDK ?? process.cwd(), 'agent.cjs'));
const { Role, TaskState } = require('@a2a-js/sdk');
const { AgentEvent, DefaultRequestHandler, InMemoryPushNotificationStore, InMemoryTaskStore } =
  require('@a2a-js/sdk/server');
const { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } = require('@a2a-js/sdk/server/express');
const { A2AService, grpcService } = require('@a2a-js/sdk/server/grpc');
const { createLegacyAwarePushNotificationSender } = require('@a2a-js/sdk/compat/v0_3/server');
const { LegacyA2AService, legacyGrpcService } = require('@a2a-js/sdk/compat/v0_3/server/grpc');
const grpc = require('@grpc/grpc-js');
const express = require('express');

const part = (content, mediaType = '', filename = '') => ({ content, mediaType, filename, metadata: undefined });
const text = (value) => part({ $case: 'text', value });

/** Does what the second word of the message says. */
class SteeredAgent {
  running = new Map();

  async execute(request, bus) {
    const { taskId, contextId, userMessage } = request;
    const said = userMessage.parts.map((it) => (it.content?.$case === 'text' ? it.content.value : '')).join('\n');
    const [first, second] = said.split(/\s+/);
    const word = first === 'conformance' ? second : '';
    const message = (words) => ({
      messageId: randomUUID(), contextId, taskId, role: Role.ROLE_AGENT, parts: [text(words)],
      metadata: undefined, extensions: [], referenceTaskIds: [],
    });
    if (word === 'message') {
      bus.publish(AgentEvent.message({ ...message('Just a message.'), taskId: '' }));
      bus.finished();
      return;
    }
    const status = (state, words) => ({
      state, message: words ? message(words) : undefined, timestamp: new Date().toISOString(),
    });
    const publish = (state, words) =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state, words), metadata: undefined }));
    const firstTask = request.task ?? {
      id: taskId, contextId, status: status(TaskState.TASK_STATE_SUBMITTED), artifacts: [], history: [userMessage],
      metadata: undefined,
    };
    bus.publish(AgentEvent.task(firstTask));
    publish(TaskState.TASK_STATE_WORKING);
    const stop = new AbortController();
    this.running.set(taskId, { stop, contextId });
    try {
      const ends = {
        ask: [TaskState.TASK_STATE_INPUT_REQUIRED, 'Which one?'],
        auth: [TaskState.TASK_STATE_AUTH_REQUIRED, 'Sign in first.'],
        fail: [TaskState.TASK_STATE_FAILED, 'It did not work.'],
        reject: [TaskState.TASK_STATE_REJECTED, 'Not for me.'],
      };
      if (word in ends) {
        publish(...ends[word]);
      } else {
        await sleep({ slow: 60_000, brief: 400 }[word] ?? 0, undefined, { signal: stop.signal });
        await this.produce(bus, taskId, contextId, word, stop.signal);
        publish(TaskState.TASK_STATE_COMPLETED);
      }
    } catch (error) {
      if (error.name !== 'AbortError') throw error;
      publish(TaskState.TASK_STATE_CANCELED);
    } finally {
      this.running.delete(taskId);
    }
    bus.finished();
  }

  async produce(bus, taskId, contextId, word, signal) {
    const publish = (parts, append, lastChunk) => {
      const artifact = { artifactId: 'result', name: 'Result', description: '', parts, metadata: undefined, extensions: [] };
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk, metadata: undefined }));
    };
    if (word === 'parts') {
      const raw = Buffer.from([0, 1, 2, 3]);
      publish([
        text('words'),
        part({ $case: 'raw', value: raw }, 'application/octet-stream', 'four.bin'),
        part({ $case: 'url', value: 'https://example.com/file.txt' }, 'text/plain'),
        part({ $case: 'data', value: { number: 1, list: [true, null] } }),
      ], false, true);
      return;
    }
    const numbers = Array.from({ length: 30 }, (_, place) => `${place + 1} `);
    const pieces = { chunks: ['one ', 'two ', 'three'], burst: numbers }[word] ?? ['done'];
    for (const [place, piece] of pieces.entries()) {
      publish([text(piece)], place > 0, place === pieces.length - 1);
      if (word === 'burst') await sleep(25, undefined, { signal });
    }
  }

  async cancelTask(taskId, bus) {
    const running = this.running.get(taskId);
    if (running) {
      running.stop.abort();
      return;
    }
    bus.publish(AgentEvent.statusUpdate({
      taskId, contextId: '', metadata: undefined,
      status: { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: new Date().toISOString() },
    }));
    bus.finished();
  }
}

// Set to anything, the agent has an extended card.
const EXTENDED = 'EXTENDED_CARD' in process.env;

function card(http, rpc) {
  const interfaces = ['1.0', '0.3'].flatMap((protocolVersion) =>
    [['JSONRPC', `${http}/rpc`], ['HTTP+JSON', `${http}/rest`], ['GRPC', rpc]].map(([protocolBinding, url]) =>
      ({ url, protocolBinding, protocolVersion, tenant: '' })));
  return {
    name: '@a2a-js/sdk', description: 'Obeys the words of the conformance suite.', version: '1.3.0',
    supportedInterfaces: interfaces, provider: undefined, documentationUrl: undefined, iconUrl: undefined,
    capabilities: { streaming: true, pushNotifications: true, extensions: [], extendedAgentCard: EXTENDED },
    securitySchemes: {}, securityRequirements: [], signatures: [],
    defaultInputModes: ['text/plain', 'application/json', 'application/octet-stream'], defaultOutputModes: ['text/plain'],
    skills: [{
      id: 'steered', name: 'Steered', description: 'Does as it is told.', tags: ['test'], examples: [], inputModes: [],
      outputModes: [], securityRequirements: [],
    }],
  };
}

const app = express();
const server = createServer(app);
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const http = `http://127.0.0.1:${server.address().port}`;
const rpcServer = new grpc.Server();
const rpcPort = await new Promise((done, failed) =>
  rpcServer.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) =>
    error ? failed(error) : done(port)));

const configs = new InMemoryPushNotificationStore();
const sender = createLegacyAwarePushNotificationSender(configs);
const publicCard = card(http, `127.0.0.1:${rpcPort}`);
const inside = { ...publicCard.skills[0], id: 'inside', description: 'Only the extended card tells of it.' };
const extended = EXTENDED ? { ...publicCard, skills: [...publicCard.skills, inside] } : undefined;
const requestHandler = new DefaultRequestHandler(
  publicCard, new InMemoryTaskStore(), new SteeredAgent(), undefined, configs, sender, extended);
// The extended card is for callers that the server knows.
const known = async () => ({ isAuthenticated: true, userName: 'caller' });
const userBuilder = EXTENDED ? known : UserBuilder.noAuthentication;
const options = { requestHandler, userBuilder, legacyCompat: { enabled: true } };
app.use('/.well-known/agent-card.json',
  agentCardHandler({ agentCardProvider: requestHandler, legacyCompat: { enabled: true } }));
app.use('/rpc', jsonRpcHandler(options));
app.use('/rest', restHandler(options));
rpcServer.addService(A2AService, grpcService(options));
rpcServer.addService(LegacyA2AService, legacyGrpcService(options));
console.log(`listening on ${http}`);
