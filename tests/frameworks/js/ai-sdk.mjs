// npm `a2a-ai-provider`: the agent as a language model of the AI SDK (npm `ai`).

import { randomUUID } from 'node:crypto';

import { Client, main, packaged } from './harness.mjs';

const { a2a } = await packaged('a2a-ai-provider');
const { generateText, streamText } = await packaged('ai');

class AiSdk extends Client {
  async connect(url) {
    this.model = a2a(`${url}/.well-known/agent-card.json`);
    await this.hello();
  }

  async conversation() {
    const contextId = randomUUID();
    const messages = [];
    return async (content) => {
      messages.push({ role: 'user', content });
      const result = await generateText({ ...this.options(contextId), messages });
      messages.push(...result.response.messages);
      return result.text;
    };
  }

  async pieces(prompt) {
    const result = streamText({ ...this.options(randomUUID()), prompt });
    const found = [];
    for await (const piece of result.textStream) found.push(piece);
    return found;
  }

  options(contextId) {
    return { model: this.model, maxRetries: 0, providerOptions: { a2a: { contextId } } };
  }
}

await main(new AiSdk());
