// Follows a task with an A2A SDK and prints its states and the pieces of its answers, one JSON text per line:
// `node sdk.mjs URL TASK`.
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(path.join(process.env.PACKAGES, "package.json"));
const { A2AClient } = await import(pathToFileURL(require.resolve("@a2a-js/sdk/client")));

const [url, id] = process.argv.slice(2);
const client = await A2AClient.fromCardUrl(`${url}/.well-known/agent-card.json`);
for await (const event of client.resubscribeTask({ id })) {
  if (event.kind === "artifact-update") {
    const text = event.artifact.parts.map((part) => part.text ?? "").join("");
    if (text !== "") console.log(JSON.stringify({ text }));
  } else {
    console.log(JSON.stringify({ state: event.status.state }));
  }
}
