// Drives a task with an approval, with types that were generated from /openapi.json.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Event = components["schemas"]["RestEvent"];

declare const process: { argv: string[] };
const baseUrl = process.argv[2]!;
const client = createClient<paths>({ baseUrl });

function unwrap<T>(result: { data?: T; error?: unknown }): T {
  if (result.data === undefined) throw new Error(JSON.stringify(result.error));
  return result.data;
}

// One event at a time of a stream of server-sent events.
async function* events(stream: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const data = text.slice(0, end).split("\n").find((line) => line.startsWith("data: "));
      text = text.slice(end + 2);
      if (data) yield JSON.parse(data.slice("data: ".length)) as Event;
    }
  }
}

const created = unwrap(await client.POST("/tasks", { body: { contextId: "typescript" } }));
const path = { taskId: created.taskId };

const execution = await client.POST("/tasks/{taskId}/execute", {
  params: { path },
  body: { message: "Make it" },
  parseAs: "stream",
});
const stream = unwrap(execution) as unknown as ReadableStream<Uint8Array>;
let state = "";
for await (const event of events(stream)) {
  if (event.type === "text_content") console.log(`text ${event.text}`);
  if (event.type === "state_change") state = event.state;
  if (event.type === "tool_call_update") {
    console.log(`${event.toolName} ${event.status}`);
    const option = event.options?.[0];
    if (!option) continue;
    const seen = unwrap(await client.GET("/tasks/{taskId}", { params: { path } }));
    console.log(`asked ${option.id} ${seen.state}`);
    const answer = { toolCallId: event.toolCallId, optionId: option.id };
    const taken = unwrap(await client.POST("/tasks/{taskId}/confirmations", { params: { path }, body: answer }));
    console.log(`answered ${taken.optionId}`);
  }
}
console.log(`state ${state}`);

const listed = unwrap(await client.GET("/tasks", { params: { query: { contextId: "typescript" } } }));
console.log(`listed ${listed.tasks.map((task) => `${task.id === created.taskId} ${task.state}`).join()}`);
const unknown = await client.GET("/tasks/{taskId}", { params: { path: { taskId: "none" } } });
console.log(`unknown ${unknown.error?.error.code}`);
