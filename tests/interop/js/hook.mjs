// A receiver of push notifications on loopback: keeps what arrives and answers that it is well.

import { createServer } from 'node:http';

import { until } from './harness.mjs';

export class Hook {
  notices = [];

  static async listening() {
    const hook = new Hook();
    hook.server = createServer(async (request, response) => {
      const chunks = await request.toArray();
      const body = JSON.parse(Buffer.concat(chunks).toString() || 'null');
      hook.notices.push({ headers: request.headers, body });
      response.end();
    });
    await new Promise((resolve) => hook.server.listen(0, '127.0.0.1', resolve));
    hook.url = `http://127.0.0.1:${hook.server.address().port}/notices`;
    return hook;
  }

  /** Waits until `enough` accepts what has arrived. */
  received(enough, what) {
    return until(async () => [...this.notices], enough, what);
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** What notifications say about a task: 1.0 sends one item of a stream, 0.3 the whole task. */
export function tasksIn(notices, version) {
  const told = notices.map(({ body }) => (version === '0.3' ? body : (body.statusUpdate ?? body.task)));
  return told.filter(Boolean);
}
