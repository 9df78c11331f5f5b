// Package record writes events into the tables of a journal, in one transaction.
//
// A [Recording] is what one call of the journal's Record or Restore brings: [New] prepares it
// outside of the transaction, [Recording.Run] writes each event into the tables of its subject
// (objective.go, plan.go, task.go, message.go, artifact.go, decision.go, delivery.go, notice.go)
// and keeps the event. Functions of subjects share rows: the connection, the first error, and the state of the
// objective before the next event. A source that was rewound has its rows set (rewind.go).
//
// It applies no rules of the model. It checks three things: the number of an event within its
// source (source.go), the attempt that an event comes from, and that the subject of an event
// exists. Recording a batch again changes nothing.
package record
