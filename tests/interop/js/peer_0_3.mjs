// The JavaScript SDK 0.3.14 as a client of a running server: `peer_0_3.mjs BASE_URL`.
//
// Every check of `suite.mjs` on both bindings, through the SDK's own card resolver, factory and clients.

import { Checks, equal, isTrue, main, sdk } from './harness.mjs';
import { keptParts, withAppend } from './legacy_rest.mjs';
import * as meaning from './meaning.mjs';
import * as scripted from './scripted.mjs';
import * as suite from './suite.mjs';

const client = sdk('@a2a-js/sdk/client');

const FACTORIES = { jsonrpc: client.JsonRpcTransportFactory, rest: client.RestTransportFactory };

// What the SDK throws over HTTP+JSON says the code by its class only.
const CODES = new Map([
  [client.TaskNotFoundError, -32001],
  [client.TaskNotCancelableError, -32002],
  [client.PushNotificationNotSupportedError, -32003],
  [client.UnsupportedOperationError, -32004],
  [client.ContentTypeNotSupportedError, -32005],
  [client.AuthenticatedExtendedCardNotConfiguredError, -32007],
]);

/** The SDK's client on one binding; see `suite.mjs`. */
class Peer03 {
  version = '0.3';
  // 0.3 names no error for an extended card that is not offered.
  extendedCardCodes = [-32004, -32007];
  #client;
  #refused;

  constructor(binding) {
    this.binding = binding;
    this.zeroHistoryIsEverything = binding === 'rest';
  }

  async connect(base) {
    const transports = [new FACTORIES[this.binding]({ fetchImpl: (...request) => this.#fetch(...request) })];
    this.#client = await new client.ClientFactory({ transports }).createFromUrl(base);
    return this;
  }

  async send(said, { wait = true, historyLength } = {}) {
    const configuration = { blocking: wait, historyLength };
    return meaning.event(await this.#client.sendMessage({ message: spell(said), configuration }));
  }

  stream(said) {
    return this.#read(this.#client.sendMessageStream({ message: spell(said) }));
  }

  resubscribe(id) {
    return this.#read(this.#client.resubscribeTask({ id }));
  }

  async get(id, historyLength) {
    return meaning.task(await this.#client.getTask({ id, historyLength }));
  }

  async cancel(id) {
    return meaning.task(await this.#client.cancelTask({ id }));
  }

  /** Straight to the transport: the client itself already refuses when the card promises no push. */
  pushCalls(taskId) {
    const { transport } = this.#client;
    const config = { id: 'hook', url: 'https://hook.example/a2a' };
    const place = { id: taskId, pushNotificationConfigId: 'hook' };
    const configuration = { pushNotificationConfig: config };
    return {
      'set': () => transport.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: config }),
      'get': () => transport.getTaskPushNotificationConfig(place),
      'list': () => transport.listTaskPushNotificationConfig({ id: taskId }),
      'delete': () => transport.deleteTaskPushNotificationConfig(place),
      'send with a push configuration': () =>
        this.#client.sendMessage({ message: spell(suite.message('echo with push')), configuration }),
    };
  }

  extendedCard() {
    return this.#client.transport.getExtendedAgentCard();
  }

  keeps(parts) {
    return this.binding === 'rest' ? keptParts(parts) : parts;
  }

  async attempt(call) {
    this.#refused = undefined;
    try {
      return { answered: await call() };
    } catch (error) {
      const named = [...CODES].find(([kind]) => error instanceof kind)?.[1];
      const code = error.errorResponse?.error.code ?? named ?? this.#refused;
      if (code === undefined) throw error;
      equal(code, this.#refused, 'the code as the SDK maps it');
      return { code };
    }
  }

  #read(items) {
    return this.binding === 'rest' ? withAppend(read(items)) : read(items);
  }

  /** Keeps the code of a refusal: of a stream that never opens the SDK tells nothing but that. */
  async #fetch(...request) {
    const response = await fetch(...request);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      const body = JSON.parse((await response.clone().text()) || 'null');
      this.#refused = body?.error?.code ?? body?.code;
    }
    return response;
  }
}

async function* read(items) {
  for await (const item of items) {
    const event = meaning.event(item);
    yield event.kind === 'status' ? { ...event, final: item.final } : event;
  }
}

/** A message spelled as 1.0, in the words of 0.3. */
function spell(said) {
  return { ...said, kind: 'message', role: 'user', parts: said.parts.map(spellPart) };
}

function spellPart({ text, data, raw, url, filename: name, mediaType: mimeType, metadata }) {
  const more = metadata ? { metadata } : {};
  if (text !== undefined) return { kind: 'text', text, ...more };
  if (data !== undefined) return { kind: 'data', data, ...more };
  const file = raw === undefined ? { uri: url, name, mimeType } : { bytes: raw, name, mimeType };
  return { kind: 'file', file, ...more };
}

async function cardIsWhole(base) {
  const card = await new client.DefaultAgentCardResolver().resolve(base);
  equal(await new client.DefaultAgentCardResolver().resolve(base, '.well-known/agent.json'), card, 'the old path');
  equal(card.protocolVersion, '0.3.0', 'the protocol version');
  for (const name of ['name', 'description', 'version', 'url', 'defaultInputModes', 'defaultOutputModes', 'skills']) {
    isTrue(card[name]?.length > 0, `the card's ${name} is empty`);
  }
  equal(card.preferredTransport, 'JSONRPC', 'the preferred transport');
  const offered = new Map(card.additionalInterfaces.map((one) => [one.transport, one.url]));
  equal(offered.get('JSONRPC'), card.url, 'the main address among the additional interfaces');
  isTrue(offered.has('HTTP+JSON'), 'HTTP+JSON is offered');
  isTrue(card.capabilities.streaming, 'the card promises streaming');
  isTrue(!card.capabilities.pushNotifications, 'the card promises no push');
  isTrue(!card.supportsAuthenticatedExtendedCard, 'the card promises no extended card');
  for (const skill of card.skills) {
    isTrue(skill.id && skill.name && skill.description && skill.tags?.length > 0, 'a skill is incomplete');
  }
}

async function readsEqualOnBothBindings(base) {
  const rpc = await new Peer03('jsonrpc').connect(base);
  const rest = await new Peer03('rest').connect(base);
  const thin = (task) => ({
    ...task,
    artifacts: task.artifacts.map((one) => ({ ...one, parts: rest.keeps(one.parts) })),
    history: task.history.map((one) => ({ ...one, parts: rest.keeps(one.parts) })),
  });
  for (const [maker, reader] of [[rpc, rest], [rest, rpc]]) {
    for (const trigger of scripted.KINDS_OF_TASKS) {
      const { task } = await maker.send(suite.message(trigger));
      equal(thin(await reader.get(task.id)), thin(task), `${trigger} on the other binding`);
    }
  }
}

main(async (base) => {
  const checks = new Checks('js-0.3');
  checks.add('card is whole at both paths', () => cardIsWhole(base));
  for (const binding of Object.keys(FACTORIES)) {
    suite.addTo(checks, binding, () => new Peer03(binding).connect(base), { hasFinal: true });
  }
  checks.add('a task made on one binding reads equal on the other', () => readsEqualOnBothBindings(base));
  return checks.run();
});
