// An agent on the official JavaScript SDK for A2A 1.0.
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { TaskState } from '@a2a-js/sdk';
import { serve } from './agent.mjs';

const text = (s) => ({ content: { $case: 'text', value: s }, metadata: undefined, filename: '', mediaType: '' });

serve({
  card: (url) => ({
    name: 'JS', description: 'An agent of the tests', version: '1', provider: undefined, documentationUrl: '', iconUrl: '',
    supportedInterfaces: [{ url: url + (process.argv[2] === 'rest' ? '/rest' : '/rpc'), protocolBinding: process.argv[2] === 'rest' ? 'HTTP+JSON' : 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {}, securityRequirements: [], defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'], skills: [], signatures: [],
  }),
  handler: (card, executor) => new DefaultRequestHandler(card, new InMemoryTaskStore(), executor),
  mount: (app, requestHandler) => {
    app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
    app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
    app.use('/rest', restHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  },
  words: (m) => m.parts.map((p) => p.content?.value).join(' '),
  task: (c, state) => AgentEvent.task({ ...c, id: c.taskId, status: { state: states[state], message: undefined, timestamp: new Date().toISOString() }, artifacts: [], history: [c.message], metadata: undefined }),
  status: (c, state, says) => AgentEvent.statusUpdate({
    taskId: c.taskId, contextId: c.contextId, metadata: undefined,
    status: {
      state: states[state], timestamp: new Date().toISOString(),
      message: says && { messageId: crypto.randomUUID(), contextId: c.contextId, taskId: c.taskId, role: 2, parts: [text(says)], metadata: undefined, extensions: [], referenceTaskIds: [] },
    },
  }),
  artifact: (c, says) => AgentEvent.artifactUpdate({
    taskId: c.taskId, contextId: c.contextId, append: false, lastChunk: true, metadata: undefined,
    artifact: { artifactId: 'result', name: 'Result', description: '', parts: [text(says)], metadata: undefined, extensions: [] },
  }),
});

const states = {
  submitted: TaskState.TASK_STATE_SUBMITTED, working: TaskState.TASK_STATE_WORKING, completed: TaskState.TASK_STATE_COMPLETED, failed: TaskState.TASK_STATE_FAILED,
  rejected: TaskState.TASK_STATE_REJECTED, canceled: TaskState.TASK_STATE_CANCELED, 'input-required': TaskState.TASK_STATE_INPUT_REQUIRED,
};
