// Checks against a second server that asks for a token, lists its tenants and has an extended card.
//
// `INTEROP_GUARDED` names it and `INTEROP_TOKEN` is its token.

import { equal, isTrue } from './harness.mjs';
import { everything, message } from './peer.mjs';
import * as scripted from './scripted.mjs';

// The skill that only the extended card of the server tells of.
const SKILL = 'interop-inside';

/** The server's address and its token. */
export function place() {
  const { INTEROP_GUARDED: base, INTEROP_TOKEN: token } = process.env;
  return { base, token };
}

/** Adds the checks. `connect` takes the server's address and the token. */
export function addTo(checks, pair, connect) {
  const { base, token } = place();
  for (const [name, check] of Object.entries(ALL)) {
    checks.add(name, async () => check(await connect(base, token), await connect(base)), pair);
  }
}

const ALL = {
  'calls without the token are refused as unauthenticated, and calls with it are served': async (known, nobody) => {
    const { task } = await known.send(message(scripted.ECHO));
    equal((await known.get(task.id)).status.state, 'completed', 'the state');
    equal((await everything(known.stream(message(scripted.ECHO))))[0].kind, 'task', 'the first item');
    // gRPC's number for it is 16.
    const words = /401|unauthenticated|credentials are missing|\b16\b/i;
    await refusedWith(words, 'send', () => nobody.send(message(scripted.ECHO)));
    await refusedWith(words, 'stream', () => everything(nobody.stream(message(scripted.ECHO))));
    await refusedWith(words, 'get', () => nobody.get(task.id));
    await refusedWith(words, 'cancel', () => nobody.cancel(task.id));
    await refusedWith(words, 'extended card', () => nobody.extendedCard());
  },

  'the extended card tells callers with the token of more skills than the public one': async (known) => {
    const ids = (await known.extendedCard()).skills.map((skill) => skill.id);
    isTrue(ids.includes(SKILL) && ids.length > 1, `the skills: ${ids}`);
  },
};

/** Every SDK has an error of its own for a refusal that is none of A2A's; some of the words are in it. */
export async function refusedWith(words, name, call) {
  let answered;
  try {
    answered = await call();
  } catch (refusal) {
    const told = `${refusal?.name} ${refusal?.message} ${refusal?.cause?.code} ${refusal?.status} ${refusal?.reason}`;
    isTrue(words.test(told), `${name}: refused with ${told}`);
    return;
  }
  isTrue(false, `${name} was answered: ${JSON.stringify(answered)}`);
}
