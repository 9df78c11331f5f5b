// What the agents of both versions do: the first word of a message says it. The program
// prints its URL and ends with its standard input.
import express from 'express';

export function serve(sdk) {
  const waiting = new Map(); // ends the work of a task, by id
  const executor = {
    async execute(request, bus) {
      const c = { taskId: request.taskId, contextId: request.contextId, message: request.userMessage };
      const said = sdk.words(request.userMessage);
      const publish = (event) => bus.publish(event);
      if (!request.task) {
        publish(sdk.task(c, 'submitted'));
        publish(sdk.status(c, 'working', 'Reading'));
      }
      if (request.task || said.startsWith('go')) {
        publish(sdk.artifact(c, 'Done: ' + said));
        publish(sdk.status(c, 'completed'));
      } else if (said.startsWith('ask')) {
        publish(sdk.status(c, 'input-required', 'Which color?'));
      } else if (said.startsWith('fail')) {
        publish(sdk.status(c, 'failed', 'No luck.'));
      } else if (said.startsWith('reject')) {
        publish(sdk.status(c, 'rejected', 'Not my job.'));
      } else {
        await new Promise((end) => waiting.set(c.taskId, end));
        publish(sdk.status(c, 'canceled'));
      }
      bus.finished();
    },
    async cancelTask(taskId) {
      waiting.get(taskId)?.();
    },
  };
  const app = express();
  const server = app.listen(0, '127.0.0.1', () => {
    const url = `http://127.0.0.1:${server.address().port}`;
    sdk.mount(app, sdk.handler(sdk.card(url), executor));
    console.log(url);
  });
  process.stdin.on('end', () => process.exit(0)).resume();
}
