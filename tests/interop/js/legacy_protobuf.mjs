// What both JavaScript SDKs lose in the protobuf of 0.3 and in its JSON, so that the rest can still be checked: names of
// files and metadata of parts, in both directions, and `append` of artifact events.

/** What is left of parts, as `meaning.mjs` reads them. */
export function keptParts(parts) {
  return parts.map((part) => ({
    ...part,
    ...('name' in part ? { name: null } : {}),
    ...('metadata' in part ? { metadata: null } : {}),
  }));
}

/** Events with `append` put back the only way a user of the SDK could: a known artifact goes on. */
export async function* withAppend(events) {
  const known = new Set();
  for await (const event of events) {
    for (const artifact of event.task?.artifacts ?? []) known.add(artifact.id);
    yield event.kind === 'artifact' ? { ...event, append: known.has(event.artifact.id) } : event;
    if (event.kind === 'artifact') known.add(event.artifact.id);
  }
}
