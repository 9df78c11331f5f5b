// A worker in TypeScript: it counts the words of a text, slowly.
//
//   npm install && npx tsx worker.ts
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { payloadCodec } from './codec.js';

// Work is what this worker reads of the work of a task; see docs/schemas/work.json.
interface Work {
  key: string;
  callbackUrl?: string;
  input?: { text?: string; pause?: number };
}

// sendCallback sends progress of the task. The callback URL is in the work.
async function sendCallback(work: Work, body: { text: string }, key: number): Promise<void> {
  if (!work.callbackUrl) return; // Longhaul has no public URL
  await fetch(work.callbackUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `${work.key}-${key}` },
    body: JSON.stringify(body),
  });
}

// countWords gets the work of a task and returns its outcome.
async function countWords(work: Work): Promise<object> {
  const { text, pause = 1000 } = work.input ?? {};
  if (typeof text !== 'string') throw ApplicationFailure.nonRetryable('The input has no text.', 'bad-input');
  const words = text.split(/\s+/).filter(Boolean);
  const context = Context.current();
  let done: number = context.info.heartbeatDetails ?? 0; // a worker before this one may have begun
  for (; done < words.length; done++) {
    context.heartbeat(done);
    await sendCallback(work, { text: `Counted ${done} of ${words.length} words.` }, done);
    await context.sleep(pause); // throws CancelledFailure when the task is canceled
  }
  return { state: 'completed', artifacts: [{ artifactId: 'count', parts: [{ data: { words: done } }] }] };
}

const keys = process.env.LONGHAUL_PAYLOAD_KEYS; // those of Longhaul, if it has any
const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS ?? '127.0.0.1:7233' });
const worker = await Worker.create({
  connection,
  namespace: process.env.TEMPORAL_NAMESPACE ?? 'default',
  taskQueue: 'words',
  activities: { countWords },
  dataConverter: keys ? { payloadCodecs: [payloadCodec(keys)] } : undefined,
});
await worker.run();
