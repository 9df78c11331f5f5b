// A worker whose activity fails at its first attempt, for the tests of retries.
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
  },
});
await worker.run();
