// Lets a Go test call a client: one line of JSON in for a call, lines of JSON out
// for what it saw.
//
//   in   {"id": 1, "op": "send", "args": {...}}
//        {"stop": 1}                              the caller leaves call 1
//   out  {"id": 1, "event": {...}}                of a stream, any number
//        {"id": 1, "result": {...}}               the end, of a stream too
//        {"id": 1, "error": {"kind": "not-found", "message": "..."}}
import { createInterface } from 'node:readline';

// What clients say when they are refused, by the names of their errors.
const kinds = {
  TaskNotFoundError: 'not-found',
  TaskNotCancelableError: 'not-cancelable',
  UnsupportedOperationError: 'unsupported',
  RequestMalformedError: 'invalid',
};

// drive serves calls until there are no more. ops is the client: functions by the
// names of calls. errors holds the error classes that it exports.
export function drive(ops, errors) {
  const running = new Map(); // AbortControllers by id
  const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');

  async function run({ id, op, args }) {
    const abort = new AbortController();
    running.set(id, abort);
    try {
      const out = await ops[op](args, abort.signal);
      if (!out?.[Symbol.asyncIterator]) {
        return say({ id, result: out });
      }
      for await (const event of out) say({ id, event });
      say({ id, result: null });
    } catch (e) {
      say({ id, error: describe(e, errors) });
    } finally {
      running.delete(id);
    }
  }

  createInterface({ input: process.stdin })
    .on('line', (line) => {
      const call = JSON.parse(line);
      call.stop ? running.get(call.stop)?.abort() : run(call);
    })
    .on('close', () => process.exit(0));
}

// describe names the class of an error, or of its cause: streams wrap theirs.
function describe(e, errors) {
  for (let cause = e; cause; cause = cause.cause) {
    for (const [name, kind] of Object.entries(kinds)) {
      if (errors[name] && cause instanceof errors[name]) {
        return { kind, message: String(e) };
      }
    }
    // 0.3.14 has no class for this one, and shows the answer instead.
    if (cause.errorResponse?.error?.code === -32602) {
      return { kind: 'invalid', message: String(e) };
    }
  }
  return { kind: '', message: String(e) };
}

// connector returns connect and noted, which are operations of a client, and on, which
// makes an operation of a function f(client, args, options). sdk is the client module.
export function connector(sdk, binding) {
  const peers = new Map(); // by name: { client, seen, extensions }
  return {
    async connect({ peer, url, extensions }) {
      const seen = tap();
      const factory = new sdk.ClientFactory(sdk.ClientFactoryOptions.createFrom(sdk.ClientFactoryOptions.default, {
        transports: [new sdk.JsonRpcTransportFactory({ fetchImpl: seen.fetch }), new sdk.RestTransportFactory({ fetchImpl: seen.fetch })],
        preferredTransports: [binding],
      }));
      const client = await factory.createFromUrl(url);
      peers.set(peer, { client, seen, extensions });
      const card = await client.getAgentCard();
      return {
        name: card.name,
        streaming: card.capabilities.streaming,
        skills: card.skills.map((s) => s.id),
        extensions: card.capabilities.extensions.map((x) => x.uri),
      };
    },
    noted: ({ peer }) => peers.get(peer).seen,
    on: (f) => (args, signal) => {
      const { client, extensions } = peers.get(args.peer);
      const options = extensions.length
        ? { signal, serviceParameters: sdk.ServiceParameters.create(sdk.withA2AExtensions(...extensions)) }
        : { signal };
      return f(client, args, options);
    },
  };
}

// tap returns a fetch that notes the extensions which the last response named, and
// where it came from.
function tap() {
  const seen = { activated: '', path: '' };
  seen.fetch = async (...args) => {
    const response = await fetch(...args);
    seen.activated = response.headers.get('A2A-Extensions') ?? '';
    seen.path = new URL(response.url).pathname;
    return response;
  };
  return seen;
}
