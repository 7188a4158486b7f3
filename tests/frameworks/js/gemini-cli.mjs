// npm `@google/gemini-cli`: the agent as a remote subagent of the CLI, which is driven over its Agent Client Protocol.
//
// The CLI needs a language model: `gemini-model.mjs` is one that passes on what the user and the agent say.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { GeminiModel } from './gemini-model.mjs';
import { Client, Missing, main } from './harness.mjs';

const AGENT = 'attache';

const SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
};

/** Otherwise the CLI would ask its user before each call of a remote agent, and refuse where it cannot ask. */
const POLICY = `[[rule]]\ntoolName = "${AGENT}"\ndecision = "allow"\npriority = 500\n`;

class GeminiCli extends Client {
  #sessions = [];

  async connect(url) {
    this.folder = mkdtempSync(join(tmpdir(), 'gemini-cli-'));
    const settings = join(this.folder, '.gemini');
    for (const folder of ['agents', 'policies']) mkdirSync(join(settings, folder), { recursive: true });
    mkdirSync(join(this.folder, 'workspace'));
    const card = `${url}/.well-known/agent-card.json`;
    writeFileSync(join(settings, 'settings.json'), JSON.stringify(SETTINGS));
    writeFileSync(join(settings, 'policies', 'agent.toml'), POLICY);
    writeFileSync(
      join(settings, 'agents', 'agent.md'),
      `---\nkind: remote\nname: ${AGENT}\ndescription: A coding agent.\nagent_card_url: ${card}\n---\n`,
    );
    this.model = await GeminiModel.listening(AGENT);
    this.first = await this.conversation();
    await this.hello();
  }

  /** One process: the CLI keeps one conversation with a remote agent for as long as it runs. */
  async conversation() {
    const session = await Session.started(this.folder, this.model.url);
    this.#sessions.push(session);
    return async (prompt) => {
      const shown = await session.prompt(prompt);
      if (this.model.failure) throw new Error(this.model.failure);
      return shown;
    };
  }

  async ask(prompt) {
    return this.first(prompt);
  }

  async pieces() {
    throw new Missing('it shows the pieces on a terminal only');
  }

  async close() {
    for (const session of this.#sessions) session.end();
    this.model?.close();
    if (this.folder) rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The CLI as a child process, spoken to in JSON-RPC by lines. */
class Session {
  #waiting = new Map();
  #shown = '';

  static async started(home, modelUrl) {
    const session = new Session();
    const bundle = ['node_modules', '@google', 'gemini-cli', 'bundle', 'gemini.js'];
    const program = join(process.env.INTEROP_SDK ?? process.cwd(), ...bundle);
    const cwd = join(home, 'workspace');
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      GEMINI_API_KEY: 'no-key',
      GOOGLE_GEMINI_BASE_URL: modelUrl,
      // One process, so that it can be ended.
      GEMINI_CLI_NO_RELAUNCH: 'true',
    };
    const stdio = ['pipe', 'pipe', 'inherit'];
    session.child = spawn(process.execPath, [program, '--acp', '-m', 'gemini-2.5-flash'], { cwd, env, stdio });
    session.child.on('exit', (code) => session.#fail(new Error(`the CLI ended with ${code}`)));
    createInterface({ input: session.child.stdout }).on('line', (line) => session.#hear(line));
    await session.#call('initialize', { protocolVersion: 1, clientCapabilities: {} });
    session.id = (await session.#call('session/new', { cwd, mcpServers: [] })).sessionId;
    return session;
  }

  /** What the CLI's model says in the end. */
  async prompt(text) {
    this.#shown = '';
    await this.#call('session/prompt', { sessionId: this.id, prompt: [{ type: 'text', text }] });
    return this.#shown;
  }

  end() {
    this.child.kill();
  }

  #call(method, params) {
    const id = this.#waiting.size + 1;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  #hear(line) {
    const { id, error, result, params } = JSON.parse(line);
    const update = params?.update;
    if (update?.sessionUpdate === 'agent_message_chunk') this.#shown += update.content.text;
    const waiting = this.#waiting.get(id);
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
  }

  #fail(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}

await main(new GeminiCli());
