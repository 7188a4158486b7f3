// `attache call` against an agent on the server of an SDK or framework: the checks, and how to run the program.
//
// An agent obeys steering words: `conformance WORD`. Not here: the agents, which other programs start.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

import { addDelegation, startSession } from './delegating.mjs';
import { Checks, equal, isTrue } from './harness.mjs';

const PAIRS = { 'JSON-RPC': 'jsonrpc', 'HTTP+JSON': 'http', gRPC: 'grpc' };

/** Starts an agent, which prints `listening on URL`. */
async function start(script) {
  const env = { ...process.env, EXTENDED_CARD: '1' };
  const agent = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'], env });
  for await (const line of createInterface({ input: agent.stdout })) {
    if (line.startsWith('listening on ')) return { agent, url: line.split(' ').at(-1) };
  }
  throw new Error(`${script} ended before it listened`);
}

export function ran(program, args) {
  return new Promise((done, failed) => {
    const env = { HOME: process.cwd() };
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
    let [out, err] = ['', ''];
    child.stdout.on('data', (text) => { out += text; });
    child.stderr.on('data', (text) => { err += text; });
    child.on('error', failed);
    child.on('close', (code) => done({ code, out, err }));
  });
}

export function taskId(events) {
  for (const event of events) {
    const id = event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId;
    if (id) return id;
  }
  throw new Error(`no event names a task: ${JSON.stringify(events)}`);
}

function add(checks, program, url, flags, pair, noFilesOverGrpc) {
  const call = async (args, code = 0) => {
    const { code: found, out, err } = await ran(program, ['call', url, ...args, ...flags]);
    equal(found, code, `the exit code of call ${args.join(' ')} (${out}${err})`);
    return { out, err };
  };
  const events = async (args) =>
    (await call([...args, '--json'])).out.trim().split('\n').map((line) => JSON.parse(line));
  const check = (what, run) => checks.add(`attache call: ${what}`, run, pair);

  check('a stream is printed as it comes', async () => {
    equal((await call(['conformance chunks'])).out, 'one two three\n', 'the answer');
    const numbers = (await call(['conformance burst'])).out.trim().split(/\s+/);
    equal(numbers, Array.from({ length: 30 }, (_, place) => `${place + 1}`), 'thirty pieces');
  });
  check('a bare message is an answer', async () => {
    equal((await call(['conformance message'])).out, 'Just a message.\n', 'the answer');
  });
  check('the exit code tells how a task ended', async () => {
    const ends = [['fail', 3, 'It did not work.'], ['reject', 4, 'Not for me.'], ['auth', 7, 'Sign in first.']];
    for (const [word, code, words] of ends) {
      const { err } = await call([`conformance ${word}`], code);
      isTrue(err.includes(words), err);
    }
  });
  check('questions are shown and answered', async () => {
    isTrue((await call(['conformance ask'], 6)).err.includes('Which one?'), 'the question');
    isTrue((await call(['conformance ask', '--answer', 'the first'])).out.includes('done'), 'an answer');
  });
  // The server of the 0.3 SDK cannot write file parts over gRPC.
  const writesFiles = !(noFilesOverGrpc && flags.includes('grpc'));
  if (writesFiles) check('parts of every kind arrive', async () => {
    const found = (await events(['conformance parts'])).flatMap((it) => it.artifactUpdate?.artifact.parts ?? []);
    isTrue(found.some((part) => part.text === 'words'), `a text: ${JSON.stringify(found)}`);
    equal(found.filter((part) => 'raw' in part).map((part) => part.raw), ['AAECAw=='], 'the bytes');
    isTrue(found.some((part) => part.url === 'https://example.com/file.txt'), `a URL: ${JSON.stringify(found)}`);
    const data = found.filter((part) => 'data' in part).map((part) => part.data);
    equal(data, [{ number: 1, list: [true, null] }], 'the data');
  });
  check('a file is sent', async () => {
    const file = join(process.cwd(), 'four.bin');
    writeFileSync(file, Buffer.from([0, 1, 2, 3]));
    // Later looks at the task have no history.
    const history = (await events(['a file', '--file', file])).flatMap((it) => it.task?.history ?? []);
    const raw = history.flatMap((message) => message.parts).filter((part) => 'raw' in part).map((part) => part.raw);
    equal(raw, ['AAECAw=='], 'the bytes that the agent got');
  });
  check('tasks are shown and canceled', async () => {
    const task = taskId(await events(['conformance slow', '--detach']));
    equal(JSON.parse((await call(['--task', task, '--json'])).out).id, task, 'the task that is shown');
    isTrue((await call(['--task', task, '--cancel'])).out.includes('canceled'), 'it is canceled');
    await call(['--task', task], 5);
  });
  check('a task is followed', async () => {
    const task = taskId(await events(['conformance brief', '--detach']));
    isTrue((await call(['--task', task, '--follow'])).out.includes('done'), 'an answer');
  });
  check('push configurations are created, listed and deleted', async () => {
    const asked = await call(['conformance ask', '--json'], 6);
    const task = taskId(asked.out.trim().split('\n').map((line) => JSON.parse(line)));
    const pushes = async (...args) => JSON.parse((await call(['--task', task, ...args, '--json'])).out);
    const [created] = await pushes('--push', 'http://127.0.0.1:9/hook');
    equal((await pushes('--list-pushes')).map((it) => it.url), ['http://127.0.0.1:9/hook'], 'the places');
    await call(['--task', task, '--delete-push', created.id]);
    equal(await pushes('--list-pushes'), [], 'the places after that');
  });
  check('tasks are listed where the version can', async () => {
    if (pair.startsWith('0.3')) {
      isTrue((await call(['--list'], 1)).err.includes('0.3 has no request'), 'it says so');
      return;
    }
    const task = taskId(await events(['conformance chunks']));
    const listed = JSON.parse((await call(['--list', '--json'])).out);
    isTrue(listed.some((it) => it.id === task), `${task} is listed`);
  });
  check('the extended card is fetched', async () => {
    const { skills } = JSON.parse((await call(['--extended-card'])).out);
    equal(skills.map((skill) => skill.id), ['steered', 'inside'], 'its skills');
  });
  check('a missing task is an error', async () => {
    isTrue((await call(['--task', '00000000-0000-4000-8000-000000000000'], 1)).err.includes('error:'), 'an error');
  });
}

/** All bindings of these versions; gRPC listens on a port of its own, which is another origin. */
export async function main(name, script, versions, { noFilesOverGrpc = false } = {}) {
  if (process.argv.length !== 3) {
    console.error(`usage: ${process.argv[1]} ATTACHE`);
    process.exit(2);
  }
  const program = resolve(process.argv[2]);
  const { agent, url } = await start(script);
  const session = await startSession(program, url);
  try {
    const refused = await ran(program, ['call', url, 'hi', '--binding', 'grpc']);
    isTrue(refused.code === 1 && refused.err.includes('another origin'), refused.err);
    const origin = refused.err.split('--allow-origin ')[1].split(';')[0].trim();
    const checks = new Checks(name);
    for (const version of versions) {
      for (const [title, binding] of Object.entries(PAIRS)) {
        const flags = ['--version', version, '--binding', binding, '--allow-origin', origin];
        add(checks, program, url, flags, `${version} ${title}`, noFilesOverGrpc);
      }
    }
    addDelegation(checks, program, session);
    process.exitCode = await checks.run();
  } finally {
    session.stop();
    agent.kill('SIGKILL');
  }
}
