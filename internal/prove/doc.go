// Package prove finds out what an A2A server keeps when it is killed, restarted and cut
// off. It is a client of plain A2A, 0.3 or 1.0 over JSON-RPC, and knows nothing of
// Longhaul: the server may be any.
// It has a wire of its own (wire.go): package client repeats calls and resumes streams by
// itself, which would hide findings, and a mistake of ours in a codec would pass.
// Faults of the network are made below TLS, in the connections of this client, so no proxy
// is needed and certificates stay valid.
//
// [Run] sends tasks, breaks things, and compares what the server says afterwards with
// what it had acknowledged before. The result is a [Scorecard]. Tasks are of five kinds,
// in turn: sent at once, streamed, asking a person, canceled, and streamed again.
//
// The experiments, in this order:
//
//   - calm: one task of each kind and nothing is broken. It shows how a task of this
//     agent ends, and what can be checked: questions, lists, webhooks, cancellation.
//   - kill: half of the tasks are acknowledged and work, the questions are asked, the
//     cancellations acknowledged. The other half is on its way when the server gets
//     SIGKILL, at a random moment. After a while it is started again.
//   - restart: the same, with SIGTERM.
//   - partition: the server runs; the network does not. The link between prove and the
//     server ([link]) hangs up after a request, closes half of the connection, delays
//     it, cuts off all streams, and refuses connections for a while. Some messages are
//     sent twice at the same time.
//
// A message whose answer did not arrive is sent again with the same message id, and a
// stream that broke is subscribed to again, with the last event id if there was one.
// After each experiment, all that was acknowledged is checked (package-level table
// checks). Package witness judges the calls that make, read and list tasks; the rules of A2A
// for streams and webhooks, whose events have no numbers there, are in follower.go and
// webhook.go. A finding is one of three:
//
//   - lost: acknowledged, then missing, never finished, or different from the request.
//   - repeated: the same message became two tasks, or an event came twice.
//   - out of order: a state or an event came after one that it belongs before.
//
// A2A does not require a server to survive a crash, nor to recognise a repeated message
// id: section 3.3.1 of 1.0 says MAY. The scorecard says what a client can rely on, not
// whether the server conforms.
package prove
