// Runs work through the official client of AG-UI, which verifies every event. The test kills and
// restarts the server when this program prints "kill", and answers with a line.
import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { AbstractAgent, HttpAgent, buildResumeArray } from "@ag-ui/client";
import { from } from "rxjs";

const [url, scenario] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const warnings = [];
console.warn = (...args) => warnings.push(args.join(" "));
console.error = () => {}; // of a run whose server was killed
process.on("uncaughtException", (err) => { // the client also leaves the end of that connection unhandled
  if (err.cause?.code === "UND_ERR_SOCKET") return;
  process.stderr.write(`${err.stack}\n`);
  process.exit(1);
});

async function killServer() {
  console.log("kill");
  await lines.next();
}

function watched(agent) {
  const events = [];
  agent.subscribe({ onEvent: ({ event }) => void events.push(event) });
  agent.seen = events;
  return agent;
}

function types(agent) {
  return agent.seen.map((e) => e.type);
}

const user = (id, content) => ({ id, role: "user", content });
const tasks = (state) => state.objective.plans.flatMap((p) => p.tasks.map((t) => `${t.name} ${t.status}`));
const sorted = (agent) => agent.messages.toSorted((a, b) => (a.id < b.id ? -1 : 1)); // artifacts have no place among the messages
const said = (agent) => agent.messages.map((m) => `${m.role}: ${m.content}`);
const last = (agent) => agent.seen.at(-1);
const resume = (agent, payload) => buildResumeArray(agent.pendingInterrupts, { [agent.pendingInterrupts[0].id]: payload });

// A run shows work and ends with an interrupt, although the server is killed in the middle.
async function killed(agent) {
  let dead;
  const kills = agent.subscribe({
    onStepStartedEvent: ({ event }) => {
      if (event.stepName === "Slow") dead ??= killServer();
    },
  });
  await assert.rejects(agent.runAgent({ runId: "run-1" }));
  assert.ok(dead, "the server was killed while the step Slow was active");
  await dead;
  kills.unsubscribe();
  agent.seen.length = 0;
  await agent.runAgent({ runId: "run-1" });
  const [first] = agent.pendingInterrupts;
  assert.equal(last(agent).outcome.type, "interrupt");
  assert.equal(first.reason, "confirmation");
  assert.match(first.message, /Go on\?/);
  assert.ok(Date.parse(first.expiresAt) > Date.now());
  assert.deepEqual(types(agent).slice(-3), ["MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "RUN_FINISHED"]);
  assert.deepEqual(tasks(agent.state).slice(0, 3), ["Draft completed", "Slow completed", "Approve input-required"]);
}

async function answered(agent) {
  // A thread with open interrupts takes no other message.
  const other = watched(new HttpAgent({ url, threadId: agent.threadId, initialMessages: [user("u-2", "Something else")] }));
  await other.runAgent({ runId: "run-other" });
  assert.deepEqual([last(other).type, last(other).code], ["RUN_ERROR", "INTERRUPTS_PENDING"]);

  const approval = resume(agent, { status: "resolved", payload: { approved: true, feedback: "fine" } });
  await agent.runAgent({ runId: "run-2", resume: approval });
  const [question] = agent.pendingInterrupts;
  assert.equal(question.reason, "input_required");
  assert.equal(question.responseSchema.properties.n.type, "integer");

  await agent.runAgent({ runId: "run-3", resume: resume(agent, { status: "resolved", payload: { n: 0 } }) });
  assert.equal(last(agent).type, "RUN_ERROR");

  agent.seen.length = 0;
  await agent.runAgent({ runId: "run-4", resume: resume(agent, { status: "resolved", payload: { n: 3 } }) });
  assert.equal(last(agent).outcome.type, "success");
  assert.ok(types(agent).includes("STATE_DELTA"), "the state came as a patch");
  assert.ok(types(agent).includes("TEXT_MESSAGE_CONTENT"));
  assert.equal(agent.state.objective.status, "completed");
  assert.ok(said(agent).includes("assistant: All done"), said(agent).join("\n"));
  // The same answer to the same interrupt again is the same answer.
  const repeat = watched(new HttpAgent({ url, threadId: agent.threadId }));
  await repeat.runAgent({ runId: "run-2", resume: approval });
  assert.equal(last(repeat).outcome?.type, "success", JSON.stringify(last(repeat)));
}

// A page that was closed for all of it gets all of it.
async function reopened(agent) {
  for (const runId of ["run-1", undefined]) {
    const tab = watched(new HttpAgent({ url, threadId: agent.threadId }));
    await tab.runAgent({ runId });
    assert.deepEqual(sorted(tab), sorted(agent));
    assert.deepEqual(tab.state, agent.state);
    assert.equal(last(tab).outcome.type, "success");
  }
  const again = watched(new HttpAgent({ url, threadId: agent.threadId, initialMessages: [user("u-1", "Please")] }));
  await again.runAgent({ runId: "run-1" });
  assert.deepEqual(sorted(again), sorted(agent));
}

// A client that loses its connection after every few events, and continues with the last id, has
// the same as one that has not.
async function cut() {
  const body = { threadId: "thread-cut", runId: "run-cut", messages: [user("u-1", "Please")], tools: [], context: [] };
  const events = [];
  let after = "";
  const over = () => ["RUN_FINISHED", "RUN_ERROR"].includes(events.at(-1)?.type);
  for (let n = 0; !over(); n++) {
    const abort = new AbortController();
    const headers = { "Content-Type": "application/json", ...(after && { "Last-Event-ID": after }) };
    const get = n % 2 === 1; // both verbs continue a run
    const res = await fetch(get ? `${url}?threadId=${body.threadId}&runId=${body.runId}` : url, {
      headers, signal: abort.signal, ...(!get && { method: "POST", body: JSON.stringify(body) }),
    });
    assert.equal(res.status, 200);
    let text = "", took = 0;
    try {
      for await (const chunk of res.body.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        for (let end; (end = text.indexOf("\n\n")) >= 0 && took <= n % 6; text = text.slice(end + 2)) {
          const frame = text.slice(0, end).split("\n");
          const data = frame.find((l) => l.startsWith("data: "));
          if (!data) continue;
          events.push(JSON.parse(data.slice(6)));
          after = frame.find((l) => l.startsWith("id: ")).slice(4);
          took++;
        }
        if (took > n % 6) break;
      }
    } finally {
      abort.abort();
    }
  }
  const replay = new (class extends AbstractAgent {
    run() {
      return from(events);
    }
  })({ threadId: body.threadId, initialMessages: body.messages });
  await replay.runAgent({ runId: body.runId });
  const whole = new HttpAgent({ url, threadId: body.threadId });
  await whole.runAgent({ runId: body.runId });
  assert.deepEqual(sorted(replay), sorted(whole));
  assert.deepEqual(replay.state, whole.state);
  assert.deepEqual(replay.pendingInterrupts, whole.pendingInterrupts);
  assert.equal(events.filter((e) => e.type === "RUN_STARTED").length, 1);
}

if (scenario === "cut") {
  await cut();
} else {
  const agent = watched(new HttpAgent({ url, threadId: "thread-1", initialMessages: [user("u-1", "Please")] }));
  await killed(agent);
  await answered(agent);
  await reopened(agent);
}
assert.deepEqual(warnings, []);
console.log("done");
process.exit(0);
