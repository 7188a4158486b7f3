// The JavaScript SDK 1.3.0 as a client of a running server: `peer_1_0.mjs BASE_URL`.
//
// Every check of `suite.mjs` on all bindings of 1.0, and on all of 0.3 through the SDK's own layer for older
// agents, through its card resolver, factory and clients; then lists.

import { channel, fetching } from './channel.mjs';
import * as crossing from './crossing.mjs';
import * as guarded from './guarded.mjs';
import { Checks, equal, isTrue, main, sdk } from './harness.mjs';
import { keptParts, withAppend } from './legacy_protobuf.mjs';
import * as lists from './lists.mjs';
import * as meaning from './meaning.mjs';
import { message, pair, refusal } from './peer.mjs';
import * as scripted from './scripted.mjs';
import * as suite from './suite.mjs';

const types = sdk('@a2a-js/sdk');
const client = sdk('@a2a-js/sdk/client');

const { GrpcTransportFactory } = sdk('@a2a-js/sdk/client/grpc');

const FACTORIES = {
  jsonrpc: client.JsonRpcTransportFactory,
  rest: client.RestTransportFactory,
  grpc: GrpcTransportFactory,
};

const CODES = {
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32007,
  VERSION_NOT_SUPPORTED: -32009,
  INVALID_PARAMS: -32602,
};

/** The SDK's client on one binding; see `suite.mjs`. With version 0.3, through its layer for older agents. */
class Peer10 {
  sendsNull = true;
  #client;
  #isLegacyProtobuf;

  constructor(binding, version = '1.0', tenant = '') {
    this.tenant = tenant;
    this.binding = binding;
    this.version = version;
    this.#isLegacyProtobuf = version === '0.3' && binding !== 'jsonrpc';
    this.zeroHistoryIsEverything = this.#isLegacyProtobuf;
    this.extendedCardCodes = version === '1.0' ? [-32004] : [-32004, -32007];
  }

