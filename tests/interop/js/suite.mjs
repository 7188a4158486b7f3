// The checks that every SDK must pass on every binding, in words free of version and binding. A peer: see `peer.mjs`.

import { randomUUID } from 'node:crypto';

import { equal, isTrue } from './harness.mjs';
import * as meaning from './meaning.mjs';
import { answer, everything, joinsWithoutGap, message, reaches, refusal, sent, started } from './peer.mjs';
import { PUSHING } from './pushing.mjs';
import * as scripted from './scripted.mjs';

const TASK_NOT_FOUND = -32001;
const TASK_NOT_CANCELABLE = -32002;
const UNSUPPORTED_OPERATION = -32004;
const CONTENT_TYPE_NOT_SUPPORTED = -32005;
const INVALID_PARAMS = -32602;

/** Adds every check. `hasFinal`: the SDK shows the `final` of 0.3. */
export function addTo(checks, pair, connect, { hasFinal }) {
  const all = { ...ALL, ...PUSHING, ...(hasFinal ? ONLY_WITH_FINAL : {}) };
  for (const [name, check] of Object.entries(all)) {
    checks.add(name, async () => check(await connect()), pair);
  }
}

const ALL = {
  'send waits for the end and shows the answer in an artifact and in the history': async (peer) => {
    const said = message(scripted.ECHO);
    const { task } = await peer.send(said);
    equal(task.status.state, 'completed', 'the state');
    equal(answer(task), scripted.ECHO_ANSWER, 'the answer');
    equal(task.history.map((one) => one.role), ['user', 'agent'], 'who spoke');
    equal(task.history[0].id, said.messageId, 'the id of the first message');
    equal(meaning.text(task.history[1].parts), scripted.ECHO_ANSWER, 'the answer in the history');
    for (const one of task.history) {
      equal([one.task, one.context], [task.id, task.context], 'where a message belongs');
    }
    equal(await peer.get(task.id), task, 'the task as get shows it');
  },

  'send without blocking returns at once and get shows the end later': async (peer) => {
    const task = await started(peer, scripted.STREAM);
    isTrue(['submitted', 'working'].includes(task.status.state), `returned in state ${task.status.state}`);
    equal(answer(await reaches(peer, task.id, 'completed')), scripted.STREAM_ANSWER, 'the answer');
  },

  'stream shows the task first, then work, deltas and one last status': async (peer) => {
    const events = await everything(peer.stream(message(scripted.STREAM)));
    equal(events[0].kind, 'task', 'the first item');
    const { task } = events[0];
    isTrue(['submitted', 'working'].includes(task.status.state), 'the first item is an unfinished task');
    if (task.status.state === 'submitted') equal(events[1].status?.state, 'working', "the second item's state");
    const deltas = events.filter((event) => event.kind === 'artifact');
    // Pieces said while the log is busy go out as one.
    isTrue(deltas.length >= 2, `several deltas, found ${deltas.length}`);
    const said = deltas.map((event) => meaning.text(event.artifact.parts)).join('');
    equal(said, scripted.STREAM_ANSWER, 'the text');
    equal(new Set(deltas.map((event) => event.artifact.id)).size, 1, 'the number of artifacts');
    equal(deltas.map((event) => event.append), deltas.map((_, index) => index > 0), 'append of the deltas');
    const isLast = (_, index) => index === deltas.length - 1;
    equal(deltas.map((event) => event.last), deltas.map(isLast), 'lastChunk of the deltas');
    equal(events.at(-1).status?.state, 'completed', 'the last state');
    for (const event of events.slice(1)) {
      equal([event.taskId, event.context], [task.id, task.context], 'where an event belongs');
    }
  },

  'the fold of a stream equals the task that get shows': async (peer) => {
    for (const trigger of [scripted.STREAM, ...scripted.KINDS_OF_TASKS]) {
      const events = await everything(peer.stream(message(trigger)));
      const shown = meaning.shown(await peer.get(events[0].task.id));
      equal(meaning.shown(meaning.fold(events)), shown, `the fold of ${trigger}`);
    }
  },

  'historyLength trims what get and send show, newest kept': async (peer) => {
    const task = await sent(peer, scripted.ECHO);
    const whole = (await peer.get(task.id)).history;
    equal((await peer.get(task.id, 1)).history, whole.slice(-1), 'one message');
    equal((await peer.get(task.id, 99)).history, whole, 'more than there are');
    const none = peer.zeroHistoryIsEverything ? whole : [];
    equal((await peer.get(task.id, 0)).history, none, 'history length zero');
    const trimmed = await peer.send(message(scripted.ECHO), { historyLength: 1 });
    equal(trimmed.task.history.map((one) => one.role), ['agent'], 'the history that send shows');
  },

  'cancel stops a running task': async (peer) => {
    const task = await started(peer, scripted.SLOW);
    await reaches(peer, task.id, 'working');
    equal((await peer.cancel(task.id)).status.state, 'canceled', 'the state that cancel shows');
    equal((await peer.get(task.id)).status.state, 'canceled', 'the state that get shows');
  },

  'cancel stops a task that waits for input': async (peer) => {
    const task = await sent(peer, scripted.ASK);
    equal((await peer.cancel(task.id)).status.state, 'canceled', 'the state that cancel shows');
  },

  'cancel of a finished or canceled task is refused': async (peer) => {
    const done = await sent(peer, scripted.ECHO);
    equal(await refusal(peer, () => peer.cancel(done.id)), TASK_NOT_CANCELABLE, 'for a completed task');
    const canceled = await sent(peer, scripted.ASK);
    await peer.cancel(canceled.id);
    equal(await refusal(peer, () => peer.cancel(canceled.id)), TASK_NOT_CANCELABLE, 'for a canceled task');
  },

  'resubscribe in the middle of a stream sees the rest without gap or repeat': async (peer) => {
    await joinsWithoutGap(peer, peer, scripted.STREAM);
  },

  'cancel ends every open stream of the task with the canceled status': async (peer) => {
    const first = peer.stream(message(scripted.SLOW));
    const taskId = (await first.next()).value.task.id;
    await reaches(peer, taskId, 'working');
    const second = peer.resubscribe(taskId);
    equal((await second.next()).value.kind, 'task', 'the first item after resubscribing');
    await peer.cancel(taskId);
    for (const stream of [first, second]) {
      equal((await everything(stream)).at(-1).status.state, 'canceled', 'the last status of a stream');
    }
  },

  'a client that leaves its stream does not stop the task': async (peer) => {
    const stream = peer.stream(message(scripted.STREAM));
    const taskId = (await stream.next()).value.task.id;
    await stream.return();
    equal(answer(await reaches(peer, taskId, 'completed')), scripted.STREAM_ANSWER, 'the answer');
  },

  'resubscribe to a finished task follows the rule of the version': async (peer) => {
    const done = await sent(peer, scripted.ECHO);
    if (peer.version === '0.3') {
      const items = await everything(peer.resubscribe(done.id));
      equal(items.map((one) => one.task), [done], 'the stream');
    } else {
      const refused = await refusal(peer, () => everything(peer.resubscribe(done.id)));
      equal(refused, UNSUPPORTED_OPERATION, 'the refusal');
    }
  },

  'a task that asks goes on with the answer sent to it': async (peer) => {
    const asked = await sent(peer, scripted.ASK);
    equal(asked.status.state, 'input-required', 'the state');
    const question = asked.status.message;
    equal([question.role, meaning.text(question.parts)], ['agent', scripted.QUESTION], 'the question');
    const reply = message(scripted.REPLY, { taskId: asked.id, contextId: asked.context });
    const done = (await peer.send(reply)).task;
    equal([done.id, done.context], [asked.id, asked.context], 'the task that goes on');
    equal(done.status.state, 'completed', 'the state after the answer');
    equal(answer(done), scripted.GREETING, 'what is made of the answer');
    const ids = done.history.map((one) => one.id);
    isTrue(ids.includes(question.id), 'the question stands in the history');
    isTrue(ids.indexOf(question.id) < ids.indexOf(reply.messageId), 'the question stands before its answer');
  },

  'a stream closes at a question and a second one goes on': async (peer) => {
    const asked = await everything(peer.stream(message(scripted.ASK)));
    equal(asked.at(-1).status.state, 'input-required', 'the last state of the first stream');
    const { task } = asked[0];
    // Only the task id: the server finds the context itself.
    const events = await everything(peer.stream(message(scripted.REPLY, { taskId: task.id })));
    equal(events[0].task.id, task.id, 'the task of the second stream');
    equal(events[0].task.context, task.context, 'the context of the second stream');
    equal(events.at(-1).status.state, 'completed', 'the last state of the second stream');
  },

  'a turn may end in input-required without a question': async (peer) => {
    const { status } = await sent(peer, scripted.WAIT_FOR_INPUT);
    equal([status.state, status.message], ['input-required', null], 'the state and the question');
  },

  'rejected, failed and auth-required tasks say why': async (peer) => {
    const ends = [[scripted.REJECT, 'rejected'], [scripted.FAIL, 'failed'], [scripted.AUTH, 'auth-required']];
    for (const [trigger, state] of ends) {
      const task = await sent(peer, trigger);
      const events = await everything(peer.stream(message(trigger)));
      for (const status of [task.status, events.at(-1).status]) {
        equal(status.state, state, `the state after ${trigger}`);
        const said = status.message;
        equal([said.role, meaning.text(said.parts)], ['agent', scripted.REASONS[trigger]], 'the reason');
      }
    }
  },

  'a stream stays open through auth-required when the agent goes on by itself': async (peer) => {
    const events = await everything(peer.stream(message(scripted.RESUME)));
    const states = events.filter((event) => event.kind === 'status').map((event) => event.status.state);
    equal(states.slice(-3), ['auth-required', 'working', 'completed'], 'the states');
    const waiting = await sent(peer, scripted.RESUME);
    equal(waiting.status.state, 'auth-required', 'the state that send returns at');
    await reaches(peer, waiting.id, 'completed');
  },

  'a final status may carry a text': async (peer) => {
    const { status } = await sent(peer, scripted.STATUS);
    equal([status.state, meaning.text(status.message.parts)], ['completed', scripted.STATUS_TEXT], 'the status');
  },

  'a bare message answers send and stream': async (peer) => {
    const streamed = await everything(peer.stream(message(scripted.BARE)));
    equal(streamed.map((event) => event.kind), ['message'], 'the stream');
    for (const answered of [await peer.send(message(scripted.BARE)), streamed[0]]) {
      equal(answered.kind, 'message', 'the answer');
      const said = answered.message;
      equal([said.role, meaning.text(said.parts)], ['agent', scripted.BARE_ANSWER], 'what is said');
      isTrue(said.id && said.context, 'the message has an id and a context');
    }
  },

  'artifacts carry text, file bytes, file addresses and data': async (peer) => {
    const task = await sent(peer, scripted.ARTIFACTS);
    equal(task.status.state, 'completed', 'the state');
    const found = new Map(task.artifacts.map((artifact) => [artifact.id, artifact]));
    const plain = (parts) => parts.map((part) => ({ ...part, metadata: null }));
    for (const [id, expected] of Object.entries(scripted.ARTIFACT_PARTS)) {
      equal(plain(found.get(id).parts), plain(peer.keeps(expected)), `the parts of ${id}`);
    }
    const { name, description } = found.get('text');
    equal([name, description], ['Text', 'Three pieces'], 'name and description');
  },

  'a chunked artifact arrives in pieces that append, the last one marked': async (peer) => {
    const events = await everything(peer.stream(message(scripted.ARTIFACTS)));
    const pieces = events.filter((event) => event.artifact?.id === 'text');
    const texts = pieces.map((piece) => meaning.text(piece.artifact.parts));
    equal(texts, ['abc', 'def', 'ghi'], 'the pieces');
    equal(pieces.map((piece) => piece.append), [false, true, true], 'append');
    equal(pieces.map((piece) => piece.last), [false, false, true], 'lastChunk');
  },

  'what the user sends stands in the history unchanged': async (peer) => {
    const parts = [
      { text: scripted.ECHO, metadata: { note: 'über' } },
      { data: { nested: { list: [1, 2.5, 'three', ...(peer.sendsNull ? [null] : []), true] } } },
      { url: 'https://files.example/readme.txt', filename: 'readme.txt', mediaType: 'text/plain' },
      { raw: 'aGVsbG8=', filename: 'hello.txt', mediaType: 'text/plain' },
    ];
    const said = message('', { parts, metadata: { 'https://example.test/ext': { depth: 3 } } });
    const kept = (await peer.send(said)).task.history[0];
    equal(kept.parts, peer.keeps(meaning.message(said).parts), 'the parts');
    equal(kept.metadata, said.metadata, 'the metadata');
  },

  'an unknown task is not found by any operation': async (peer) => {
    const absent = randomUUID();
    const said = message(scripted.ECHO, { taskId: absent });
    equal(await refusal(peer, () => peer.get(absent)), TASK_NOT_FOUND, 'get');
    equal(await refusal(peer, () => peer.cancel(absent)), TASK_NOT_FOUND, 'cancel');
    equal(await refusal(peer, () => everything(peer.resubscribe(absent))), TASK_NOT_FOUND, 'resubscribe');
    equal(await refusal(peer, () => peer.send(said)), TASK_NOT_FOUND, 'send');
    equal(await refusal(peer, () => everything(peer.stream(said))), TASK_NOT_FOUND, 'stream');
  },

  'a message to a finished task is refused': async (peer) => {
    const said = message(scripted.ECHO, { taskId: (await sent(peer, scripted.ECHO)).id });
    equal(await refusal(peer, () => peer.send(said)), UNSUPPORTED_OPERATION, 'send');
    equal(await refusal(peer, () => everything(peer.stream(said))), UNSUPPORTED_OPERATION, 'stream');
  },

  "a message whose context is not the task's is refused": async (peer) => {
    const asked = await sent(peer, scripted.ASK);
    const lost = message(scripted.REPLY, { taskId: asked.id, contextId: randomUUID() });
    equal(await refusal(peer, () => peer.send(lost)), INVALID_PARAMS, 'the refusal');
  },

  'a context made by the client is kept for every task in it': async (peer) => {
    const contextId = `interop-${randomUUID()}`;
    const first = (await peer.send(message(scripted.ECHO, { contextId }))).task;
    const second = (await peer.send(message(scripted.ECHO, { contextId }))).task;
    equal([first.context, second.context], [contextId, contextId], 'the contexts');
    isTrue(first.id !== second.id, 'two tasks');
  },

  'a message sent again while it is worked on is one task, and after that another': async (peer) => {
    const said = message(scripted.SLOW);
    const first = (await peer.send(said, { wait: false })).task;
    const second = (await peer.send(said, { wait: false })).task;
    equal(second.id, first.id, 'the second answer');
    await peer.cancel(first.id);
    const third = (await peer.send(said, { wait: false })).task;
    isTrue(third.id !== first.id, 'a new task');
    await peer.cancel(third.id);
  },

  'a media type the agent does not take is refused': async (peer) => {
    const film = { url: 'https://files.example/film', filename: 'film', mediaType: 'video/x-interop' };
    const said = message('', { parts: [{ text: scripted.ECHO }, film] });
    equal(await refusal(peer, () => peer.send(said)), CONTENT_TYPE_NOT_SUPPORTED, 'the refusal');
  },

  'parameters the SDK lets through are checked by the server': async (peer) => {
    const done = await sent(peer, scripted.ECHO);
    equal(await refusal(peer, () => peer.get(done.id, -1)), INVALID_PARAMS, 'a negative history length');
    const empty = message('', { parts: [] });
    equal(await refusal(peer, () => peer.send(empty)), INVALID_PARAMS, 'a message without parts');
    const nameless = message(scripted.ECHO, { messageId: '' });
    equal(await refusal(peer, () => peer.send(nameless)), INVALID_PARAMS, 'an empty message id');
  },

  'the extended card is refused where there is none; over the gRPC of 0.3 the public one takes its place': async (peer) => {
    if (peer.version === '0.3' && peer.binding === 'grpc') {
      // Clients that speak nothing but gRPC have no other way to a card.
      isTrue((await peer.extendedCard()).skills.length > 0, 'the public card has skills');
      return;
    }
    const code = await refusal(peer, () => peer.extendedCard());
    isTrue(peer.extendedCardCodes.includes(code), `refused with ${code}, not one of ${peer.extendedCardCodes}`);
  },
};

const ONLY_WITH_FINAL = {
  'only the last status of a stream says that it is final': async (peer) => {
    const events = await everything(peer.stream(message(scripted.STREAM)));
    const finals = events.filter((event) => event.kind === 'status').map((event) => event.final);
    equal(finals, finals.map((_, index) => index === finals.length - 1), 'final of the status events');
  },
};
