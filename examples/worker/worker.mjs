// A worker in JavaScript or TypeScript: it counts the words of a text, slowly.
//
//   npm install @temporalio/worker @temporalio/activity && node worker.mjs
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';

// sendCallback sends progress of the task. The callback URL is in the work.
async function sendCallback(work, body, key) {
  if (!work.callbackUrl) return; // Longhaul has no public URL
  await fetch(work.callbackUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `${work.key}-${key}` },
    body: JSON.stringify(body),
  });
}

// countWords gets the work of a task and returns its outcome.
async function countWords(work) {
  const { text, pause = 1000 } = work.input ?? {};
  if (typeof text !== 'string') throw ApplicationFailure.nonRetryable('The input has no text.', 'bad-input');
  const words = text.split(/\s+/).filter(Boolean);
  const { heartbeatDetails } = Context.current().info;
  let done = heartbeatDetails ?? 0; // a worker before this one may have begun
  for (; done < words.length; done++) {
    Context.current().heartbeat(done);
    await sendCallback(work, { text: `Counted ${done} of ${words.length} words.` }, done);
    await Context.current().sleep(pause); // throws CancelledFailure when the task is canceled
  }
  return { state: 'completed', artifacts: [{ artifactId: 'count', parts: [{ data: { words: done } }] }] };
}

const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS ?? '127.0.0.1:7233' });
const worker = await Worker.create({
  connection,
  namespace: process.env.TEMPORAL_NAMESPACE ?? 'default',
  taskQueue: 'words',
  activities: { countWords },
});
await worker.run();
