// A Gemini API whose model always calls one subagent with the user's words, and then says what the subagent said.

import { createServer } from 'node:http';

/** How the CLI tells its model of the artifacts of a remote agent; a model does not repeat it. */
const LABEL = /^Artifact(?: \([^)]*\))?:\n/;

export class GeminiModel {
  /** Why the subagent could not be called the last time. */
  failure;

  static async listening(agent) {
    const model = new GeminiModel();
    model.agent = agent;
    model.server = createServer(async (request, response) => {
      const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
      const said = JSON.stringify(model.#says(body.contents.at(-1).parts));
      const isStream = request.url.includes(':streamGenerateContent');
      response.setHeader('Content-Type', isStream ? 'text/event-stream' : 'application/json');
      response.end(isStream ? `data: ${said}\n\n` : said);
    });
    await new Promise((resolve) => model.server.listen(0, '127.0.0.1', resolve));
    model.url = `http://127.0.0.1:${model.server.address().port}`;
    return model;
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }

  #says(parts) {
    const { functionResponse, text: prompt } = parts.at(-1);
    if (!functionResponse) return answer({ functionCall: { name: 'invoke_agent', args: { agent_name: this.agent, prompt } } });
    const { output, error } = functionResponse.response;
    this.failure = error;
    return answer({ text: error ?? output.replace(LABEL, '') });
  }
}

function answer(part) {
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const candidates = [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }];
  return { candidates, usageMetadata };
}
