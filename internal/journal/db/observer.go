package db

import "time"

// An Observer receives what happens inside a journal, for metrics. Its methods are called
// from several goroutines and return at once.
type Observer interface {
	// Committed notes a transaction of some writes that took some time, also one that
	// failed and is repeated.
	Committed(writes int, took time.Duration, err error)
	// Notified notes a notification by PostgreSQL about commits, of this process or another.
	Notified()
	// Looked notes a look for commits of others to the watched objectives. missed is set if it
	// has found a commit without a notification or a ring, which may be on its way.
	Looked(missed bool)
}

// Unobserved is the Observer of a journal that has none.
type Unobserved struct{}

func (Unobserved) Committed(int, time.Duration, error) {}
func (Unobserved) Notified()                           {}
func (Unobserved) Looked(bool)                         {}

// An Activity says how much a journal does at a moment, for this process.
type Activity struct {
	Waiting int64 // writes that have not begun
	Reads   int64 // connections for reading that are in use
	Watches int64 // that are open
}
