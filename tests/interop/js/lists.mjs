// Checks of listing tasks, which only 1.0 has. Each works in a context of its own.

import { randomUUID } from 'node:crypto';

import { equal, isTrue } from './harness.mjs';
import * as scripted from './scripted.mjs';
import { message, refusal } from './peer.mjs';

const INVALID_PARAMS = -32602;

export function addTo(checks, pair, connect) {
  for (const [name, check] of Object.entries(ALL)) {
    checks.add(name, async () => check(await connect()), pair);
  }
}

const ALL = {
  'list shows the tasks of a context, newest first': async (peer) => {
    const { contextId, made } = await context(peer, scripted.ECHO, scripted.FAIL, scripted.ASK);
    const listed = await peer.list({ contextId });
    equal(ids(listed.tasks).sort(), ids(made).sort(), 'the tasks');
    const times = listed.tasks.map((task) => task.status.at);
    equal(times, times.toSorted((one, two) => two - one), 'the order');
    equal([listed.totalSize, listed.pageSize, listed.nextPageToken], [3, 50, ''], 'the frame of the page');
  },

  'list gives every task once over several pages': async (peer) => {
    const { contextId, made } = await context(peer, ...Array(5).fill(scripted.ECHO));
    const pages = [];
    let pageToken = '';
    do {
      const page = await peer.list({ contextId, pageSize: 2, pageToken });
      equal([page.pageSize, page.totalSize], [2, 5], 'the frame of a page');
      pages.push(page.tasks);
      pageToken = page.nextPageToken;
      isTrue(pages.length <= 5, 'pages come to an end');
    } while (pageToken);
    equal(pages.map((page) => page.length), [2, 2, 1], 'the sizes of the pages');
    equal(ids(pages.flat()).sort(), ids(made).sort(), 'every task once');
  },

  'list filters by state and by time': async (peer) => {
    const { contextId, made } = await context(peer, scripted.ECHO, scripted.FAIL, scripted.ASK);
    const failed = await peer.list({ contextId, status: 'TASK_STATE_FAILED' });
    equal(ids(failed.tasks), [made[1].id], 'failed tasks');
    const future = await peer.list({ contextId, statusTimestampAfter: '2999-01-01T00:00:00Z' });
    equal(future.tasks, [], 'tasks of the far future');
    const past = await peer.list({ contextId, statusTimestampAfter: '2000-01-01T00:00:00Z' });
    equal(past.totalSize, 3, 'tasks since long ago');
  },

  'list shows artifacts and history as asked': async (peer) => {
    const { contextId, made } = await context(peer, scripted.ECHO);
    equal((await peer.list({ contextId })).tasks[0].artifacts, [], 'artifacts without asking');
    const full = await peer.list({ contextId, includeArtifacts: true, historyLength: 1 });
    equal(full.tasks[0].artifacts, made[0].artifacts, 'artifacts on request');
    equal(full.tasks[0].history, made[0].history.slice(-1), 'one message');
    equal((await peer.list({ contextId, historyLength: 0 })).tasks[0].history, [], 'no message');
  },

  'list refuses page sizes out of bounds and tokens it did not make': async (peer) => {
    for (const filter of [{ pageSize: 0 }, { pageSize: 101 }, { pageSize: -1 }, { pageToken: '?' }]) {
      equal(await refusal(peer, () => peer.list(filter)), INVALID_PARAMS, JSON.stringify(filter));
    }
  },
};

/** A context with one settled task for each trigger, oldest first. */
async function context(peer, ...triggers) {
  const contextId = `interop-${randomUUID()}`;
  const made = [];
  for (const trigger of triggers) made.push((await peer.send(message(trigger, { contextId }))).task);
  return { contextId, made };
}

function ids(tasks) {
  return tasks.map((task) => task.id);
}
