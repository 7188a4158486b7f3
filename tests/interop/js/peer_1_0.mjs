// The JavaScript SDK 1.3.0 as a client of a running server: `peer_1_0.mjs BASE_URL`.
//
// Every check of `suite.mjs` on both bindings of 1.0, and on both of 0.3 through the SDK's own layer for older
// agents, through its card resolver, factory and clients; then lists.

import { Checks, equal, isTrue, main, sdk } from './harness.mjs';
import { keptParts, withAppend } from './legacy_rest.mjs';
import * as lists from './lists.mjs';
import * as meaning from './meaning.mjs';
import * as scripted from './scripted.mjs';
import * as suite from './suite.mjs';

const types = sdk('@a2a-js/sdk');
const client = sdk('@a2a-js/sdk/client');

const FACTORIES = { jsonrpc: client.JsonRpcTransportFactory, rest: client.RestTransportFactory };

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
  #client;
  #isLegacyRest;

  constructor(binding, version = '1.0', tenant = '') {
    this.tenant = tenant;
    this.binding = binding;
    this.version = version;
    this.#isLegacyRest = version === '0.3' && binding === 'rest';
    this.zeroHistoryIsEverything = this.#isLegacyRest;
    this.extendedCardCodes = version === '1.0' ? [-32004] : [-32004, -32007];
  }

  async connect(base) {
    const transports = [new FACTORIES[this.binding]({ legacyCompat: { enabled: this.version === '0.3' } })];
    // Only the interfaces of the version under test, or the SDK would always take 1.0.
    const cardResolver = {
      resolve: async (...place) => {
        const card = await client.AgentCardResolver.default.resolve(...place);
        const offered = card.supportedInterfaces.filter((one) => one.protocolVersion === this.version);
        return { ...card, supportedInterfaces: offered.map((one) => ({ ...one, tenant: this.tenant })) };
      },
    };
    this.#client = await new client.ClientFactory({ transports, cardResolver }).createFromUrl(base);
    equal(this.#client.protocolVersion, this.version, 'the version the SDK speaks');
    return this;
  }

  async send(said, { wait = true, historyLength } = {}) {
    const configuration = { returnImmediately: !wait, historyLength };
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

  /** Straight to the transport: the client itself already refuses when the card promises no push. */
  pushCalls(taskId) {
    const { transport } = this.#client;
    const options = { serviceParameters: { 'A2A-Version': this.version } };
    const url = 'https://hook.example/a2a';
    const config = types.TaskPushNotificationConfig.fromJSON({ taskId, id: 'hook', url });
    const place = { tenant: '', taskId, id: 'hook' };
    const page = { tenant: '', taskId, pageSize: 0, pageToken: '' };
    const request = sending(suite.message('echo with push'));
    const configuration = { taskPushNotificationConfig: types.TaskPushNotificationConfig.fromJSON({ url }) };
    return {
      'create': () => transport.createTaskPushNotificationConfig(config, options),
      'get': () => transport.getTaskPushNotificationConfig(place, options),
      'list': () => transport.listTaskPushNotificationConfig(page, options),
      'delete': () => transport.deleteTaskPushNotificationConfig(place, options),
      'send with a push configuration': () => this.#client.sendMessage({ ...request, configuration }),
    };
  }

  extendedCard() {
    const options = { serviceParameters: { 'A2A-Version': this.version } };
    return this.#client.transport.getExtendedAgentCard({ tenant: '' }, options);
  }

  keeps(parts) {
    return this.#isLegacyRest ? keptParts(parts) : parts;
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
    return this.#isLegacyRest ? withAppend(read(items)) : read(items);
  }
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
  for (const pair of ['1.0 JSONRPC', '1.0 HTTP+JSON', '0.3 JSONRPC', '0.3 HTTP+JSON']) {
    isTrue(offered.includes(pair), `${pair} is offered: ${offered}`);
  }
  isTrue(card.capabilities.streaming, 'the card promises streaming');
  isTrue(!card.capabilities.pushNotifications, 'the card promises no push');
  isTrue(!card.capabilities.extendedAgentCard, 'the card promises no extended card');
  for (const skill of card.skills) {
    isTrue(skill.id && skill.name && skill.description && skill.tags?.length > 0, 'a skill is incomplete');
  }
}

async function readsEqualOnBothBindings(base) {
  const rpc = await new Peer10('jsonrpc').connect(base);
  const rest = await new Peer10('rest').connect(base);
  for (const [maker, reader] of [[rpc, rest], [rest, rpc]]) {
    for (const trigger of scripted.KINDS_OF_TASKS) {
      const { task } = await maker.send(suite.message(trigger));
      equal(await reader.get(task.id), task, `${trigger} on the other binding`);
    }
  }
}

async function tenantsAreApart(base, binding) {
  const nobody = await new Peer10(binding).connect(base);
  const tenant = await new Peer10(binding, '1.0', 'interop').connect(base);
  const { task } = await tenant.send(suite.message(scripted.ECHO));
  equal(await tenant.get(task.id), task, 'the task as its tenant sees it');
  equal(await suite.refusal(nobody, () => nobody.get(task.id)), -32001, 'the task for everybody else');
  const contextId = task.context;
  equal((await tenant.list({ contextId })).tasks.map((one) => one.id), [task.id], 'what the tenant lists');
  equal((await nobody.list({ contextId })).tasks, [], 'what everybody else lists');
}

main(async (base) => {
  const checks = new Checks('js-1.0');
  checks.add('card is whole in both forms and at both paths', () => cardIsWhole(base));
  for (const binding of Object.keys(FACTORIES)) {
    const connect = () => new Peer10(binding).connect(base);
    suite.addTo(checks, binding, connect, { hasFinal: false });
    checks.add(`${binding} tenants do not see each other's tasks`, () => tenantsAreApart(base, binding));
    lists.addTo(checks, binding, connect);
  }
  for (const binding of Object.keys(FACTORIES)) {
    suite.addTo(checks, `${binding} to a 0.3 agent`, () => new Peer10(binding, '0.3').connect(base), { hasFinal: false });
  }
  checks.add('a task made on one binding reads equal on the other', () => readsEqualOnBothBindings(base));
  return checks.run();
});
