// Prints every server-sent event of a stream as one line: `node events.mjs URL`. Comes back by itself when it is cut off.
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(path.join(process.env.PACKAGES, "package.json"));
const { EventSource } = await import(pathToFileURL(require.resolve("eventsource")));

const source = new EventSource(process.argv[2]);
source.onmessage = (event) => console.log(event.data);
