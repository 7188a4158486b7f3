// npm `@google/adk`: `RemoteA2AAgent` as the root agent of a runner.

import { Client, main, packaged } from './harness.mjs';

const { InMemoryRunner, RemoteA2AAgent, isFinalResponse, stringifyContent } = await packaged('@google/adk');

const USER = 'user';

class Adk extends Client {
  async connect(url) {
    this.runner = new InMemoryRunner({ agent: new RemoteA2AAgent({ name: 'attache', agentCard: url }) });
    await this.hello();
  }

  async conversation() {
    const events = await this.session();
    return async (prompt) => {
      const answers = [];
      for await (const event of events(prompt)) {
        if (isFinalResponse(event)) answers.push(stringifyContent(event));
      }
      return answers.join('');
    };
  }

  async pieces(prompt) {
    const events = await this.session();
    const found = [];
    for await (const event of events(prompt)) {
      if (event.partial) found.push(stringifyContent(event));
    }
    return found;
  }

  /** A function from a prompt in a new session to the events of the run. */
  async session() {
    const { appName, sessionService } = this.runner;
    const { id: sessionId } = await sessionService.createSession({ appName, userId: USER });
    const run = this.runner.runAsync.bind(this.runner);
    return async function* (text) {
      const newMessage = { role: 'user', parts: [{ text }] };
      for await (const event of run({ userId: USER, sessionId, newMessage })) {
        if (event.errorMessage) throw new Error(event.errorMessage);
        yield event;
      }
    };
  }
}

await main(new Adk());
