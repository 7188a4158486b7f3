// The conversation that every framework is taken through, and how its steps are told.
//
// A program extends `Client` for one framework and calls `main`. See ../README.md.

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const POEM_PROMPT = 'Please recite the poem.';
export const POEM = 'The quick brown fox\njumps over the lazy dog.';
export const NOTES_PROMPT = 'Please write the notes.';
export const NOTES = 'The notes are written.\nNothing else was changed.';
export const GOODBYE_PROMPT = 'Please say goodbye.';
export const GOODBYE = 'Goodbye, and thanks for the notes.';

const STEP_LIMIT = 30_000;

// Several frameworks log to standard output, which is for the lines of the steps.
for (const method of ['log', 'info', 'debug']) console[method] = console.error;

/** Thrown by a step that the framework has no means for. */
export class Missing extends Error {}

/** The framework showed something else. */
class Unexpected extends Error {}

/** A framework as the client of a remote agent. */
export class Client {
  /** Finds the agent at `url` by its card. */
  async connect(_url) {
    throw new Missing('not written');
  }

  /** Begins a conversation: a function from a prompt to the text of the answer, or of the question. */
  async conversation() {
    throw new Missing('not written');
  }

  /** The answer to a prompt in a conversation of its own. */
  async ask(prompt) {
    const send = await this.conversation();
    return send(prompt);
  }

  /** Connects a framework that reads the card no sooner than it sends a message. */
  async hello() {
    await this.ask('Hello.');
  }

  /** The answer to a prompt, piece by piece as it arrives. */
  async pieces(_prompt) {
    throw new Missing('not written');
  }

  /** Ends what the framework has started. */
  async close() {}
}

/**
 * A package of the framework, found in the folder in `INTEROP_SDK`, or else in the current folder.
 *
 * Node.js looks for what an ES module imports above that module only, and many packages offer nothing to `require`. So
 * the import is written in the folder of the packages. It gets its name only when it is whole: another program that uses
 * the same packages may read it meanwhile.
 */
export async function packaged(name) {
  const door = join(process.env.INTEROP_SDK ?? process.cwd(), 'import.mjs');
  const whole = `${door}.${process.pid}`;
  writeFileSync(whole, 'export const load = (name) => import(name);\n');
  renameSync(whole, door);
  const { load } = await import(pathToFileURL(door));
  return load(name);
}

/** Takes the framework through all steps and exits. */
export async function main(client) {
  if (process.argv.length !== 3) {
    console.error(`usage: ${process.argv[1]} BASE_URL`);
    process.exit(2);
  }
  const failed = await run(client, process.argv[2].replace(/\/+$/, ''));
  // Some frameworks leave timers and connections behind that would keep the program waiting.
  process.exit(failed ? 1 : 0);
}

async function run(client, url) {
  let failed = false;
  const step = async (name, work) => {
    const { verdict, reason } = await outcome(work);
    failed ||= verdict === 'not ok';
    process.stdout.write(`${verdict} ${name}${reason ? `: ${reason}` : ''}\n`);
    return verdict === 'ok';
  };
  const connected = await step('connect', () => client.connect(url));
  let send;

  await step('exact text', async () => {
    need(connected, 'not connected');
    expect(await client.ask(POEM_PROMPT), POEM);
  });
  await step('stream', async () => {
    need(connected, 'not connected');
    const pieces = await client.pieces(POEM_PROMPT);
    expect(pieces.join(''), POEM);
    need(pieces.filter(Boolean).length > 1, 'all of it arrives as one piece');
  });
  await step('approval', async () => {
    need(connected, 'not connected');
    send = await client.conversation();
    const question = await send(NOTES_PROMPT);
    need(typeof question === 'string', `no text but ${show(question)}`);
    need(question.includes('notes.txt') && question.includes('yes or no'), `it shows ${show(question)}`);
  });
  await step('text after approval', async () => {
    need(send, 'there is no conversation');
    expect(await send('yes'), NOTES);
  });
  await step('second message', async () => {
    need(send, 'there is no conversation');
    expect(await send(GOODBYE_PROMPT), GOODBYE);
  });
  await client.close();
  return failed;
}

async function outcome(work) {
  let timer;
  const limit = new Promise((_, reject) => {
    const late = () => reject(new Unexpected(`no result within ${STEP_LIMIT / 1000} seconds`));
    timer = setTimeout(late, STEP_LIMIT);
  });
  try {
    await Promise.race([work(), limit]);
    return { verdict: 'ok' };
  } catch (error) {
    if (error instanceof Missing) return { verdict: 'skip', reason: line(error) };
    if (!(error instanceof Unexpected)) console.error(error);
    return { verdict: 'not ok', reason: line(error) };
  } finally {
    clearTimeout(timer);
  }
}

function expect(found, expected) {
  need(typeof found === 'string', `no text but ${show(found)}`);
  need(found.trim() === expected, `it shows ${show(found)}`);
}

function need(condition, reason) {
  if (!condition) throw new Unexpected(reason);
}

function show(value) {
  return JSON.stringify(value) ?? String(value);
}

/** A reason on one line. */
function line(error) {
  const text = String(error?.message || error?.name || error).split(/\s+/).join(' ').trim();
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}
