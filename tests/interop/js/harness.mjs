// Runs named checks against a server and prints one line for each.
//
// A line is `ok NAME`, `not ok NAME: REASON` or `skip NAME: REASON`, where a name is `PROGRAM | PAIR | WHAT`: which
// version and binding was spoken, or `-` where that does not matter, and what was found to be so. Checks do not depend on
// each other: several run at once, each under its own time limit, and the lines keep the order in which the checks
// were added. Not here: anything that knows A2A.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

const CHECK_LIMIT = 12_000;
const PROGRAM_LIMIT = 120_000;
const CHECKS_AT_ONCE = 4;

/** Thrown by a check that does not apply, with the reason. */
export class Skip extends Error {}

class Failure extends Error {}

/** The checks of one program, in the order in which they are reported. */
export class Checks {
  #checks = [];

  constructor(program) {
    this.program = program;
  }

  add(what, check, pair = '-') {
    this.#checks.push({ name: `${this.program} | ${pair} | ${what}`, check });
  }

  /** Runs everything and gives the exit code. */
  async run() {
    const deadline = Date.now() + PROGRAM_LIMIT;
    const outcomes = this.#checks.map(() => Promise.withResolvers?.() ?? resolvers());
    let next = 0;
    const work = async () => {
      while (next < this.#checks.length) {
        const mine = next++;
        outcomes[mine].resolve(await runOne(this.#checks[mine].check, deadline));
      }
    };
    const workers = Array.from({ length: CHECKS_AT_ONCE }, work);
    let failures = 0;
    for (const [index, { name }] of this.#checks.entries()) {
      const { verdict, reason } = await outcomes[index].promise;
      failures += verdict === 'not ok' ? 1 : 0;
      console.log(`${verdict} ${name}${reason ? `: ${reason}` : ''}`);
    }
    await Promise.all(workers);
    return failures > 0 || this.#checks.length === 0 ? 1 : 0;
  }
}

export function equal(actual, expected, what) {
  if (!isDeepStrictEqual(actual, expected)) {
    throw new Failure(`${what}: expected ${show(expected)}, found ${show(actual)}`);
  }
}

export function isTrue(condition, what) {
  if (!condition) throw new Failure(what);
}

/** Asks again and again until the answer is accepted. */
export async function until(probe, accept, what, milliseconds = 6_000) {
  const giveUp = Date.now() + milliseconds;
  for (;;) {
    const answer = await probe();
    if (accept(answer)) return answer;
    isTrue(Date.now() < giveUp, `${what} did not happen within ${milliseconds} ms; last seen: ${show(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * A module of the SDK under test, found in the `node_modules` of the folder in `INTEROP_SDK`, or else of the
 * current folder. A fixed import would tie these programs to one installed version.
 */
export function sdk(module) {
  return createRequire(join(process.env.INTEROP_SDK ?? process.cwd(), 'peer.cjs'))(module);
}

/** Runs the program `run(baseUrl)` and exits with its code. */
export async function main(run) {
  if (process.argv.length !== 3) {
    console.error(`usage: ${process.argv[1]} BASE_URL`);
    process.exit(2);
  }
  process.exit(await run(process.argv[2].replace(/\/+$/, '')));
}

async function runOne(check, deadline) {
  const limit = Math.min(CHECK_LIMIT, deadline - Date.now());
  if (limit <= 0) return { verdict: 'not ok', reason: 'the program ran out of time before this check' };
  let timer;
  const clock = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Failure(`no result within ${limit / 1000} seconds`)), limit);
  });
  try {
    await Promise.race([check(), clock]);
    return { verdict: 'ok' };
  } catch (error) {
    if (error instanceof Skip) return { verdict: 'skip', reason: oneLine(error.message) };
    // Whatever an SDK throws is a finding, not a crash of the program.
    const reason = error instanceof Failure ? error.message : `${error?.name}: ${error?.message} ${place(error)}`;
    return { verdict: 'not ok', reason: oneLine(reason) };
  } finally {
    clearTimeout(timer);
  }
}

function resolvers() {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
}

function place(error) {
  const line = String(error?.stack).split('\n').find((one) => one.includes('.mjs'));
  return line ? `(${line.trim().split('/').at(-1).replace(')', '')})` : '';
}

function show(value) {
  return JSON.stringify(value) ?? String(value);
}

function oneLine(text) {
  const line = text.split(/\s+/).join(' ');
  return line.length <= 900 ? line : `${line.slice(0, 900)}…`;
}
