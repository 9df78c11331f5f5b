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
// A write goes through the writer (writer.go), whose committers commit several waiting
// writes at a time. A database (database.go) is a file or a server:
//
//	SQLite       one committer, which owns the only connection that writes (sqlite.go)
//	PostgreSQL   a few committers; a write takes advisory locks of its objective or
//	             context, always in the same order (postgres_lock.go)
//
// After a commit the watches (watch.go) of the objectives that changed are signaled.
// Changes by other processes arrive by a look at the file (sqlite_follower.go) or by
// notifications of the server, with a look every few seconds in case one is lost
// (postgres_follow.go).
//
// Each part of [Journal] has the reads or writes of one kind of thing, on the same store.
// Large contents, secrets and keys have tables of their own; secrets are sealed.
//
// Columns and members of documents are added, never renamed; migrations has the tables.
// Nothing else imports database/sql.
package journal
