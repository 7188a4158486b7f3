// An agent on the server side of npm @a2a-js/sdk 0.3.14 that obeys the steering words of the conformance suite.
//
// Run as `node agent_0_3.mjs`: listens on free ports of loopback, prints where, and serves all three bindings. Everything
// but the agent itself is the SDK's, with its defaults. The packages are looked for in the folder named by `INTEROP_SDK`,
// or in the current one.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const require = createRequire(join(process.env.INTEROP_SDK ?? process.cwd(), 'agent.cjs'));
const { DefaultRequestHandler, InMemoryPushNotificationStore, InMemoryTaskStore } = require('@a2a-js/sdk/server');
const { agentCardHandler, jsonRpcHandler, restHandler } = require('@a2a-js/sdk/server/express');
const { A2AService, grpcService } = require('@a2a-js/sdk/server/grpc');
const grpc = require('@grpc/grpc-js');
const express = require('express');

const text = (words) => ({ kind: 'text', text: words });

/** Does what the second word of the message says. */
class SteeredAgent {
  running = new Map();

  async execute(request, bus) {
    const { taskId, contextId, userMessage } = request;
    const said = userMessage.parts.map((it) => (it.kind === 'text' ? it.text : '')).join('\n');
    const [first, second] = said.split(/\s+/);
    const word = first === 'conformance' ? second : '';
    const message = (words) =>
      ({ kind: 'message', messageId: randomUUID(), contextId, taskId, role: 'agent', parts: [text(words)] });
    if (word === 'message') {
      bus.publish({ ...message('Just a message.'), taskId: undefined });
      bus.finished();
      return;
    }
    const status = (state, words) => ({
      state, message: words ? message(words) : undefined, timestamp: new Date().toISOString(),
    });
    const publish = (state, words, final = false) =>
      bus.publish({ kind: 'status-update', taskId, contextId, status: status(state, words), final });
    if (!request.task) {
      bus.publish({ kind: 'task', id: taskId, contextId, status: status('submitted'), history: [userMessage], artifacts: [] });
    }
    publish('working');
    const stop = new AbortController();
    this.running.set(taskId, stop);
    try {
      const ends = {
        ask: ['input-required', 'Which one?'], auth: ['auth-required', 'Sign in first.'],
        fail: ['failed', 'It did not work.'], reject: ['rejected', 'Not for me.'],
      };
      if (word in ends) {
        publish(...ends[word], true);
      } else {
        await sleep({ slow: 60_000, brief: 400 }[word] ?? 0, undefined, { signal: stop.signal });
        await this.produce(bus, taskId, contextId, word, stop.signal);
        publish('completed', undefined, true);
      }
    } catch (error) {
      if (error.name !== 'AbortError') throw error;
      publish('canceled', undefined, true);
    } finally {
      this.running.delete(taskId);
    }
    bus.finished();
  }

  async produce(bus, taskId, contextId, word, signal) {
    const publish = (parts, append, lastChunk) => bus.publish({
      kind: 'artifact-update', taskId, contextId, artifact: { artifactId: 'result', name: 'Result', parts }, append, lastChunk,
    });
    if (word === 'parts') {
      const bytes = Buffer.from([0, 1, 2, 3]).toString('base64');
      publish([
        text('words'),
        { kind: 'file', file: { bytes, mimeType: 'application/octet-stream', name: 'four.bin' } },
        { kind: 'file', file: { uri: 'https://example.com/file.txt', mimeType: 'text/plain' } },
        { kind: 'data', data: { number: 1, list: [true, null] } },
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

  async cancelTask(taskId) {
    this.running.get(taskId)?.abort();
  }
}

const app = express();
const server = createServer(app);
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const http = `http://127.0.0.1:${server.address().port}`;
const rpcServer = new grpc.Server();
const rpcPort = await new Promise((done, failed) =>
  rpcServer.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) =>
    error ? failed(error) : done(port)));

const card = {
  name: '@a2a-js/sdk 0.3', description: 'Obeys the words of the conformance suite.', version: '0.3.14',
  protocolVersion: '0.3.0', url: `${http}/rpc`, preferredTransport: 'JSONRPC',
  additionalInterfaces: [
    { url: `${http}/rpc`, transport: 'JSONRPC' }, { url: `${http}/rest`, transport: 'HTTP+JSON' },
    { url: `127.0.0.1:${rpcPort}`, transport: 'GRPC' },
  ],
  capabilities: { streaming: true, pushNotifications: true },
  defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'],
  skills: [{ id: 'steered', name: 'Steered', description: 'Does as it is told.', tags: ['test'] }],
  supportsAuthenticatedExtendedCard: true,
};
const inside = { id: 'inside', name: 'Inside', description: 'Only the extended card tells of it.', tags: ['test'] };
const extended = { ...card, skills: [...card.skills, inside] };
const requestHandler = new DefaultRequestHandler(
  card, new InMemoryTaskStore(), new SteeredAgent(), undefined, new InMemoryPushNotificationStore(), undefined, extended);
// The extended card is for callers that the server knows.
const known = async () => ({ isAuthenticated: true, userName: 'caller' });
const options = { requestHandler, userBuilder: known };
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/rpc', jsonRpcHandler(options));
app.use('/rest', restHandler(options));
rpcServer.addService(A2AService, grpcService(options));
console.log(`listening on ${http}`);
