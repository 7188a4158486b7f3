// One neutral reading of tasks, messages and stream events, from 0.3 objects and from 1.0 JSON.
//
// Two spellings of one task read equal here. What a dialect has no place for is left out on purpose: media
// type and file name of text and data parts, and `referenceTaskIds`.

import { isTrue } from './harness.mjs';

export function task(spelled) {
  return {
    id: spelled.id,
    context: spelled.contextId,
    status: status(spelled.status),
    artifacts: (spelled.artifacts ?? []).map(artifact),
    history: (spelled.history ?? []).map(message),
    metadata: nonEmpty(spelled.metadata),
  };
}

export function status(spelled) {
  return {
    state: state(spelled.state),
    message: spelled.message?.messageId ? message(spelled.message) : null,
    at: spelled.timestamp ? Date.parse(spelled.timestamp) : null,
  };
}

export function message(spelled) {
  return {
    id: spelled.messageId,
    role: spelled.role.replace('ROLE_', '').toLowerCase(),
    context: spelled.contextId || null,
    task: spelled.taskId || null,
    parts: (spelled.parts ?? []).map(part),
    extensions: spelled.extensions ?? [],
    metadata: nonEmpty(spelled.metadata),
  };
}

export function artifact(spelled) {
  return {
    id: spelled.artifactId,
    name: spelled.name || null,
    description: spelled.description || null,
    parts: (spelled.parts ?? []).map(part),
    extensions: spelled.extensions ?? [],
    metadata: nonEmpty(spelled.metadata),
  };
}

export function part(spelled) {
  const { data_part_compat: wrapped, ...metadata } = spelled.metadata ?? {};
  const read = content(spelled);
  if (wrapped) read.data = read.data.value;
  return { ...read, metadata: nonEmpty(metadata) };
}

/** A stream item, from the wrapped spelling (`task`, `statusUpdate`, …) or the one with `kind`. */
export function event(spelled) {
  const kinds = {
    'task': 'task', 'message': 'message', 'status-update': 'statusUpdate', 'artifact-update': 'artifactUpdate',
  };
  const [[kind, inner]] = spelled.kind ? [[kinds[spelled.kind], spelled]] : Object.entries(spelled);
  const place = { taskId: inner.taskId, context: inner.contextId };
  switch (kind) {
    case 'task':
      return { kind, task: task(inner) };
    case 'message':
      return { kind, message: message(inner) };
    case 'statusUpdate':
      return { kind: 'status', ...place, status: status(inner.status) };
    case 'artifactUpdate': {
      const flags = { append: Boolean(inner.append), last: Boolean(inner.lastChunk) };
      return { kind: 'artifact', ...place, artifact: artifact(inner.artifact), ...flags };
    }
    default:
      throw new Error(`a stream item of unknown kind ${kind}`);
  }
}

/** The task that a stream tells, by the rules for `append`. Neither SDK folds for its user. */
export function fold(events) {
  const folded = structuredClone(events[0].task);
  for (const one of events.slice(1)) {
    isTrue(one.kind === 'status' || one.kind === 'artifact', `a ${one.kind} in the middle of a stream`);
    if (one.kind === 'status') {
      folded.status = one.status;
      continue;
    }
    const place = folded.artifacts.findIndex((known) => known.id === one.artifact.id);
    const piece = structuredClone(one.artifact);
    if (place < 0) folded.artifacts.push(piece);
    else if (one.append) folded.artifacts[place].parts.push(...piece.parts);
    else folded.artifacts[place] = piece;
  }
  return folded;
}

/**
 * What a stream tells of a task: everything but the history, of which it shows only the start. A stream tells a text in
 * pieces and a task shows it as one part, so adjacent texts are joined here.
 */
export function shown({ history: _history, metadata: _metadata, ...rest }) {
  return { ...rest, artifacts: rest.artifacts.map((one) => ({ ...one, parts: joined(one.parts) })) };
}

function joined(parts) {
  const isPlain = (part) => part?.text !== undefined && !part.metadata;
  const whole = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (isPlain(part) && isPlain(last)) {
      whole[whole.length - 1] = { ...last, text: last.text + part.text };
    } else {
      whole.push(part);
    }
  }
  return whole;
}

export function text(parts) {
  return parts.map((one) => one.text ?? '').join('');
}

export function state(spelled) {
  return spelled.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');
}

function content(spelled) {
  if (spelled.text !== undefined) return { text: spelled.text };
  if (spelled.file) {
    const about = { name: spelled.file.name || null, type: spelled.file.mimeType || null };
    return spelled.file.uri ? { url: spelled.file.uri, ...about } : { raw: spelled.file.bytes, ...about };
  }
  const about = { name: spelled.filename || null, type: spelled.mediaType || null };
  if (spelled.url !== undefined) return { url: spelled.url, ...about };
  if (spelled.raw !== undefined) return { raw: spelled.raw, ...about };
  return { data: spelled.data };
}

function nonEmpty(metadata) {
  return metadata && Object.keys(metadata).length > 0 ? metadata : null;
}
