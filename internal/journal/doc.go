// Package journal is the read model on SQLite or PostgreSQL: all that clients see of
// objectives, plans, tasks, messages and artifacts. Workflows decide and record batches of
// numbered events, which carry new values. All reads come from here, so they work while
// no worker runs.
//
// [Journal.Record] turns batches into a recording (recording.go), which writes each event
// into the tables of its subject (objective.go, plan.go, task.go, message.go, artifact.go,
// decision.go, delivery.go, notice.go) and keeps the event, in one transaction. It applies
// no rules of the model. It checks three things: the number of an event within its
// source, the attempt that an event comes from, and that the subject of an event exists.
// Recording a batch again changes nothing.
//
// Package db has the database: a SQLite file or PostgreSQL, writes that are committed together,
// and the watches that are signaled after a commit of this process or another one.
//
// Each part of [Journal] has the reads or writes of one kind of thing, on the same store.
// Large contents, secrets and keys have tables of their own; secrets are sealed.
//
// Columns and members of documents are added, never renamed; db/migrations has the tables.
package journal
