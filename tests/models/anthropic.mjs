// Anthropic's own client against the fake Anthropic: it must understand what the fake says, and what it sends must be
// what our provider sends for the same prompt. Runs with clients of either version of the API.
//
// usage: INTEROP_SDK=FOLDER node anthropic.mjs BASE_URL
// FOLDER holds node_modules with @anthropic-ai/sdk; BASE_URL is what the model_server example prints.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { Checks, equal, isTrue, main, sdk } from '../interop/js/harness.mjs';

const { Anthropic } = sdk('@anthropic-ai/sdk');
const CASES = JSON.parse(readFileSync(new URL('./anthropic-requests.json', import.meta.url), 'utf8'));
const KEY = 'fake-key';

/** The versions of the API that the clients speak, with the header that the key goes in. Our provider speaks the first. */
const VERSIONS = {
  '2023-06-01': (headers) => headers['x-api-key'] === KEY && headers.authorization === undefined,
  '2026-10-21': (headers) => headers.authorization === `Bearer ${KEY}` && headers['x-api-key'] === undefined,
};

/** Everything the client makes of one scenario: piece by piece, and by its own putting together. */
async function read(client, model) {
  const heard = { text: '', thoughts: '' };
  const stream = client.messages.stream(hello(model));
  for await (const event of stream) {
    if (event.type !== 'content_block_delta') continue;
    heard.text += event.delta.type === 'text_delta' ? event.delta.text : '';
    heard.thoughts += event.delta.type === 'thinking_delta' ? event.delta.thinking : '';
  }
  heard.message = await stream.finalMessage();
  return heard;
}

const hello = (model) => ({
  model, max_tokens: 8192, messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
});
const blocks = ({ message }, type) => message.content.filter((block) => block.type === type);

async function refusal(client, model) {
  try {
    await read(client, model);
  } catch (error) {
    return error;
  }
  throw new Error('the client saw no error');
}

/** The same messages, with the mark that we set on the last block. */
function marked(messages) {
  const content = messages.at(-1).content;
  const last = { ...content.at(-1), cache_control: { type: 'ephemeral' } };
  return [...messages.slice(0, -1), { ...messages.at(-1), content: [...content.slice(0, -1), last] }];
}

await main(async (url) => {
  const checks = new Checks('anthropic');
  const client = new Anthropic({ apiKey: KEY, baseURL: url, maxRetries: 0 });

  checks.add('hears a text in pieces', async () => {
    const heard = await read(client, 'text');
    equal(heard.text, 'The quick brown fox jumps over the lazy dog.', 'text');
    const { usage, stop_reason } = heard.message;
    equal([usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens, usage.output_tokens],
      [3, 2, 5, 11], 'usage');
    equal(stop_reason, 'end_turn', 'stop');
  });
  checks.add('hears thoughts and their signatures', async () => {
    const heard = await read(client, 'thoughts');
    equal([heard.thoughts, heard.text], ['**Counting** One, two.', 'Two.'], 'thoughts and text');
    equal(blocks(heard, 'thinking')[0].signature, 'c2lnbmVk', 'signature');
    equal(blocks(await read(client, 'withheld'), 'thinking')[0].signature, 'c2lnbmVk', 'signature of nothing');
    equal(blocks(await read(client, 'redacted'), 'redacted_thinking')[0].data, 'aGlkZGVu', 'redacted');
  });
  checks.add('hears parallel calls', async () => {
    const heard = await read(client, 'parallel-calls');
    equal(blocks(heard, 'tool_use').map(({ id, name, input }) => [id, name, input]),
      [['toolu_a', 'read_file', { path: 'a.txt' }], ['toolu_b', 'read_file', { path: 'b.txt' }]], 'calls');
    equal(heard.message.stop_reason, 'tool_use', 'stop');
  });
  checks.add('hears a call without input', async () => {
    equal(blocks(await read(client, 'empty-input'), 'tool_use')[0].input, {}, 'input');
  });
  checks.add('hears every character', async () => {
    equal((await read(client, 'unicode')).text, 'Grüße \u{1f980} \u4f60\u597d "quoted"\n', 'text');
  });
  checks.add('hears why an answer stopped', async () => {
    const reasons = { length: 'max_tokens', window: 'model_context_window_exceeded', 'stop-sequence': 'stop_sequence', refused: 'refusal' };
    for (const [model, reason] of Object.entries(reasons)) {
      equal((await read(client, model)).message.stop_reason, reason, model);
    }
  });
  checks.add('hears errors', async () => {
    for (const [model, status] of [['bad-request', 400], ['no-such-model', 404], ['busy', 429]]) {
      equal((await refusal(client, model)).status, status, model);
    }
  });

  for (const { name, hears, body } of CASES) {
    checks.add(`sends what we send: ${name}`, async () => {
      // A header that only this check sends tells its request from those of the others.
      const mark = randomUUID();
      let messages = body.messages;
      if (hears) {
        const { message } = await read(client, hears);
        const results = message.content.filter(({ type }) => type === 'tool_use')
          .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: 'fine' }] }));
        const answer = { role: 'assistant', content: message.content };
        messages = marked([...hello(hears).messages, answer, { role: 'user', content: results }]);
      }
      await client.messages.create({ ...body, messages }, { headers: { 'x-case': mark } });
      const requests = await (await fetch(`${url}/requests`)).json();
      const sent = requests.find(({ headers }) => headers['x-case'] === mark);
      isTrue(sent !== undefined, 'the request was not seen');
      equal(sent.target, '/v1/messages', 'target');
      const version = sent.headers['anthropic-version'];
      isTrue(VERSIONS[version]?.(sent.headers), `the key goes elsewhere in version ${version}`);
      equal(sent.headers['content-type'], 'application/json', 'content type');
      equal(sent.body, body, 'body');
    });
  }
  return checks.run();
});
