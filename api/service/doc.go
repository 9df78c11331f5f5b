// Package service has the handlers of A2A and of the OPT extension: one method for each
// operation, with typed parameters and results. It does not depend on HTTP, JSON-RPC or
// gRPC; packages api, api/grpc and api/console read requests, call a [Service] and write
// what it returns.
//
// A binding makes a [Call] for each request and runs it in [Service.Serve], which
// authenticates the caller ([Caller]), checks its [Quota] and its [Scope] for the operation
// ([Right]), and turns errors into a [Fault]. Within that the binding reads the
// parameters, turns on the extensions ([Service.Activate]) and calls one operation.
//
// Data goes one way. Handlers write through the [Engine], which starts work and sends it
// letters and commands, and read only from the [Journal]. After a write they wait until
// the journal shows its result: the verdict on a reply, the answer to a command, the end
// of the work or a question. A [Stream] reads the events of the journal as they are
// recorded; a [Watch] signals new ones. A client that names its last event gets those
// after it (resumeAfter in stream.go).
//
// A message begins work (message_start.go) or is for a task (message_reply.go). What it
// begins has an id that is made from the caller and the id of the message (id.go), so a
// repeat finds the same work.
//
// The parts of [Service] have the operations of one kind of thing, over the same reader
// (reader.go), writer (writer.go) and waiter (waiter.go). An [Agent] decides whether a
// message is answered at once or begins work, and by which plan.
package service
