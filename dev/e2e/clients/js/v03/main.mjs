// A client of @a2a-js/sdk 0.3.x, for A2A 0.3. The argument is the binding.
import { randomUUID } from 'node:crypto';
import * as sdk from '@a2a-js/sdk/client';
import { InMemoryTaskStore, ResultManager, ServerCallContext } from '@a2a-js/sdk/server';
import { connector, drive } from './driver.mjs';

const { connect, noted, on } = connector(sdk, process.argv[2]);

const text = (parts) => (parts ?? []).map((p) => (p.kind === 'text' ? p.text : '')).join('');
const data = (parts) => (parts ?? []).find((p) => p.kind === 'data')?.data;

const artifact = (a) => ({ id: a.artifactId, name: a.name, text: text(a.parts) });
const status = (s) => ({ state: s.state, text: text(s.message?.parts), data: data(s.message?.parts) });
const task = (t) => ({
  id: t.id,
  contextId: t.contextId,
  status: status(t.status),
  artifacts: (t.artifacts ?? []).map(artifact),
  history: (t.history ?? []).map((m) => ({ role: m.role, text: text(m.parts) })),
  metadata: t.metadata,
});

const config = ({ id, url, token, scheme, credentials }) => ({
  id, url, token, authentication: scheme ? { schemes: [scheme], credentials } : undefined,
});
const hook = ({ taskId, pushNotificationConfig: c }) => ({
  taskId, id: c.id, url: c.url, token: c.token,
  scheme: c.authentication?.schemes[0], credentials: c.authentication?.credentials,
});

const params = ({ text, data, taskId, contextId, leave, history, push }) => {
  const parts = [];
  if (text) parts.push({ kind: 'text', text });
  if (data) parts.push({ kind: 'data', data });
  const message = { kind: 'message', messageId: randomUUID(), role: 'user', parts, taskId, contextId };
  if (!leave && history === undefined) return { message };
  return { message, configuration: { blocking: !leave, historyLength: history, pushNotificationConfig: push && config(push) } };
};

// The library's own idea of what the events of a stream add up to.
async function* events(stream) {
  const manager = new ResultManager(new InMemoryTaskStore(), new ServerCallContext());
  for await (const v of stream) {
    await manager.processEvent(structuredClone(v));
    const e = { whole: task(manager.getCurrentTask()) };
    switch (v.kind) {
      case 'task': e.task = task(v); break;
      case 'status-update': e.status = { taskId: v.taskId, now: status(v.status), final: v.final }; break;
      case 'artifact-update': e.piece = { taskId: v.taskId, of: artifact(v.artifact), append: v.append, last: v.lastChunk }; break;
    }
    yield e;
  }
}

drive({
  connect,
  noted,
  send: on(async (c, a, o) => task(await c.sendMessage(params(a.message), o))),
  stream: on((c, a, o) => events(c.sendMessageStream(params(a.message), o))),
  get: on(async (c, a, o) => task(await c.getTask({ id: a.id, historyLength: a.history }, o))),
  cancel: on(async (c, a, o) => task(await c.cancelTask({ id: a.id }, o))),
  subscribe: on((c, a, o) => events(c.resubscribeTask({ id: a.id }, o))),
  putHook: on(async (c, a, o) => hook(await c.setTaskPushNotificationConfig({ taskId: a.hook.taskId, pushNotificationConfig: config(a.hook) }, o))),
  hook: on(async (c, a, o) => hook(await c.getTaskPushNotificationConfig({ id: a.hook.taskId, pushNotificationConfigId: a.hook.id }, o))),
  hooks: on(async (c, a, o) => (await c.listTaskPushNotificationConfig({ id: a.hook.taskId }, o)).map(hook)),
  removeHook: on(async (c, a, o) =>
    (await c.deleteTaskPushNotificationConfig({ id: a.hook.taskId, pushNotificationConfigId: a.hook.id }, o)) ?? null),
}, sdk);
