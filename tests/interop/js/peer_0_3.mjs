// The JavaScript SDK 0.3.14 as a client of a running server: `peer_0_3.mjs BASE_URL`.
//
// Every check of `suite.mjs` on all three bindings, through the SDK's own card resolver, factory and clients.

import { channel, fetching } from './channel.mjs';
import * as crossing from './crossing.mjs';
import * as guarded from './guarded.mjs';
import { Checks, equal, isTrue, main, sdk } from './harness.mjs';
import { keptParts, withAppend } from './legacy_protobuf.mjs';
import * as meaning from './meaning.mjs';
import { pair } from './peer.mjs';
import * as suite from './suite.mjs';

const client = sdk('@a2a-js/sdk/client');
const { GrpcTransportFactory } = sdk('@a2a-js/sdk/client/grpc');

const FACTORIES = {
  jsonrpc: client.JsonRpcTransportFactory,
  rest: client.RestTransportFactory,
  grpc: GrpcTransportFactory,
};

// What the message of a gRPC status begins with.
const NAMES = {
  TaskNotFoundError: -32001,
  TaskNotCancelableError: -32002,
  PushNotificationNotSupportedError: -32003,
  UnsupportedOperationError: -32004,
  ContentTypeNotSupportedError: -32005,
  AuthenticatedExtendedCardNotConfiguredError: -32007,
  InvalidParamsError: -32602,
};

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
    this.zeroHistoryIsEverything = binding !== 'jsonrpc';
    // Over gRPC this SDK cannot put a null into a message at all.
    this.sendsNull = binding !== 'grpc';
  }

  async connect(base, token) {
    const fetchImpl = (...request) => this.#fetch(fetching(token), ...request);
    const transports = [new FACTORIES[this.binding]({ fetchImpl, ...channel(token) })];
    const factory = new client.ClientFactory({ transports });
    const card = await new client.DefaultAgentCardResolver().resolve(base);
    this.#client = await factory.createFromAgentCard(card);
    return this;
  }

  async send(said, { wait = true, historyLength, push } = {}) {
    const configuration = { blocking: wait, historyLength, ...(push && { pushNotificationConfig: spellPush(push) }) };
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

  async pushCreate(taskId, config) {
    const pushNotificationConfig = spellPush(config);
    return readPush(await this.#client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig }));
  }

  async pushGet(id, pushNotificationConfigId) {
    return readPush(await this.#client.getTaskPushNotificationConfig({ id, pushNotificationConfigId }));
  }

  async pushList(id) {
    return (await this.#client.listTaskPushNotificationConfig({ id })).map(readPush);
  }

  async pushDelete(id, pushNotificationConfigId) {
    await this.#client.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId });
  }

  extendedCard() {
    return this.#client.transport.getExtendedAgentCard();
  }

  keeps(parts) {
    const kept = this.binding === 'jsonrpc' ? parts : keptParts(parts);
    return this.binding === 'grpc' ? kept.map(zeroForNull) : kept;
  }

  async attempt(call) {
    this.#refused = undefined;
    try {
      return { answered: await call() };
    } catch (error) {
      if (this.binding === 'grpc') {
        const name = error.message.match(/(\w+Error):/)?.[1];
        isTrue(name in NAMES, `refused with ${error.message}`);
        return { code: NAMES[name] };
      }
      const named = [...CODES].find(([kind]) => error instanceof kind)?.[1];
      const code = error.errorResponse?.error.code ?? named ?? this.#refused;
      if (code === undefined) throw error;
      equal(code, this.#refused, 'the code as the SDK maps it');
      return { code };
    }
  }

  #read(items) {
    return this.binding === 'jsonrpc' ? read(items) : withAppend(read(items));
  }

  /** Keeps the code of a refusal: of a stream that never opens the SDK tells nothing but that. */
  async #fetch(fetchOne, ...request) {
    const response = await fetchOne(...request);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      const body = JSON.parse((await response.clone().text()) || 'null');
      this.#refused = body?.error?.code ?? body?.code;
    }
    return response;
  }
}

/** A part as this SDK reads it over gRPC: a null in data becomes a zero there. */
function zeroForNull(part) {
  const changed = (value) => {
    if (value === null) return 0;
    if (Array.isArray(value)) return value.map(changed);
    if (typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, changed(one)]));
  };
  return part.data === undefined ? part : { ...part, data: changed(part.data) };
}

function spellPush({ id, url, token, authentication }) {
  const known = authentication && { schemes: [authentication.scheme], credentials: authentication.credentials };
  return { id, url, token, ...(known && { authentication: known }) };
}

function readPush({ pushNotificationConfig: { id, url, token } }) {
  return { id, url, token: token || null };
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
  for (const transport of ['HTTP+JSON', 'GRPC']) isTrue(offered.has(transport), `${transport} is offered`);
  isTrue(card.capabilities.streaming, 'the card promises streaming');
  isTrue(card.capabilities.pushNotifications, 'the card promises push');
  isTrue(!card.supportsAuthenticatedExtendedCard, 'the card promises no extended card');
  for (const skill of card.skills) {
    isTrue(skill.id && skill.name && skill.description && skill.tags?.length > 0, 'a skill is incomplete');
  }
}

main(async (base) => {
  const checks = new Checks('js-0.3');
  checks.add('the card is whole at both paths', () => cardIsWhole(base));
  const bindings = Object.keys(FACTORIES);
  for (const binding of bindings) {
    const name = pair('0.3', binding);
    suite.addTo(checks, name, () => new Peer03(binding).connect(base), { hasFinal: true });
    guarded.addTo(checks, name, (place, token) => new Peer03(binding).connect(place, token));
  }
  crossing.addTo(checks, '0.3', bindings, (binding) => new Peer03(binding).connect(base));
  return checks.run();
});
