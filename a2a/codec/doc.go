// Package codec reads and writes A2A as JSON, in versions 0.3 and 1.0: messages, parts, tasks,
// artifacts, the events of streams, push configs, cards, and the errors of both bindings of JSON.
// The server, the client and the executor that hands tasks over to other agents share it.
//
// Writing is strict: a [Version] writes the values of package a2a as that version has them.
// Reading has three kinds of senders:
//
//   - clients of the server: a [Reader] reads their requests, an [Object] at a time, and notes every
//     [Violation] with its path. It accepts the deviations of clients that are known.
//   - peers, agents that we call for a user: [Peer] reads their tasks and events, in either version.
//   - strangers, agents that work for us: [Foreign] reads the same and leaves out what they may not
//     say: parts of unknown forms, and metadata by which this server knows its own.
//
// References to stored contents are never written and never read.
package codec
