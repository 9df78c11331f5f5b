// Package journal is the read model on SQLite or PostgreSQL: all that clients see of
// objectives, plans, tasks, messages and artifacts. Workflows decide and record batches of
// numbered events, which carry new values. All reads come from here, so they work while
// no worker runs.
//
// [Journal.Record] writes through package record. All else here reads, or keeps what no event
// brings: blobs, keys, sessions, push configs.
//
// Package db has the database: a SQLite file or PostgreSQL, writes that are committed together,
// and the watches that are signaled after a commit of this process or another one.
//
// Each part of [Journal] has the reads or writes of one kind of thing, on the same engine.
// Large contents, secrets and keys have tables of their own; secrets are sealed.
//
// Columns and members of documents are added, never renamed; db/migrations has the tables.
package journal
