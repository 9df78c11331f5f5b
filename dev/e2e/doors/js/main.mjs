// A host of models, made of the official client and its extension for tasks: it lists the tools, calls
// one, has a person answer, and prints what came of it, over HTTP or over the standard streams of a program.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createApplicationInputHandler, createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";

const { url, token, program, tool, tasks } = JSON.parse(process.argv[2]);
const asked = [];
const answer = async (request) => {
  asked.push(request.params.mode + " " + request.params.message);
  return { action: "accept", content: { action: "accept", feedback: "Fine" } };
};
const info = { name: "host", version: "1" };
const capabilities = { elicitation: { form: {} }, extensions: tasks ? { "io.modelcontextprotocol/tasks": {} } : {} };
const client = new Client(info, { capabilities, versionNegotiation: { mode: "auto" } });

// The client refuses results of the extension, so a host sends what may have them itself.
async function rawDispatch(request, options) {
  const { method, params } = request;
  const res = await fetch(url + "/mcp", {
    method: "POST", signal: options?.signal, body: JSON.stringify({ jsonrpc: "2.0", id: `host-${++sent}`, ...request }),
    headers: {
      Authorization: "Bearer " + token, "Content-Type": "application/json", Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": version, "Mcp-Method": method, ...((params.name ?? params.taskId) && { "Mcp-Name": params.name ?? params.taskId }),
    },
  });
  const text = await res.text();
  const { result, error } = JSON.parse(text.startsWith("{") ? text : [...text.matchAll(/^data: (.+)$/gm)].at(-1)[1]);
  return error ? { kind: "error", error } : { kind: "result", result };
}
const version = "2026-07-28";
let sent = 0;
client.setRequestHandler("elicitation/create", answer);
await client.connect(
  program
    ? new StdioClientTransport({ command: program, args: ["mcp", "--url", url], env: { LONGHAUL_TOKEN: token } })
    : new StreamableHTTPClientTransport(new URL(url + "/mcp"), { requestInit: { headers: { Authorization: "Bearer " + token } } }),
);
const names = (await client.listTools()).tools.map((t) => t.name);
let result;
if (tasks) {
  const session = createTaskSessionFromClient(client, { endpointId: url, rawDispatch, v2RequestFraming: { protocolVersion: version, clientInfo: info, clientCapabilities: capabilities }, onInputRequest: createApplicationInputHandler({ elicitation: answer }) });
  const execution = await session.callTool(tool, { message: "Write" });
  const { outcome } = await execution.settle();
  result = resultFromTaskOutcome(outcome);
  await session.close();
} else {
  result = await client.callTool({ name: tool, arguments: { message: "Write" } });
}
await client.close();
console.log(JSON.stringify({ names, asked, isError: result.isError ?? false, text: result.content.map((c) => c.text).join("\n") }));
