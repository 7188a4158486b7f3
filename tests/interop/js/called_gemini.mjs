// `attache call` against Gemini CLI's A2A server, with a model that says again what it hears: `called_gemini.mjs ATTACHE`.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { ran, taskId } from './called.mjs';
import { addTurns, startSession } from './delegating.mjs';
import { Checks, equal, isTrue } from './harness.mjs';

const PROGRAM = 'node_modules/@google/gemini-cli-a2a-server/dist/a2a-server.mjs';
const PAIR = '0.3 JSON-RPC';

/** Gemini's API as far as the server asks it; `run WORD` becomes a call of the shell. */
async function startModel() {
  const model = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const contents = JSON.parse(body || '{}').contents ?? [];
    const parts = contents.at(-1)?.parts ?? [];
    const said = parts.map((part) => part.text ?? '').join('').trim();
    const command = said.match(/run (\w+)$/)?.[1];
    const answer = parts.some((part) => part.functionResponse) ? [{ text: 'It ran.' }]
      : command ? [{ functionCall: { name: 'run_shell_command', args: { command: `echo ${command}` } } }]
        : [{ text: `You said: ${said}` }];
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
    const whole = { candidates: [{ content: { role: 'model', parts: answer }, finishReason: 'STOP' }], usageMetadata };
    const streams = request.url.includes('alt=sse');
    response.setHeader('content-type', streams ? 'text/event-stream' : 'application/json');
    response.end(streams ? `data: ${JSON.stringify(whole)}\n\n` : JSON.stringify(whole));
  });
  await new Promise((done) => model.listen(0, '127.0.0.1', done));
  return model;
}

async function startServer(installed, model, home) {
  // It commits a copy of the workspace before it writes, and fails where git does not know who commits.
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = Test\n\temail = test@example.com\n');
  const preload = fileURLToPath(new URL('../../gemini/preload.cjs', import.meta.url));
  const env = {
    PATH: process.env.PATH, HOME: home, GEMINI_API_KEY: 'key-for-tests',
    GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${model.address().port}`,
  };
  const server = spawn(process.execPath, ['--require', preload, join(installed, PROGRAM)], {
    stdio: ['ignore', 'pipe', 'ignore'], env, cwd: home,
  });
  const url = await new Promise((found, failed) => {
    createInterface({ input: server.stdout }).on('line', (line) => {
      const port = line.split('Agent Server started on http://localhost:')[1];
      if (port) found(`http://127.0.0.1:${port.trim()}`);
    });
    server.on('exit', () => failed(new Error('the server ended before it listened')));
  });
  return { server, url };
}

function add(checks, program, url) {
  const call = async (args, code) => {
    const { code: found, out, err } = await ran(program, ['call', url, ...args]);
    equal(found, code, `the exit code of call ${args.join(' ')} (${out}${err})`);
    return { out, err };
  };
  const events = async (args, code) =>
    (await call([...args, '--json'], code)).out.trim().split('\n').map((line) => JSON.parse(line));
  const check = (what, run) => checks.add(`attache call: ${what}`, run, PAIR);

  // Its tasks wait for the next message when a turn has ended.
  check('a message is answered', async () => {
    const { out, err } = await call(['hello there'], 6);
    isTrue(`${out}${err}`.includes('You said: hello there'), `${out}${err}`);
  });
  check('a task is shown afterwards', async () => {
    const task = taskId(await events(['hello'], 6));
    equal(JSON.parse((await call(['--task', task, '--json'], 6)).out).id, task, 'the task that is shown');
  });
  check('a task goes on with another message', async () => {
    const task = taskId(await events(['hello'], 6));
    const { out, err } = await call(['--task', task, 'and again'], 6);
    isTrue(`${out}${err}`.includes('You said: and again'), `${out}${err}`);
  });
  check('a tool call that needs a confirmation is shown and canceled', async () => {
    const asked = await events(['run moon'], 6);
    isTrue(JSON.stringify(asked).includes('echo moon'), JSON.stringify(asked));
    const { out } = await call(['--task', taskId(asked), '--cancel'], 0);
    isTrue(out.includes('canceled'), out);
  });
  check('a confirmation is answered', async () => {
    const allowed = await call(['run sun', '--answer', 'yes'], 6);
    isTrue(allowed.err.includes('echo sun') && `${allowed.out}${allowed.err}`.includes('It ran.'), allowed.err);
    const refused = await call(['run star', '--answer', 'no'], 6);
    isTrue(!`${refused.out}${refused.err}`.includes('It ran.'), `${refused.out}${refused.err}`);
  });
  check('a missing task is an error', async () => {
    isTrue((await call(['--task', '00000000-0000-4000-8000-000000000000'], 1)).err.includes('error:'), 'an error');
  });
}

if (process.argv.length !== 3) {
  console.error(`usage: ${process.argv[1]} ATTACHE`);
  process.exit(2);
}
const home = mkdtempSync(join(tmpdir(), 'called-gemini-'));
const model = await startModel();
const { server, url } = await startServer(resolve(process.env.INTEROP_SDK ?? '.'), model, home);
const session = await startSession(resolve(process.argv[2]), url);
try {
  const checks = new Checks('gemini-server');
  add(checks, resolve(process.argv[2]), url);
  addTurns(checks, resolve(process.argv[2]), session);
  process.exitCode = await checks.run();
} finally {
  session.stop();
  server.kill('SIGKILL');
  model.close();
  model.closeAllConnections();
  rmSync(home, { recursive: true, force: true });
}
