// An agent on the official JavaScript SDK for A2A 0.3.
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { serve } from './agent.mjs';

const text = (s) => ({ kind: 'text', text: s });

serve({
  card: (url) => ({
    name: 'JS', description: 'An agent of the tests', version: '1', protocolVersion: '0.3.0', url: url + '/rpc', preferredTransport: 'JSONRPC',
    capabilities: { streaming: true, pushNotifications: false }, defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'], skills: [],
  }),
  handler: (card, executor) => new DefaultRequestHandler(card, new InMemoryTaskStore(), executor),
  mount: (app, requestHandler) => {
    app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
    app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  },
  words: (m) => m.parts.map((p) => p.text).join(' '),
  task: (c, state) => ({ kind: 'task', id: c.taskId, contextId: c.contextId, status: { state, timestamp: new Date().toISOString() }, history: [c.message] }),
  status: (c, state, says) => ({
    kind: 'status-update', taskId: c.taskId, contextId: c.contextId, final: !['submitted', 'working'].includes(state),
    status: { state, timestamp: new Date().toISOString(), message: says && { kind: 'message', messageId: crypto.randomUUID(), taskId: c.taskId, contextId: c.contextId, role: 'agent', parts: [text(says)] } },
  }),
  artifact: (c, says) => ({ kind: 'artifact-update', taskId: c.taskId, contextId: c.contextId, append: false, lastChunk: true, artifact: { artifactId: 'result', name: 'Result', parts: [text(says)] } }),
});
