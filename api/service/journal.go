package service

import (
	"context"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Journal is what clients see of the work. Everything is read under a tenant;
// what belongs to another is as unknown as what never existed, and the error
// about either wraps opt.ErrUnknown.
type Journal interface {
	TaskReader
	ObjectiveReader
	EventReader
	BlobKeeper

	// Record records the events of batches. Repeating one changes nothing.
	Record(ctx context.Context, batches ...opt.Batch) error
	// Keep has an objective that has ended kept as if it had changed at a time.
	Keep(ctx context.Context, tenant, id string, at a2a.Time) error
	// Place takes a place in the queue of a context. An objective that has one
	// already keeps it.
	Place(ctx context.Context, p opt.Place) (opt.Placed, error)
	Ping(ctx context.Context) error
	// Key returns 32 random bytes, the same ones for a name at every call.
	Key(ctx context.Context, name string) ([]byte, error)
}

// A TaskReader reads A2A tasks: root tasks and plan tasks.
type TaskReader interface {
	Task(ctx context.Context, tenant, id string, want opt.TaskWant) (opt.TaskView, error)
	// Peek returns no more of a task than its state and the number of the last
	// event of its objective.
	Peek(ctx context.Context, tenant, id string) (opt.TaskState, int64, error)
	// Tasks returns a page, and how many tasks the filter selects on all pages.
	Tasks(ctx context.Context, tenant string, f opt.TaskFilter) ([]opt.TaskView, int, error)
}

// An ObjectiveReader reads objectives and plans.
type ObjectiveReader interface {
	Objective(ctx context.Context, tenant, id string) (*opt.Objective, error)
	Objectives(ctx context.Context, tenant string, f opt.ObjectiveFilter) ([]*opt.Objective, int, error)
	Plan(ctx context.Context, tenant, id string) (*opt.Plan, error)
	// Links returns the ids of the A2A tasks that open tasks of an objective follow.
	Links(ctx context.Context, tenant, objectiveID string) ([]string, error)
}

// An EventReader reads what happened to an objective. Its ids are those of
// objectives that a TaskReader or ObjectiveReader has shown to the caller.
type EventReader interface {
	// Events returns at most limit events that come after the given one.
	Events(ctx context.Context, objectiveID string, after int64, limit int) ([]opt.Recorded, error)
	// Judgement returns what became of the letter for which opt.Letter.Once
	// returns key; ok is false if nothing has yet.
	Judgement(ctx context.Context, objectiveID, principal, key string) (j opt.Judgement, ok bool, err error)
	// Answer returns the answer to a command; ok is false if there is none yet.
	Answer(ctx context.Context, objectiveID, commandID string) (a opt.CommandAnswer, ok bool, err error)
}

// A BlobKeeper keeps contents that are too large to be carried through the work,
// for as long as their objective is kept.
type BlobKeeper interface {
	WriteBlob(ctx context.Context, objectiveID, id string, data []byte) error
	ReadBlob(ctx context.Context, objectiveID, id string) ([]byte, error)
}

// A Watch tells that an objective may have new events: C is ready once for any
// number of them.
type Watch interface {
	C() <-chan struct{}
	Close()
}
