// What Restate runs for the benchmark: objectives of the shape that is measured, and steps that are
// announced at a URL, for a handler that is killed. The argument is the port.
import * as restate from "@restatedev/restate-sdk";

// The SDK needs it, and Node.js 20 has none.
Promise.withResolvers ??= () => {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};

const plan = restate.service({
  name: "plan",
  handlers: {
    run: async (ctx) => {
      for (const step of ["One", "Two", "Three"]) await ctx.run(step, async () => {});
    },
  },
});

const objective = restate.service({
  name: "objective",
  handlers: { run: (ctx) => ctx.serviceClient(plan).run() },
});

const steps = restate.service({
  name: "steps",
  handlers: {
    run: async (ctx, { url, count }) => {
      for (let i = 0; i < count; i++) {
        await ctx.run("step", async () => {
          await new Promise((resolve) => setTimeout(resolve, 50));
          await fetch(url).catch(() => {}); // nothing listens after the last step that counts
        });
      }
    },
  },
});

restate.serve({ services: [objective, plan, steps], port: Number(process.argv[2]) });
