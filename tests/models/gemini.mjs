// Google's own client against the fake Gemini: it must understand what the fake says, and what it sends must be
// what our provider sends for the same prompt.
//
// usage: INTEROP_SDK=FOLDER node gemini.mjs BASE_URL
// FOLDER holds node_modules with @google/genai; BASE_URL is what the model_server example prints.

import { readFileSync } from 'node:fs';

import { Checks, equal, isTrue, main, sdk } from '../interop/js/harness.mjs';

const { GoogleGenAI } = sdk('@google/genai');
const CASES = JSON.parse(readFileSync(new URL('./gemini-requests.json', import.meta.url), 'utf8'));
const KEY = 'fake-key';

/** Everything the client makes of one scenario. */
async function read(client, model, contents = 'Hello', config = {}) {
  const heard = { text: '', thoughts: '', calls: [], signatures: [], finish: undefined, usage: undefined };
  for await (const chunk of await client.models.generateContentStream({ model, contents, config })) {
    const parts = chunk.candidates?.[0]?.content?.parts ?? [];
    // Its own reading of the text; beside a call it would complain that there is more than text.
    heard.text += parts.some((part) => part.functionCall) ? '' : (chunk.text ?? '');
    heard.blocked = chunk.promptFeedback?.blockReason ?? heard.blocked;
    heard.usage = chunk.usageMetadata ?? heard.usage;
    heard.finish = chunk.candidates?.[0]?.finishReason ?? heard.finish;
    for (const part of parts) {
      if (part.thought) heard.thoughts += part.text;
      if (part.functionCall) heard.calls.push(part.functionCall);
      if (part.thoughtSignature) heard.signatures.push(part.thoughtSignature);
    }
  }
  return heard;
}

/** With any settings at all, the client also sends an empty `generationConfig`; we send none. */
function withoutEmptySettings({ generationConfig, ...body }) {
  const empty = Object.keys(generationConfig ?? {}).length === 0;
  return empty ? body : { ...body, generationConfig };
}

async function refusal(client, model) {
  try {
    await read(client, model);
  } catch (error) {
    return error;
  }
  throw new Error('the client saw no error');
}

await main(async (url) => {
  const checks = new Checks('genai');
  const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: url } });

  checks.add('hears a text in pieces', async () => {
    const heard = await read(client, 'text');
    equal(heard.text, 'The quick brown fox jumps over the lazy dog.', 'text');
    equal([heard.usage.promptTokenCount, heard.usage.thoughtsTokenCount], [10, 2], 'usage');
    equal(heard.finish, 'STOP', 'finish');
  });
  checks.add('hears thoughts apart from text', async () => {
    const heard = await read(client, 'thoughts');
    equal([heard.thoughts, heard.text], ['**Counting** One, two.', 'Two.'], 'thoughts and text');
  });
  checks.add('hears parallel calls and one signature', async () => {
    const heard = await read(client, 'parallel-calls');
    const calls = [
      { id: 'c1', name: 'read_file', args: { path: 'a.txt' } },
      { id: 'c2', name: 'read_file', args: { path: 'b.txt' } },
    ];
    equal(heard.calls.map(({ id, name, args }) => ({ id, name, args })), calls, 'calls');
    equal(heard.signatures, ['c2lnbmVk'], 'signatures');
  });
  checks.add('hears calls without ids or arguments', async () => {
    const heard = await read(client, 'separate-calls');
    equal(heard.calls.map((call) => [call.id, call.name, call.args]),
      [[undefined, 'list', undefined], [undefined, 'list', { folder: 'src' }]], 'calls');
  });
  checks.add('hears a signature on empty text', async () => {
    const heard = await read(client, 'signed-end');
    equal([heard.text, heard.signatures], ['Done.', ['ZW5k']], 'text and signature');
  });
  checks.add('hears every character', async () => {
    equal((await read(client, 'unicode')).text, 'Grüße \u{1f980} \u4f60\u597d "quoted"\n', 'text');
  });
  checks.add('hears usage after the end', async () => {
    equal((await read(client, 'late-usage')).usage.promptTokenCount, 7, 'usage');
  });
  checks.add('hears why an answer stopped', async () => {
    equal((await read(client, 'length')).finish, 'MAX_TOKENS', 'finish');
    equal((await read(client, 'refused')).finish, 'SAFETY', 'finish');
    equal((await read(client, 'blocked')).blocked, 'SAFETY', 'block reason');
  });
  checks.add('continues an answer by itself', async () => {
    equal((await read(client, 'continuation')).text, 'First half, second half.', 'text');
  });
  checks.add('hears errors', async () => {
    for (const [model, status] of [['bad-request', 400], ['no-such-model', 404], ['busy', 429]]) {
      equal((await refusal(client, model)).status, status, model);
    }
  });

  for (const [index, { name, model, official, body }] of CASES.entries()) {
    checks.add(`sends what we send: ${name}`, async () => {
      // A header that only this check sends tells its request from those of the others.
      const mark = `case-${index}`;
      const config = { ...official.config, httpOptions: { headers: { 'x-case': mark } } };
      await read(client, model, official.contents, config);
      const requests = await (await fetch(`${url}/requests`)).json();
      const sent = requests.find(({ headers }) => headers['x-case'] === mark);
      isTrue(sent !== undefined, 'the request was not seen');
      equal(sent.target, `/v1beta/models/${model}:streamGenerateContent?alt=sse`, 'target');
      equal(sent.headers['x-goog-api-key'], KEY, 'key');
      equal(sent.headers['content-type'], 'application/json', 'content type');
      equal(withoutEmptySettings(sent.body), body, 'body');
    });
  }
  return checks.run();
});
