// A client of a coding agent, on npm's @a2a-js/sdk. What is typed at the terminal answers what the agent asks.
//
//   npx tsx develop.ts http://127.0.0.1:41242 FOLDER "Make the greeting friendlier"

import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { SendMessageRequest, StreamResponse } from '@a2a-js/sdk';
import { ClientFactory, JsonRpcTransportFactory } from '@a2a-js/sdk/client';

const EXTENSION = 'https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md';
const [address, folder, prompt] = process.argv.slice(2);
const typed = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const ids: string[] = []; // Of all events.
const asked = new Map<string, any>(); // The calls that wait for an answer, by their ids.
let inText = false;

// The card says what the agent can do. Naming the extension in a header of every call activates it.
const transports = [new JsonRpcTransportFactory({ fetchImpl })];
const client = await new ClientFactory({ transports }).createFromUrl(address);
const { name, capabilities } = await client.getAgentCard();
if (!capabilities?.extensions.some(({ uri }) => uri === EXTENSION)) throw new Error(`${name} does not offer it`);
const headers = { 'A2A-Extensions': EXTENSION };
console.log(`connected to ${name}`);

// The first message of a conversation carries AgentSettings: which folder to work in.
const metadata = { [EXTENSION]: { workspace_path: realpathSync(folder) } };
const connection = new AbortController();
let events = say({ parts: [{ text: prompt }], metadata }, connection.signal);
const { task } = json((await events.next()).value);
show(json((await events.next()).value));
connection.abort();
// The stream was cut, here on purpose. With the id of the last event that was seen nothing is lost or repeated.
console.log(`-- cut after event ${ids[1]} --`);
const serviceParameters = { ...headers, 'Last-Event-ID': ids[1] };
events = client.resubscribeTask({ tenant: '', id: task.id }, { serviceParameters });
for (;;) {
  for await (const event of events) show(json(event));
  if (asked.size === 0) break; // Another message to the task would go on with it.
  // The answers go to the same task, all in one message or one by one.
  const parts: object[] = [];
  for (const call of asked.values()) parts.push({ data: await ask(call) });
  events = say({ parts, taskId: task.id, contextId: task.contextId });
}
process.stdin.destroy();

function say(members: object, signal?: AbortSignal): AsyncGenerator<StreamResponse, void> {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', ...members };
  return client.sendMessageStream(SendMessageRequest.fromJSON({ message }), { serviceParameters: headers, signal });
}

function json(event: StreamResponse | void): any {
  return event && StreamResponse.toJSON(event);
}

function show({ statusUpdate: update }: any): void {
  if (!update) return;
  const kind = update.metadata?.[EXTENSION]?.kind;
  const { text = '', data: call } = update.status.message?.parts[0] ?? {};
  if (inText && kind !== 'TEXT_CONTENT') console.log();
  inText = kind === 'TEXT_CONTENT';
  if (kind === 'TEXT_CONTENT') process.stdout.write(text);
  else if (kind === 'THOUGHT') console.log(`(${call.subject}: ${call.description})`);
  else if (kind === 'TOOL_CALL_UPDATE') {
    console.log(`${call.tool_name}: ${call.status}`);
    // Every update has the whole call: the latest is all there is to know about it.
    asked.delete(call.tool_call_id);
    if (!call.confirmation_request) return;
    console.log((call.confirmation_request.file_edit_details?.formatted_diff ?? call.description ?? '').trimEnd());
    asked.set(call.tool_call_id, call);
  } else {
    const state = update.status.state.replace('TASK_STATE_', '').replaceAll('_', '-').toLowerCase();
    console.log(`[${state}] ${text}`.trimEnd());
  }
}

async function ask({ tool_call_id, tool_name, confirmation_request }: any): Promise<object> {
  console.log(`Allow ${tool_name}? y, n, or a line to add to the file:`);
  const line = (await typed.next()).value ?? '';
  if (line === 'y') return { tool_call_id, selected_option_id: 'proceed_once' };
  const proposed = confirmation_request.file_edit_details?.new_content;
  if (proposed === undefined || line.length < 2) return { tool_call_id, selected_option_id: 'cancel' };
  // A change of the person's own is written instead of what was proposed.
  return { tool_call_id, selected_option_id: 'proceed_once', file_details: { new_content: `${proposed}${line}\n` } };
}

// The SDK sends `Last-Event-ID` if told to, but does not tell the ids of events: they are read here, on their way to it.
async function fetchImpl(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  let rest = '';
  const transform = (chunk: string, controller: TransformStreamDefaultController<string>) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    ids.push(...lines.filter((line) => line.startsWith('id:')).map((line) => line.slice(3).trim()));
    controller.enqueue(chunk);
  };
  const watched = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new TransformStream({ transform }));
  return new Response(watched?.pipeThrough(new TextEncoderStream()), response);
}
