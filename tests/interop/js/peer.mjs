// What the shared checks need of an SDK, and the words they are written in.
//
// A peer is one SDK client on one binding. It takes messages as 1.0 spells them, answers with the readings
// of `meaning.mjs`, and turns what the SDK throws into the JSON-RPC code of the error:
//   send(said, { wait, historyLength, push }) · stream(said) · resubscribe(taskId) · get(taskId, historyLength) ·
//   cancel(taskId) · extendedCard() ·
//   pushCreate(taskId, config) · pushGet(taskId, id) · pushList(taskId) · pushDelete(taskId, id), where configurations
//   are as 1.0 spells them, without the task ·
//   attempt(call), giving { answered } or { code } ·
//   version · binding · zeroHistoryIsEverything · sendsNull · extendedCardCodes ·
//   keeps(parts), what the SDK does not lose of parts

import { randomUUID } from 'node:crypto';

import { equal, isTrue, until } from './harness.mjs';
import * as meaning from './meaning.mjs';

const UNSUPPORTED_OPERATION = -32004;

export const BINDINGS = { jsonrpc: 'JSON-RPC', rest: 'HTTP+JSON', grpc: 'gRPC' };

/** The name under which checks of one version on one binding are told. */
export function pair(version, binding) {
  return `${version} ${BINDINGS[binding]}`;
}

/** What a user says, as 1.0 spells it. The id is new every time. */
export function message(text, more = {}) {
  return { messageId: `interop-${randomUUID()}`, role: 'ROLE_USER', parts: [{ text }], ...more };
}

export async function everything(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** The code a call is refused with. */
export async function refusal(peer, call) {
  const { answered, code } = await peer.attempt(call);
  isTrue(code !== undefined, `the call was answered: ${JSON.stringify(answered)}`);
  return code;
}

export function answer(task) {
  return task.artifacts.map((artifact) => meaning.text(artifact.parts)).join('');
}

export async function sent(peer, text) {
  const answered = await peer.send(message(text));
  equal(answered.kind, 'task', `the answer to ${text}`);
  return answered.task;
}

export async function started(peer, text) {
  const answered = await peer.send(message(text), { wait: false });
  equal(answered.kind, 'task', `the answer to ${text}`);
  return answered.task;
}

export function reaches(peer, taskId, state) {
  return until(() => peer.get(taskId), (task) => task.status.state === state, `the state ${state}`);
}

/** What one peer streams another joins in the middle, perhaps over another binding. */
export async function joinsWithoutGap(peer, other, trigger) {
  let first, late;
  for (let round = 0; round < 10 && late?.[0]?.task.status.state !== 'working'; round += 1) {
    ({ first, late } = await twoStreams(peer, other, trigger));
  }
  equal(late[0]?.task.status.state, 'working', 'the state when a second connection joined');
  isTrue(late.length > 1, 'live events after the snapshot');
  equal(late.slice(1).map(bare), first.slice(1 - late.length).map(bare), 'the live events of both streams');
  const { id } = first[0].task;
  equal(meaning.shown(meaning.fold(late)), meaning.shown(await other.get(id)), 'the fold of the late stream');
  equal(meaning.shown(meaning.fold(first)), meaning.shown(await peer.get(id)), 'the fold of the first stream');
}

/** A whole stream and one that joined it after the first delta; empty if that one came too late. */
async function twoStreams(peer, other, trigger) {
  const first = [];
  let second;
  for await (const event of peer.stream(message(trigger))) {
    first.push(event);
    if (event.kind === 'artifact' && !second) {
      second = other.attempt(() => everything(other.resubscribe(first[0].task.id)));
      // Looked at below, and until then nobody's fault.
      second.catch(() => {});
    }
  }
  const { answered, code } = await second;
  isTrue(code === undefined || code === UNSUPPORTED_OPERATION, `a late connection is refused with ${code}`);
  return { first, late: answered ?? [] };
}

/** An event without what not every binding shows: the `final` of 0.3, and the time of a status. */
function bare({ final, ...event }) {
  return event.status ? { ...event, status: { ...event.status, at: null } } : event;
}
