// Checks that a task is the same one on every binding: read where it was not made, and joined where it does not run.

import { equal } from './harness.mjs';
import { BINDINGS, joinsWithoutGap, message, pair } from './peer.mjs';
import * as scripted from './scripted.mjs';

/** Adds the checks for every binding and every other one. Told under the binding that comes second. */
export function addTo(checks, version, bindings, connect) {
  for (const one of bindings) {
    for (const other of bindings.filter((binding) => binding !== one)) {
      const begun = BINDINGS[one];
      const name = pair(version, other);
      checks.add(`a task made over ${begun} reads equal`, () => readsEqual(connect, one, other), name);
      checks.add(`a stream begun over ${begun} is joined without a gap`, () => joins(connect, one, other), name);
    }
  }
}

/** Adds the checks that one version joins what the other began, over the next binding. */
export function addAcrossVersions(checks, connect) {
  const bindings = Object.keys(BINDINGS);
  for (const [index, one] of bindings.entries()) {
    const other = bindings[(index + 1) % bindings.length];
    for (const [begun, joined] of [['1.0', '0.3'], ['0.3', '1.0']]) {
      const what = `a stream of ${begun} begun over ${BINDINGS[one]} is joined without a gap`;
      const check = async () =>
        joinsWithoutGap(await connect(one, begun), await connect(other, joined), scripted.STREAM);
      checks.add(what, check, pair(joined, other));
    }
  }
}

async function readsEqual(connect, one, other) {
  const [maker, reader] = [await connect(one), await connect(other)];
  // What either SDK binding loses is not compared.
  const kept = (parts) => maker.keeps(reader.keeps(parts));
  const thin = (task) => ({
    ...task,
    status: { ...task.status, at: null },
    artifacts: task.artifacts.map((artifact) => ({ ...artifact, parts: kept(artifact.parts) })),
    history: task.history.map((said) => ({ ...said, parts: kept(said.parts) })),
  });
  for (const trigger of scripted.KINDS_OF_TASKS) {
    const { task } = await maker.send(message(trigger));
    equal(thin(await reader.get(task.id)), thin(task), trigger);
  }
}

async function joins(connect, one, other) {
  await joinsWithoutGap(await connect(one), await connect(other), scripted.STREAM);
}
