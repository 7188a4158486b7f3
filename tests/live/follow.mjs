// Prints every message of a WebSocket as one line: `node follow.mjs URL`. Ends when the connection does.
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(path.join(process.env.PACKAGES, "package.json"));
const { WebSocket } = require("ws");

const socket = new WebSocket(process.argv[2]);
socket.on("message", (data) => console.log(data.toString()));
socket.on("error", () => process.exit(0));
socket.on("close", () => process.exit(0));
