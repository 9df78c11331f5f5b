// Package db is the database under the journal: a SQLite file, or PostgreSQL. It has the
// connections, the writer that commits several waiting writes at a time, the watches, the
// migrations with the tables, and what differs between the two databases.
//
// A write goes through the writer of an [Engine], whose committers commit several waiting writes at a time:
//
//	SQLite       one committer, which owns the only connection that writes (sqlite.go)
//	PostgreSQL   a few committers; a write takes advisory locks of its objective or
//	             context, always in the same order (lock.go)
//
// After a commit the watches (watch.go) of the objectives that changed are signaled. Changes by
// other processes arrive by a look at the file after another process has rung (bell.go,
// sqlite_follower.go) or by notifications of the server (postgres_follow.go), with a look every
// second or few in case one is lost. A process that has a file alone looks only after a ring, which
// it hears within a second.
//
// Statements are written once, with the fragments of a [Dialect] where the databases differ; those
// that need each other are [Steps]. Each database has its own files of tables (migrations).
package db