  async connect(base, token) {
    const legacyCompat = { enabled: this.version === '0.3' };
    const fetchImpl = fetching(token);
    const transports = [new FACTORIES[this.binding]({ legacyCompat, fetchImpl, ...channel(token) })];
    // Only the interfaces of the version under test, or the SDK would always take 1.0.
    const cardResolver = {
      resolve: async (...place) => {
        const card = await client.AgentCardResolver.default.resolve(...place);
        const offered = card.supportedInterfaces.filter((one) => one.protocolVersion === this.version);
        const dialled = offered.map((one) => ({ ...one, tenant: this.tenant }));
        return { ...card, supportedInterfaces: dialled };
      },
    };
    this.#client = await new client.ClientFactory({ transports, cardResolver }).createFromUrl(base);
    equal(this.#client.protocolVersion, this.version, 'the version the SDK speaks');
    return this;
  }

  async send(said, { wait = true, historyLength, push } = {}) {
    const taskPushNotificationConfig = push && types.TaskPushNotificationConfig.fromJSON(push);
    const configuration = { returnImmediately: !wait, historyLength, taskPushNotificationConfig };
    const answered = await this.#client.sendMessage({ ...sending(said), configuration });
    const isTask = 'status' in answered;
    return isTask
      ? { kind: 'task', task: readTask(answered) }
      : { kind: 'message', message: meaning.message(types.Message.toJSON(answered)) };
  }

  stream(said) {
    return this.#read(this.#client.sendMessageStream(sending(said)));
  }

  resubscribe(id) {
    return this.#read(this.#client.resubscribeTask({ tenant: '', id }));
  }

  async get(id, historyLength) {
    return readTask(await this.#client.getTask({ tenant: '', id, historyLength }));
  }

  async list(filters) {
    const page = await this.#client.listTasks(types.ListTasksRequest.fromJSON(filters));
    return { ...page, tasks: page.tasks.map(readTask) };
  }

  async cancel(id) {
    return readTask(await this.#client.cancelTask({ tenant: '', id, metadata: undefined }));
  }

  async pushCreate(taskId, config) {
    const request = types.TaskPushNotificationConfig.fromJSON({ ...config, taskId });
    return readPush(await this.#client.createTaskPushNotificationConfig(request));
  }

  async pushGet(taskId, id) {
    return readPush(await this.#client.getTaskPushNotificationConfig({ tenant: '', taskId, id }));
  }

  async pushList(taskId) {
    const request = { tenant: '', taskId, pageSize: 0, pageToken: '' };
    return (await this.#client.listTaskPushNotificationConfig(request)).configs.map(readPush);
  }

  async pushDelete(taskId, id) {
    await this.#client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id });
  }

  extendedCard() {
    const options = { serviceParameters: { 'A2A-Version': this.version } };
    return this.#client.transport.getExtendedAgentCard({ tenant: '' }, options);
  }

  keeps(parts) {
    return this.#isLegacyProtobuf ? keptParts(parts) : parts;
  }

  async attempt(call) {
    try {
      return { answered: await call() };
    } catch (error) {
      const code = error.envelopeCode ?? CODES[error.reason];
      if (code === undefined) throw error;
      return { code };
    }
  }

  #read(items) {
    return this.#isLegacyProtobuf ? withAppend(read(items)) : read(items);
  }
}

function readPush({ id, url, token }) {
  return { id, url, token: token || null };
}

async function* read(items) {
  for await (const item of items) yield meaning.event(types.StreamResponse.toJSON(item));
}

function readTask(task) {
  return meaning.task(types.Task.toJSON(task));
}

function sending(said) {
  return types.SendMessageRequest.fromJSON({ message: said });
}

async function cardIsWhole(base) {
  const resolver = new client.DefaultAgentCardResolver();
  const card = await resolver.resolve(base);
  equal(await resolver.resolve(base, '.well-known/agent.json'), card, 'the card at the old path');
  // Without the version header a fetch gets the card for both versions.
  const both = new client.DefaultAgentCardResolver({ fetchImpl: (url) => fetch(url) });
  const read = (one) => types.AgentCard.toJSON(types.AgentCard.fromJSON(one));
  equal(read(await both.resolve(base)), read(card), 'the card for both versions, read as 1.0, and the card of 1.0');
  for (const name of ['name', 'description', 'version', 'defaultInputModes', 'defaultOutputModes', 'skills']) {
    isTrue(card[name]?.length > 0, `the card's ${name} is empty`);
  }
  const offered = card.supportedInterfaces.map((one) => `${one.protocolVersion} ${one.protocolBinding}`);
  for (const binding of ['JSONRPC', 'HTTP+JSON', 'GRPC']) {
    for (const one of [`1.0 ${binding}`, `0.3 ${binding}`]) {
      isTrue(offered.includes(one), `${one} is offered: ${offered}`);
    }
  }
  isTrue(card.capabilities.streaming, 'the card promises streaming');
  isTrue(card.capabilities.pushNotifications, 'the card promises push');
  isTrue(!card.capabilities.extendedAgentCard, 'the card promises no extended card');
  for (const skill of card.skills) {
    isTrue(skill.id && skill.name && skill.description && skill.tags?.length > 0, 'a skill is incomplete');
  }
}

async function tenantsAreApart(base, binding) {
  const nobody = await new Peer10(binding).connect(base);
  const tenant = await new Peer10(binding, '1.0', 'interop').connect(base);
  const { task } = await tenant.send(message(scripted.ECHO));
  equal(await tenant.get(task.id), task, 'the task as its tenant sees it');
  equal(await refusal(nobody, () => nobody.get(task.id)), -32001, 'the task for everybody else');
  const contextId = task.context;
  equal((await tenant.list({ contextId })).tasks.map((one) => one.id), [task.id], 'what the tenant lists');
  equal((await nobody.list({ contextId })).tasks, [], 'what everybody else lists');
}

/** Against the server that lists its tenants. */
async function unknownTenantsAreRefused(binding) {
  const { base, token } = guarded.place();
  const listed = await new Peer10(binding, '1.0', 'interop').connect(base, token);
  const unknown = await new Peer10(binding, '1.0', 'nobody').connect(base, token);
  const { task } = await listed.send(message(scripted.ECHO));
  equal(task.status.state, 'completed', 'the state');
  await guarded.refusedWith(/no tenant/, 'send', () => unknown.send(message(scripted.ECHO)));
  await guarded.refusedWith(/no tenant/, 'get', () => unknown.get(task.id));
  await guarded.refusedWith(/no tenant/, 'list', () => unknown.list({}));
}

main(async (base) => {
  const checks = new Checks('js-1.0');
  checks.add('the card is whole in both forms and at both paths', () => cardIsWhole(base));
  const bindings = Object.keys(FACTORIES);
  for (const version of ['1.0', '0.3']) {
    for (const binding of bindings) {
      const name = pair(version, binding);
      const connect = () => new Peer10(binding, version).connect(base);
      suite.addTo(checks, name, connect, { hasFinal: false });
      guarded.addTo(checks, name, (place, token) => new Peer10(binding, version).connect(place, token));
      if (version === '1.0') {
        checks.add("tenants do not see each other's tasks", () => tenantsAreApart(base, binding), name);
        checks.add('a tenant that is not listed is refused', () => unknownTenantsAreRefused(binding), name);
        lists.addTo(checks, name, connect);
      }
    }
    crossing.addTo(checks, version, bindings, (binding) => new Peer10(binding, version).connect(base));
  }
  crossing.addAcrossVersions(checks, (binding, version) => new Peer10(binding, version).connect(base));
  return checks.run();
});
