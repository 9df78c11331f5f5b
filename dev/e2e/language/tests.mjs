// A worker for the tests of retries and heartbeats.
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS }),
  taskQueue: 'flaky',
  activities: {
    async flaky(work) {
      const { attempt } = Context.current().info;
      if (attempt === 1) throw ApplicationFailure.retryable('Busy.', 'busy');
      if (work.input === 'broken') throw ApplicationFailure.retryable('It is broken.', 'broken');
      return `Attempt ${attempt}.`;
    },
    async beats() {
      for (let i = 0; ; i++) {
        Context.current().heartbeat({ text: `Beat ${i}.`, artifact: { artifactId: 'log', parts: [{ text: `beat ${i}` }] } });
        await Context.current().sleep(1000);
      }
    },
  },
});
await worker.run();
