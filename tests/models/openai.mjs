// OpenAI's own client against the fake OpenAI: it must understand what the fake says, and what it sends must be what
// our provider sends for the same prompt.
//
// usage: INTEROP_SDK=FOLDER node openai.mjs BASE_URL
// FOLDER holds node_modules with openai; BASE_URL is what the model_server example prints.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { Checks, equal, isTrue, main, sdk } from '../interop/js/harness.mjs';

const { OpenAI } = sdk('openai');
const CASES = JSON.parse(readFileSync(new URL('./openai-requests.json', import.meta.url), 'utf8'));
const KEY = 'fake-key';

/** Everything the client makes of one scenario: piece by piece, and by its own putting together. */
async function read(client, body, options = {}) {
  const heard = { text: '', thoughts: '', finish: undefined, usage: undefined, refusal: '' };
  const stream = client.chat.completions.stream(body, options);
  for await (const chunk of stream) {
    heard.usage = chunk.usage ?? heard.usage;
    const choice = chunk.choices[0];
    heard.text += choice?.delta.content ?? '';
    heard.thoughts += choice?.delta.reasoning_content ?? '';
    heard.refusal += choice?.delta.refusal ?? '';
    heard.finish = choice?.finish_reason ?? heard.finish;
  }
  const { role, content, tool_calls } = (await stream.finalChatCompletion()).choices[0].message;
  const calls = tool_calls?.map(({ id, type, function: { name, arguments: text } }) =>
    ({ id, type, function: { name, arguments: text } }));
  heard.message = { role, content: content ?? null, ...(calls && { tool_calls: calls }) };
  return heard;
}

const hello = (model) => ({ model, messages: [{ role: 'user', content: 'Hello' }], stream_options: { include_usage: true } });
const calls = ({ message }) => message.tool_calls.map(({ id, function: f }) => [id, f.name, f.arguments]);

async function refusal(client, model) {
  try {
    for await (const _ of await client.chat.completions.create({ ...hello(model), stream: true }));
  } catch (error) {
    return error;
  }
  throw new Error('the client saw no error');
}

await main(async (url) => {
  const checks = new Checks('openai');
  const client = new OpenAI({ apiKey: KEY, baseURL: `${url}/v1`, maxRetries: 0 });

  checks.add('hears a text in pieces', async () => {
    const heard = await read(client, hello('text'));
    equal(heard.text, 'The quick brown fox jumps over the lazy dog.', 'text');
    equal(heard.message.content, heard.text, 'message');
    const { usage } = heard;
    equal([usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens, usage.completion_tokens], [10, 4, 11], 'usage');
    equal(heard.finish, 'stop', 'finish');
  });
  checks.add('hears thoughts apart from text', async () => {
    const heard = await read(client, hello('thoughts'));
    equal([heard.thoughts, heard.text], ['**Counting** One, two.', 'Two.'], 'thoughts and text');
  });
  checks.add('hears parallel calls', async () => {
    const heard = await read(client, hello('parallel-calls'));
    equal(calls(heard), [['call_a', 'read_file', '{"path":"a.txt"}'], ['call_b', 'read_file', '{"path":"b.txt"}']], 'calls');
    equal([heard.finish, heard.text], ['tool_calls', 'I will look.'], 'finish and text');
  });
  checks.add('hears calls whose pieces are mixed', async () => {
    const heard = await read(client, hello('interleaved-calls'));
    equal(calls(heard), [['call_a', 'list', '{"folder":"src"}'], ['call_b', 'list', '{}']], 'calls');
  });
  checks.add('hears a call without arguments', async () => {
    equal(calls(await read(client, hello('empty-arguments'))), [['call_a', 'list', '']], 'calls');
  });
  checks.add('hears every character', async () => {
    equal((await read(client, hello('unicode'))).text, 'Grüße \u{1f980} \u4f60\u597d "quoted"\n', 'text');
  });
  checks.add('hears an end without usage or a last word', async () => {
    equal((await read(client, hello('no-usage'))).text, 'Done.', 'text');
    equal((await read(client, hello('unended'))).text, 'Done.', 'text');
  });
  checks.add('hears why an answer stopped', async () => {
    // Its own putting together refuses both; what came is read piece by piece.
    for (const [model, finish] of [['length', 'length'], ['filtered', 'content_filter']]) {
      let found;
      for await (const chunk of await client.chat.completions.create({ ...hello(model), stream: true })) {
        found = chunk.choices[0]?.finish_reason ?? found;
      }
      equal(found, finish, model);
    }
    equal((await read(client, hello('refused'))).refusal, 'I cannot help with that.', 'refusal');
  });
  checks.add('hears errors', async () => {
    for (const [model, status, code] of [['bad-request', 400, null], ['no-such-model', 404, 'model_not_found'],
      ['no-quota', 429, 'insufficient_quota'], ['busy', 429, 'rate_limit_exceeded']]) {
      const error = await refusal(client, model);
      equal([error.status, error.code], [status, code], model);
    }
  });

  for (const { name, hears, body } of CASES) {
    checks.add(`sends what we send: ${name}`, async () => {
      // A header that only this check sends tells its request from those of the others.
      const mark = randomUUID();
      let messages = body.messages;
      if (hears) {
        const { message } = await read(client, hello(hears));
        const results = message.tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'fine' }));
        messages = [...hello(hears).messages, message, ...results];
      }
      await client.chat.completions.create({ ...body, messages }, { headers: { 'x-case': mark } });
      const requests = await (await fetch(`${url}/requests`)).json();
      const sent = requests.find(({ headers }) => headers['x-case'] === mark);
      isTrue(sent !== undefined, 'the request was not seen');
      equal(sent.target, '/v1/chat/completions', 'target');
      equal(sent.headers.authorization, `Bearer ${KEY}`, 'key');
      equal(sent.headers['content-type'], 'application/json', 'content type');
      equal(sent.body, body, 'body');
    });
  }
  return checks.run();
});
