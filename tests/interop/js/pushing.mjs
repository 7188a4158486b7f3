// Checks of push notifications: configurations that come and go, and what arrives at a receiver.

import { randomUUID } from 'node:crypto';

import { equal, isTrue } from './harness.mjs';
import { Hook, tasksIn } from './hook.mjs';
import * as meaning from './meaning.mjs';
import { message, reaches, refusal, sent, started } from './peer.mjs';
import * as scripted from './scripted.mjs';

const TASK_NOT_FOUND = -32001;
const INVALID_PARAMS = -32602;
const TOKEN = 'told-by-the-client';
const CREDENTIALS = 'credentials-of-the-client';

export const PUSHING = {
  'push configurations are created, read and replaced': async (peer) => {
    await withHooks(1, async ({ url }) => {
      const { id } = await sent(peer, scripted.ASK);
      const first = await peer.pushCreate(id, { id: 'one', url, token: TOKEN });
      equal([first.id, first.url, first.token], ['one', url, TOKEN], 'what was created');
      equal(await peer.pushGet(id, 'one'), first, 'what was read again');
      const replaced = await peer.pushCreate(id, { id: 'one', url: `${url}/1` });
      equal([replaced.url, replaced.token], [`${url}/1`, null], 'what took its place');
      equal(await peer.pushGet(id, 'one'), replaced, 'what was read after that');
      await peer.cancel(id);
    });
  },

  'push configurations are listed and deleted': async (peer) => {
    await withHooks(1, async ({ url }) => {
      const { id } = await sent(peer, scripted.ASK);
      for (const name of ['one', 'two']) await peer.pushCreate(id, { id: name, url: `${url}/${name}` });
      const listed = new Map((await peer.pushList(id)).map((one) => [one.id, one.url]));
      equal(listed, new Map([['one', `${url}/one`], ['two', `${url}/two`]]), 'the list');
      await peer.pushDelete(id, 'one');
      await peer.pushDelete(id, 'one');
      equal(await refusal(peer, () => peer.pushGet(id, 'one')), TASK_NOT_FOUND, 'what is gone');
      equal((await peer.pushList(id)).map((one) => one.id), ['two'], 'what is left');
      await peer.cancel(id);
    });
  },

  'a push configured with the message reports every state in order, with token and credentials': async (peer) => {
    await withHooks(1, async (hook) => {
      const authentication = { scheme: 'Bearer', credentials: CREDENTIALS };
      const push = { url: hook.url, token: TOKEN, authentication };
      const { task } = await peer.send(message(scripted.STREAM), { push });
      const states = (notices) => tasksIn(notices, peer.version).map((one) => meaning.state(one.status.state));
      const ended = (notices) => states(notices).includes('completed');
      const notices = await hook.received(ended, 'the notification of the end');
      equal(states(notices).at(-1), 'completed', 'the last state');
      const kind = peer.version === '1.0' ? 'application/a2a+json' : 'application/json';
      for (const { headers } of notices) {
        equal(headers['content-type'].split(';')[0], kind, 'the content type');
        equal(headers['x-a2a-notification-token'], TOKEN, 'the token');
        equal(headers.authorization, `Bearer ${CREDENTIALS}`, 'the credentials');
      }
      const told = tasksIn(notices, peer.version).map((one) => one.taskId ?? one.id);
      equal([...new Set(told)], [task.id], 'the task');
    });
  },

  'after a push configuration is deleted nothing is sent to it': async (peer) => {
    await withHooks(2, async (kept, gone) => {
      const { id } = await started(peer, scripted.SLOW);
      await reaches(peer, id, 'working');
      await peer.pushCreate(id, { id: 'kept', url: kept.url });
      await peer.pushCreate(id, { id: 'gone', url: gone.url });
      await peer.pushDelete(id, 'gone');
      const before = gone.notices.length;
      await peer.cancel(id);
      const ended = (notices) =>
        tasksIn(notices, peer.version).some((one) => meaning.state(one.status.state) === 'canceled');
      await kept.received(ended, 'the notification that the task was canceled');
      equal(gone.notices.length, before, 'notifications to what was deleted');
    });
  },

  'push configurations of unknown tasks and with addresses that are not allowed are refused': async (peer) => {
    const absent = randomUUID();
    const config = { id: 'one', url: 'https://hook.example/notices' };
    equal(await refusal(peer, () => peer.pushCreate(absent, config)), TASK_NOT_FOUND, 'create');
    equal(await refusal(peer, () => peer.pushGet(absent, 'one')), TASK_NOT_FOUND, 'get');
    equal(await refusal(peer, () => peer.pushList(absent)), TASK_NOT_FOUND, 'list');
    equal(await refusal(peer, () => peer.pushDelete(absent, 'one')), TASK_NOT_FOUND, 'delete');
    const { id } = await sent(peer, scripted.ASK);
    for (const url of ['ftp://127.0.0.1/notices', 'http://169.254.169.254/notices', 'nowhere']) {
      const refused = await refusal(peer, () => peer.pushCreate(id, { id: 'one', url }));
      equal(refused, INVALID_PARAMS, url);
    }
    isTrue((await peer.pushList(id)).length === 0, 'nothing was kept');
    await peer.cancel(id);
  },
};

async function withHooks(number, check) {
  const hooks = await Promise.all(Array.from({ length: number }, () => Hook.listening()));
  try {
    await check(...hooks);
  } finally {
    for (const hook of hooks) hook.close();
  }
}
