// Signed cards between attache and the JavaScript SDK 1.3.0: `signed_cards.mjs ATTACHE`.
//
// `ATTACHE` is the program itself: it signs and serves what the SDK verifies, and verifies what the SDK signs. Files
// are made in a temporary folder, and one server listens on loopback.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

import { Checks, equal, isTrue, sdk } from './harness.mjs';

const { generateAgentCardSignature, verifyAgentCardSignature } = sdk('@a2a-js/sdk');

const TOKEN = 'a-token-of-enough-length';
const ALGORITHMS = { es256: 'ES256', eddsa: 'EdDSA' };

/** A folder with keys in it, and the program. */
class World {
  constructor(program) {
    this.program = resolve(program);
    this.folder = mkdtempSync(join(tmpdir(), 'signed-cards-'));
    for (const algorithm of Object.keys(ALGORITHMS)) {
      this.run(['keys', 'new', '--out', `${algorithm}.jwk`, '--algorithm', algorithm]);
    }
  }

  run(args, code = 0) {
    const options = { cwd: this.folder, env: { HOME: this.folder }, encoding: 'utf8' };
    const ran = spawnSync(this.program, args, options);
    equal(ran.status, code, `the exit code of ${args.join(' ')} (${ran.stdout}${ran.stderr})`);
    return ran.stdout;
  }

  private(algorithm) {
    return JSON.parse(readFileSync(join(this.folder, `${algorithm}.jwk`), 'utf8'));
  }

  keys() {
    return JSON.parse(this.run(['keys', 'public', ...Object.keys(ALGORITHMS).map((one) => `${one}.jwk`)]));
  }

  write(name, document) {
    writeFileSync(join(this.folder, name), JSON.stringify(document));
    return name;
  }

  /** A server whose card has a requirement without scopes. */
  async serve() {
    const skill = '[[card.extended.skills]]\nid = "inside"\nname = "Inside"\ndescription = "äöü"\ntags = ["interop"]\n';
    const settings = `[card]\nname = "Prüf-Agent"\nsigning_keys = ["es256.jwk", "eddsa.jwk"]\n${skill}`;
    writeFileSync(join(this.folder, 'attache.toml'), settings);
    const args = ['serve', '--port', '0', '--store', 'memory:', '--config', 'attache.toml'];
    const env = { HOME: this.folder, ATTACHE_TOKEN: TOKEN };
    this.server = spawn(this.program, args, { cwd: this.folder, env, stdio: ['ignore', 'pipe', 'ignore'] });
    for await (const line of createInterface({ input: this.server.stdout })) return line.split(' ').at(-1);
    throw new Error('the server did not start');
  }

  end() {
    this.server?.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A card with everything that has been trouble: text that is not ASCII, numbers, values that are empty. */
function card() {
  return {
    name: 'Prüf-Agent 😀',
    description: 'signs',
    version: '1.0.0',
    supportedInterfaces: [{ url: 'https://a.example/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extensions: [
        { uri: 'https://a.example/e', required: false, params: { level: 3, half: 0.5, z: '', ä: [] } },
      ],
    },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'code', name: 'Code', description: 'Edits code', tags: ['code'], examples: [] }],
    securitySchemes: { b: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
    securityRequirements: [{ schemes: { b: {} } }],
  };
}

/**
 * The SDK is given documents, not what its own parser makes of them: it parses once more before it canonicalises, and
 * a security scheme that was parsed twice is lost.
 */
async function verify(document, keys) {
  const verifier = verifyAgentCardSignature(async (kid) => keys.keys.find((key) => key.kid === kid));
  await verifier(document);
}

async function refused(document, keys) {
  const taken = await verify(document, keys).then(
    () => true,
    () => false,
  );
  isTrue(!taken, 'a changed card was taken for the one that was signed');
}

function addAll(checks, world, url) {
  for (const [algorithm, alg] of Object.entries(ALGORITHMS)) {
    checks.add(`the SDK verifies what attache signed with ${alg}`, async () => {
      const name = world.write(`ours-${algorithm}.json`, card());
      const signed = JSON.parse(world.run(['card', 'sign', name, '--key', `${algorithm}.jwk`]));
      await verify(signed, world.keys());
      await refused({ ...signed, version: '6.6.6' }, world.keys());
    });
    checks.add(`attache verifies what the SDK signed with ${alg}`, async () => {
      const key = world.private(algorithm);
      const sign = generateAgentCardSignature(key, { alg, kid: key.kid, typ: 'JOSE' });
      const signed = await sign(card());
      const keys = world.write(`keys-${algorithm}.json`, world.keys());
      const told = world.run(['card', 'verify', world.write(`theirs-${algorithm}.json`, signed), '--keys', keys]);
      isTrue(told.endsWith('verified\n'), told);
      signed.version = '6.6.6';
      world.run(['card', 'verify', world.write(`bad-${algorithm}.json`, signed), '--keys', keys], 1);
    });
  }
  for (const version of ['', '0.3', '1.0']) {
    checks.add(`the SDK verifies the card that attache serves to ${version || 'clients that name no version'}`, async () => {
      const headers = version ? { 'A2A-Version': version } : {};
      const document = await (await fetch(`${url}/.well-known/agent-card.json`, { headers })).json();
      const keys = await (await fetch(`${url}/.well-known/jwks.json`)).json();
      await verify(document, keys);
      await refused({ ...document, name: 'another' }, keys);
    });
  }
  for (const path of ['/extendedAgentCard', '/v1/card']) {
    checks.add(`the SDK verifies the extended card at ${path}`, async () => {
      const headers = { Authorization: `Bearer ${TOKEN}` };
      const document = await (await fetch(url + path, { headers })).json();
      const keys = await (await fetch(`${url}/.well-known/jwks.json`)).json();
      equal(document.skills.at(-1).id, 'inside', 'the skill of the extended card');
      await verify(document, keys);
      await refused({ ...document, description: 'another' }, keys);
    });
  }
}

if (process.argv.length !== 3) {
  console.error(`usage: ${process.argv[1]} ATTACHE`);
  process.exit(2);
}
// The SDK tells of every signature that is not the one, with its stack.
console.debug = () => {};
const world = new World(process.argv[2]);
let code = 1;
try {
  const checks = new Checks('js-1.0');
  addAll(checks, world, await world.serve());
  code = await checks.run();
} finally {
  world.end();
}
process.exit(code);
