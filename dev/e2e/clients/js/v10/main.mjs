// A client of @a2a-js/sdk 1.x, for A2A 1.0. The argument is the binding.
import { randomUUID } from 'node:crypto';
import { Role, roleToJSON, taskStateFromJSON, taskStateToJSON, verifyAgentCardSignature } from '@a2a-js/sdk';
import * as sdk from '@a2a-js/sdk/client';
import * as errors from '@a2a-js/sdk/errors';
import { AgentEvent, InMemoryTaskStore, ResultManager, ServerCallContext } from '@a2a-js/sdk/server';
import { connector, drive } from './driver.mjs';

const { connect, noted, on } = connector(sdk, process.argv[2]);

const short = (name, prefix) => name.replace(prefix, '').toLowerCase().replaceAll('_', '-');
const text = (parts) => (parts ?? []).map((p) => (p.content?.$case === 'text' ? p.content.value : '')).join('');
const data = (parts) => (parts ?? []).find((p) => p.content?.$case === 'data')?.content.value;

const artifact = (a) => ({ id: a.artifactId, name: a.name, text: text(a.parts) });
const status = (s) => ({
  state: short(taskStateToJSON(s.state), 'TASK_STATE_'),
  text: text(s.message?.parts),
  data: data(s.message?.parts),
});
const task = (t) => ({
  id: t.id,
  contextId: t.contextId,
  status: status(t.status),
  artifacts: t.artifacts.map(artifact),
  history: t.history.map((m) => ({ role: short(roleToJSON(m.role), 'ROLE_'), text: text(m.parts) })),
  metadata: t.metadata,
});

const config = ({ taskId, id, url, token, scheme, credentials }) => ({
  tenant: '', taskId: taskId ?? '', id: id ?? '', url, token: token ?? '',
  authentication: scheme ? { scheme, credentials } : undefined,
});
const hook = (c) => ({
  taskId: c.taskId, id: c.id, url: c.url, token: c.token,
  scheme: c.authentication?.scheme, credentials: c.authentication?.credentials,
});

const request = ({ text, data, taskId, contextId, leave, history, push }) => {
  const parts = [];
  if (text) parts.push({ content: { $case: 'text', value: text } });
  if (data) parts.push({ content: { $case: 'data', value: data } });
  const message = { messageId: randomUUID(), role: Role.ROLE_USER, parts, taskId: taskId ?? '', contextId: contextId ?? '' };
  if (!leave && history === undefined) return { message };
  const taskPushNotificationConfig = push && config(push);
  return { message, configuration: { returnImmediately: leave, historyLength: history, taskPushNotificationConfig } };
};

// The library's own idea of what the events of a stream add up to.
async function* events(stream) {
  const manager = new ResultManager(new InMemoryTaskStore(), new ServerCallContext());
  for await (const { payload } of stream) {
    await manager.processEvent(AgentEvent[payload.$case](structuredClone(payload.value)));
    const e = { whole: task(manager.getCurrentTask()) };
    const v = payload.value;
    switch (payload.$case) {
      case 'task': e.task = task(v); break;
      case 'statusUpdate': e.status = { taskId: v.taskId, now: status(v.status) }; break;
      case 'artifactUpdate': e.piece = { taskId: v.taskId, of: artifact(v.artifact), append: v.append, last: v.lastChunk }; break;
    }
    yield e;
  }
}

drive({
  connect,
  noted,
  verify: async ({ keys, card }) => (await verifyAgentCardSignature(async (kid) => keys.keys.find((k) => k.kid === kid))(card)) ?? null,
  send: on(async (c, a, o) => task(await c.sendMessage(request(a.message), o))),
  stream: on((c, a, o) => events(c.sendMessageStream(request(a.message), o))),
  get: on(async (c, a, o) => task(await c.getTask({ id: a.id, historyLength: a.history }, o))),
  cancel: on(async (c, a, o) => task(await c.cancelTask({ id: a.id }, o))),
  subscribe: on((c, a, o) => events(c.resubscribeTask({ id: a.id }, o))),
  putHook: on(async (c, a, o) => hook(await c.createTaskPushNotificationConfig(config(a.hook), o))),
  hook: on(async (c, a, o) => hook(await c.getTaskPushNotificationConfig({ tenant: '', taskId: a.hook.taskId, id: a.hook.id }, o))),
  hooks: on(async (c, a, o) => {
    const page = await c.listTaskPushNotificationConfig({ tenant: '', taskId: a.hook.taskId, pageSize: 0, pageToken: '' }, o);
    return page.configs.map(hook);
  }),
  removeHook: on(async (c, a, o) => (await c.deleteTaskPushNotificationConfig({ tenant: '', taskId: a.hook.taskId, id: a.hook.id }, o)) ?? null),
  list: on(async (c, a, o) => {
    const q = a.query;
    const page = await c.listTasks({
      contextId: q.contextId ?? '',
      status: taskStateFromJSON('TASK_STATE_' + (q.state ?? 'unspecified').toUpperCase().replaceAll('-', '_')),
      pageSize: q.pageSize,
      pageToken: q.pageToken ?? '',
      includeArtifacts: q.artifacts,
    }, o);
    return { tasks: page.tasks.map(task), next: page.nextPageToken, size: page.pageSize, total: page.totalSize };
  }),
}, errors);
