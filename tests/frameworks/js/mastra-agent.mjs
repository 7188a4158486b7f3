// Mastra's `A2AAgent` in either version of A2A.

import { randomUUID } from 'node:crypto';

import { Client, packaged } from './harness.mjs';

const { A2AAgent } = await packaged('@mastra/core/a2a');

export class Mastra extends Client {
  constructor(protocolVersion) {
    super();
    this.protocolVersion = protocolVersion;
  }

  async connect(url) {
    this.agent = new A2AAgent({ url, protocolVersion: this.protocolVersion });
    await this.agent.getAgentCard();
  }

  /** A run that is suspended is resumed; otherwise the agent is given the messages so far, and nothing else. */
  async conversation() {
    const runId = randomUUID();
    const messages = [];
    let suspended = false;
    return async (content) => {
      messages.push({ role: 'user', content });
      const said = messages.length === 1 ? content : messages;
      const result = suspended
        ? await this.agent.resumeGenerate(content, { runId })
        : await this.agent.generate(said, { runId });
      messages.push({ role: 'assistant', content: result.text });
      suspended = result.finishReason === 'suspended';
      return result.text;
    };
  }

  async pieces(prompt) {
    const { fullStream } = await this.agent.stream(prompt);
    const found = [];
    for await (const chunk of fullStream) {
      if (chunk.type === 'text-delta') found.push(chunk.payload.text);
    }
    return found;
  }
}
