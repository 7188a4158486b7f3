// A session of attache gives tasks to an agent on the server of an SDK: the checks, and the server that delegates.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { ran } from './called.mjs';
import { equal, isTrue } from './harness.mjs';

const SCRIPT = `rules:
  - text: '^delegate (?s:(.+))$'
    steps:
      - call: { tool: invoke_agent, input: { agent_name: peer, prompt: '{{1}}' } }
      - say: '{{result}}'
`;

/** `attache serve` whose model delegates what it is told to the agent at `url`. */
export async function startSession(program, url) {
  const home = mkdtempSync(join(tmpdir(), 'delegating-'));
  mkdirSync(join(home, '.gemini/agents'), { recursive: true });
  writeFileSync(join(home, '.gemini/settings.json'), '{"experimental": {"enableAgents": true}}');
  writeFileSync(join(home, '.gemini/agents/peer.md'), `---\nkind: remote\nname: peer\nagent_card_url: ${url}/.well-known/agent-card.json\n---\n`);
  writeFileSync(join(home, 'script.yaml'), SCRIPT);
  const flags = ['--port', '0', '--store', 'memory:', '--approval-mode', 'yolo', '--model', 'script:script.yaml'];
  const server = spawn(program, ['serve', '--trust', ...flags], {
    stdio: ['ignore', 'pipe', 'ignore'], env: { HOME: home }, cwd: home,
  });
  const stop = () => {
    server.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true });
  };
  for await (const line of createInterface({ input: server.stdout })) {
    if (line.includes('listening on ')) return { url: line.split(' ').at(-1), stop };
  }
  stop();
  throw new Error('attache ended before it listened');
}

export function addDelegation(checks, program, session) {
  const call = async (prompt, args = [], code = 0) => {
    const { code: found, out, err } = await ran(program, ['call', session.url, `delegate ${prompt}`, ...args]);
    equal(found, code, `the exit code of ${prompt} (${out}${err})`);
    return { out, err };
  };
  const check = (what, run) => checks.add(`a session delegates: ${what}`, run, '-');

  check('what the agent says comes back', async () => {
    isTrue((await call('conformance chunks')).out.includes('one two three'), 'the pieces as one text');
    isTrue((await call('conformance message')).out.includes('Just a message.'), 'a bare message');
  });
  check('a task that fails is reported with its text', async () => {
    for (const [word, words] of [['fail', 'It did not work.'], ['reject', 'Not for me.']]) {
      const { out } = await call(`conformance ${word}`);
      isTrue(out.includes(words) && out.includes('The agent peer failed: its task ended as'), out);
    }
  });
  check('a question is answered by the person', async () => {
    const { err } = await call('conformance ask', [], 6);
    isTrue(err.includes('the agent peer asks:') && err.includes('Which one?'), err);
    const { out } = await call('conformance ask', ['--answer', 'the first']);
    isTrue(out.includes('The person answered: the first') && out.includes('done'), out);
  });
  check('files are saved and named', async () => {
    const { out } = await call('conformance parts');
    isTrue(out.includes('words') && out.includes('The agent sent files:') && out.includes('(4 bytes)'), out);
    isTrue(out.includes('https://example.com/file.txt'), out);
  });
}

/** For an agent that says again what it hears, and whose task waits for the next message after each turn. */
export function addTurns(checks, program, session) {
  checks.add('a session delegates: what the agent says comes back', async () => {
    const { code, out, err } = await ran(program, ['call', session.url, 'delegate hello there']);
    equal(code, 0, `the exit code (${out}${err})`);
    isTrue(out.includes('You said: hello there') && out.includes('goes on with the same task'), out);
  }, '-');
}
