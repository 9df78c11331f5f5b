// Package lease notices within a second that a worker was lost, and gives back to Temporal what
// it had taken. Temporal alone notices it when no heartbeat has come for a long time, which must be
// patient with machines that are overloaded or paused.
//
// Each process with a worker holds a lease: a lock that ends with the process, and beside it a list
// of what the worker has taken.
//
//	Taken    sees in the calls of the worker what it takes and what it answers (taken.go)
//	Keeper   holds the lease, and looks for those of lost workers (keeper.go); it gives
//	         back what these had taken (giveback.go), and what this one refuses (refused.go)
//	Store    keeps leases: in locked files, for processes of one machine (files.go), or as
//	         advisory locks of PostgreSQL (postgres.go, postgres_held.go)
//
// A lease only hastens it. Work is given back with the token of one try: Temporal refuses that if
// the try has ended, and later refuses the answer of a worker that was taken for lost. A process finds
// out that its lock may be lost before others can take the lock ([Keeper.Fence]), and stops its tasks
// itself; deliveries of webhooks may be made twice. A paused process keeps its lock.
package lease

import "context"

// A Kind says what an entry is.
type Kind string

// The kinds of entries.
const (
	stickyQueue  Kind = "q" // the queue of the workflows that a worker has in memory, by name
	workflowTask Kind = "w" // by token
	activityTask Kind = "a" // by token
)

// An Entry is one thing that a worker has taken.
type Entry struct {
	Kind  Kind
	Value string
}

// A Store keeps leases.
type Store interface {
	// Hold begins a lease without entries.
	Hold(ctx context.Context) (Held, error)
	// Orphans calls giveBack with the entries of each lease whose process is gone, and ends
	// the lease unless that returns an error. While one process does so, others do not. It
	// returns how many leases there are.
	Orphans(ctx context.Context, giveBack GiveBack) (n int, err error)
	Close() error
}

// GiveBack gives back what a lost worker had taken.
type GiveBack func(context.Context, []Entry) error

// A Held lease is that of this process.
type Held interface {
	// Change adds entries and removes others.
	Change(ctx context.Context, added, removed []Entry) error
	// Lost is closed before others can take the lease for that of a lost worker.
	Lost() <-chan struct{}
	// Release ends the lease if nothing is left to be given back. Others find it otherwise.
	Release(ctx context.Context, nothingLeft bool) error
}
