// An agent on the server of the official JavaScript SDK: port and URL of a database are its arguments, and
// its stores are in that PostgreSQL, whose tables were made by a2a-db, or without it in memory. It understands
// the commands of the agent in Go beside it.
import { readFileSync } from 'node:fs';
import express from 'express';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { Role, TaskState } from '@a2a-js/sdk';
import { AgentEvent, DefaultPushNotificationSender, DefaultRequestHandler, InMemoryPushNotificationStore, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { DatabasePushNotificationStore, DatabaseTaskStore } from '@a2a-js/sdk/server/database';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';

const [port, database] = process.argv.slice(2);
const pause = (ms) => new Promise((end) => setTimeout(end, ms));
const kit = JSON.parse(readFileSync(new URL('kit.json', import.meta.url)));
const contentPart = ($case, value, filename = '', mediaType = '') => ({ content: { $case, value }, metadata: undefined, filename, mediaType });
const part = (text) => contentPart('text', text);
const shown = {
  file: contentPart('raw', Buffer.from('Generated file content\n'), 'output.txt', 'text/plain'),
  link: contentPart('url', 'https://example.com/output.txt', 'output.txt', 'text/plain'),
  data: contentPart('data', { key: 'value', count: 42 }),
};
const milliseconds = (text) => parseFloat(text) * (text.endsWith('ms') ? 1 : 1000);

const contexts = new Map(); // of tasks that have not ended, by id
const working = new Set(); // ids of tasks
const canceled = new Set();

const message = (c, says) => ({ ...c, messageId: crypto.randomUUID(), role: Role.ROLE_AGENT, parts: [part(says)], metadata: undefined, extensions: [], referenceTaskIds: [] });

const status = (c, state, says) => AgentEvent.statusUpdate({
  ...c, metadata: undefined, status: { state, timestamp: new Date().toISOString(), message: says && message(c, says) },
});

const piece = (c, id, part, append, lastChunk) => AgentEvent.artifactUpdate({
  ...c, append, lastChunk, metadata: undefined, artifact: { artifactId: id, name: '', description: '', parts: [part], metadata: undefined, extensions: [] },
});

// run runs one command and returns whether the next one may.
async function run(c, command, publish) {
  const [name, ...words] = command.trim().split(/\s+/);
  if (name === 'work') {
    await pause(milliseconds(words[0]));
  } else if (name === 'stream') {
    const id = crypto.randomUUID();
    for (let i = 0; i < +words[0] && !canceled.has(c.taskId); i++) {
      publish(piece(c, id, part('piece '), i > 0, i === words[0] - 1));
      await pause(milliseconds(words[1]));
    }
  } else if (name === 'report') {
    publish(status(c, TaskState.TASK_STATE_WORKING, words.join(' ')));
  } else if (name === 'say') {
    publish(piece(c, crypto.randomUUID(), part(words.join(' ')), false, true));
  } else if (name === 'show') {
    publish(piece(c, crypto.randomUUID(), shown[words[0]], false, true));
  } else if (name === 'reject') {
    publish(status(c, TaskState.TASK_STATE_REJECTED, words.join(' ')));
    return false;
  } else if (name === 'ask') {
    publish(status(c, TaskState.TASK_STATE_INPUT_REQUIRED, words.join(' ')));
    return false;
  }
  return !canceled.has(c.taskId);
}

const executor = {
  async execute(request, bus) {
    const c = { taskId: request.taskId, contextId: request.contextId };
    const said = request.userMessage.parts.map((p) => p.content?.value).join('');
    const publish = (event) => bus.publish(event);
    const commands = kit.find(([prefix]) => request.userMessage.messageId.startsWith(prefix))?.[1];
    if (commands?.startsWith('answer ')) {
      publish(AgentEvent.message(message({ ...c, taskId: '' }, commands.slice('answer '.length))));
      bus.finished();
      return;
    }
    contexts.set(c.taskId, c.contextId);
    working.add(c.taskId);
    publish(AgentEvent.task(request.task ?? {
      id: c.taskId, contextId: c.contextId, artifacts: [], history: [request.userMessage], metadata: undefined,
      status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() },
    }));
    let goesOn = true;
    if (request.task && !commands) {
      publish(piece(c, crypto.randomUUID(), part(said), false, true));
    } else {
      publish(status(c, TaskState.TASK_STATE_WORKING));
      for (const command of (commands ?? said).split(';')) {
        goesOn = goesOn && await run(c, command, publish);
      }
    }
    working.delete(c.taskId);
    if (canceled.has(c.taskId)) {
      publish(status(c, TaskState.TASK_STATE_CANCELED));
    } else if (goesOn) {
      publish(status(c, TaskState.TASK_STATE_COMPLETED));
    }
    bus.finished();
  },
  async cancelTask(taskId, bus) {
    canceled.add(taskId);
    if (!working.has(taskId)) { // it waits for an answer
      bus.publish(status({ taskId, contextId: contexts.get(taskId) }, TaskState.TASK_STATE_CANCELED));
      bus.finished();
    }
  },
};

const url = `http://127.0.0.1:${port}`;
const db = database && new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: database }) }) });
const pushes = db ? new DatabasePushNotificationStore(db) : new InMemoryPushNotificationStore();
const requestHandler = new DefaultRequestHandler({
  name: 'Official JavaScript server', description: '', version: '1.3.0', provider: undefined, documentationUrl: '', iconUrl: '',
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
  capabilities: { streaming: true, pushNotifications: true, extensions: [], extendedAgentCard: false },
  securitySchemes: {}, securityRequirements: [], defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'], skills: [], signatures: [],
}, db ? new DatabaseTaskStore(db) : new InMemoryTaskStore(), executor, undefined, pushes, new DefaultPushNotificationSender(pushes));
const app = express();
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
app.listen(port, '127.0.0.1');
