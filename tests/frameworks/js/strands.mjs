// npm `@strands-agents/sdk`: `A2AAgent`, which can be used wherever one of its own agents can.

import { Client, Missing, main, packaged } from './harness.mjs';

const { A2AAgent } = await packaged('@strands-agents/sdk/a2a');

class Strands extends Client {
  async connect(url) {
    this.agent = new A2AAgent({ url });
    await this.hello();
    if (!this.agent.name) throw new Error('the agent has no name from the card');
  }

  /** A conversation in name only: every message is sent without a context and without a task. */
  async conversation() {
    return async (prompt) => {
      if (prompt === 'yes') throw new Missing('it sends neither a context nor a task, so an answer reaches no question');
      let shown = '';
      for await (const event of this.agent.stream(prompt)) {
        if (event.type === 'a2aResultEvent') shown = String(event.result) || shown;
        // A question is in no result, only in the events.
        else shown = textOf(event.event.status?.message) || shown;
      }
      return shown;
    };
  }

  async pieces(prompt) {
    const found = [];
    for await (const event of this.agent.stream(prompt)) {
      if (event.type === 'a2aStreamUpdateEvent') found.push(textOf(event.event.artifact ?? event.event.status?.message));
    }
    return found;
  }
}

function textOf(holder) {
  return (holder?.parts ?? []).map((part) => part.text).join('');
}

await main(new Strands());
