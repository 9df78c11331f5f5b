// Runs work through CopilotKit: its client, as pages have it, calls its runtime, whose agent is the server.
import assert from "node:assert/strict";
import { createServer } from "node:http";

process.env.COPILOTKIT_TELEMETRY_DISABLED = process.env.DO_NOT_TRACK = "true";
globalThis.window = {}; // the client connects in browsers alone
const { CopilotRuntime, ExperimentalEmptyAdapter, copilotRuntimeNodeHttpEndpoint } = await import("@copilotkit/runtime");
const { CopilotKitCore } = await import("@copilotkit/core");
const { HttpAgent } = await import("@ag-ui/client");

const runtime = new CopilotRuntime({ agents: { longhaul: new HttpAgent({ url: process.argv[2] }) } });
const endpoint = "/api/copilotkit";
const server = createServer(copilotRuntimeNodeHttpEndpoint({ endpoint, runtime, serviceAdapter: new ExperimentalEmptyAdapter() }));
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const core = new CopilotKitCore({ runtimeUrl: `http://127.0.0.1:${server.address().port}${endpoint}`, runtimeTransport: "single" });
await new Promise((connected, failed) => {
  core.subscribe({
    onRuntimeConnectionStatusChanged: ({ status }) => status === "connected" && connected(),
    onError: ({ error }) => failed(error),
  });
});

const agent = core.getAgent("longhaul");
const types = new Set();
agent.subscribe({ onEvent: ({ event }) => void types.add(event.type) });
agent.addMessage({ id: "u-1", role: "user", content: "Please" });
function pending(reason) {
  const [interrupt] = agent.pendingInterrupts;
  assert.equal(interrupt?.reason, reason);
  return interrupt.id;
}
const run = (interruptId, payload) => core.runAgent({ agent, resume: [{ interruptId, status: "resolved", payload }] });

await core.runAgent({ agent });
await run(pending("confirmation"), { approved: true });
await run(pending("input_required"), { n: 3 });
assert.deepEqual(agent.pendingInterrupts, []);
assert.equal(agent.state.objective.status, "completed");
assert.equal(agent.messages.at(-1).content, "All done");
assert.ok(types.has("STEP_FINISHED") && types.has("TEXT_MESSAGE_CONTENT") && !types.has("RUN_ERROR"), [...types].join(" "));
console.log("done");
process.exit(0);
