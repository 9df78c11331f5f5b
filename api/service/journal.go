package service

import (
	"context"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Journal is the data that clients see. All reads are for a tenant; things of
// other tenants and things that do not exist give the same error, which wraps
// opt.ErrUnknown.
type Journal interface {
	TaskReader
	ObjectiveReader
	ObjectiveFinder
	DecisionReader
	EventReader
	BlobKeeper
	PushKeeper
	DeliveryKeeper
	UsageReader

	// Record records the events of batches. Repeating one changes nothing.
	Record(ctx context.Context, batches ...opt.Batch) error
	// Keep makes the purge treat an ended objective as if it had changed at a
	// time.
	Keep(ctx context.Context, tenant, id string, at a2a.Time) error
	// Place takes a place in the queue of a context. An objective keeps its place
	// if it already has one.
	Place(ctx context.Context, p opt.Place) (opt.Placed, error)
	Ping(ctx context.Context) error
	// Key returns 32 random bytes, the same ones for a name at every call.
	Key(ctx context.Context, name string) ([]byte, error)
}

// A TaskReader reads A2A tasks: root tasks and plan tasks.
type TaskReader interface {
	Task(ctx context.Context, tenant, id string, want opt.TaskWant) (opt.TaskView, error)
	// Peek returns only the state of a task and the number of the last event of
	// its objective.
	Peek(ctx context.Context, tenant, id string) (opt.TaskState, int64, error)
	// Tasks returns a page, and the number of tasks on all pages.
	Tasks(ctx context.Context, tenant string, f opt.TaskFilter) ([]opt.TaskView, int, error)
	// Interrupts returns a page of open gates in the order of the filter, and their
	// number on all pages.
	Interrupts(ctx context.Context, tenant string, f opt.InterruptFilter) ([]opt.Interrupt, int, error)
}

// An ObjectiveReader reads objectives and plans.
type ObjectiveReader interface {
	Objective(ctx context.Context, tenant, id string) (*opt.Objective, error)
	Objectives(ctx context.Context, tenant string, f opt.ObjectiveFilter) ([]*opt.Objective, int, error)
	Plan(ctx context.Context, tenant, id string) (*opt.Plan, error)
	// Links returns the ids of the A2A tasks that open tasks of an objective follow.
	Links(ctx context.Context, tenant, objectiveID string) ([]string, error)
}

// An ObjectiveFinder finds objectives, and says how far they are.
type ObjectiveFinder interface {
	SearchObjectives(ctx context.Context, tenant string, f opt.ObjectiveSearch) (opt.ObjectivesFound, error)
	// Standings returns how far those of the given objectives are that the tenant has.
	Standings(ctx context.Context, tenant string, ids []string) (map[string]opt.Standing, error)
	// Overview counts the work of the tenant; Ended begins with the hour of since.
	Overview(ctx context.Context, tenant string, since a2a.Time) (opt.Overview, error)
}

// A UsageReader says what tenants use of their quotas.
type UsageReader interface {
	// Usage returns how much of a quota a tenant uses: of [opt.OpenObjectives],
	// [opt.OpenGates] and [opt.StoredBytes].
	Usage(ctx context.Context, tenant string, q opt.Quota) (int64, error)
}

// A DecisionReader reads the decisions at gates.
type DecisionReader interface {
	// Decisions returns a page of at most limit decisions of an objective after a
	// position, the first for 0.
	Decisions(ctx context.Context, tenant, objectiveID string, after opt.DecisionCursor, limit int) (opt.DecisionPage, error)
	// Gate returns a gate, open or closed, as it was shown last, with the replies to it.
	Gate(ctx context.Context, tenant, gateID string) (opt.GateRecord, error)
}

// An EventReader reads the events of an objective. It does not check tenants: use
// ids that a TaskReader or ObjectiveReader has returned for the caller.
type EventReader interface {
	// Events returns at most limit events that come after the given one.
	Events(ctx context.Context, objectiveID string, after int64, limit int) ([]opt.Recorded, error)
	// Judgement returns the verdict on the letter for which opt.Letter.Once
	// returns key; ok is false if there is none yet.
	Judgement(ctx context.Context, objectiveID, principal, key string) (j opt.Judgement, ok bool, err error)
	// Answer returns the answer to a command; ok is false if there is none yet.
	Answer(ctx context.Context, objectiveID, commandID string) (a opt.CommandAnswer, ok bool, err error)
}

// A BlobKeeper keeps contents that are too large for histories, for as long as
// their objective is kept.
type BlobKeeper interface {
	WriteBlobs(ctx context.Context, objectiveID string, blobs map[string][]byte) error // by their ids
	ReadBlob(ctx context.Context, objectiveID, id string) ([]byte, error)
}

// A PushKeeper keeps push configs. All calls are for a tenant, like reads.
type PushKeeper interface {
	// PutPush adds a config or replaces the one with its id. The task of an inline
	// one may be about to begin. The error wraps opt.ErrPushLimit if there are too
	// many. undo removes the config or restores the replaced one, unless p was stored
	// before or the config was changed since.
	PutPush(ctx context.Context, p opt.PushConfig) (undo func(context.Context) error, err error)
	// Pushes returns the configs of a task, the oldest first.
	Pushes(ctx context.Context, tenant, taskID string) ([]opt.PushConfig, error)
	// RemovePush removes a config, if it is there.
	RemovePush(ctx context.Context, tenant, taskID, id string) error
}

// A DeliveryKeeper keeps the deliveries to push configs.
type DeliveryKeeper interface {
	// Deliveries returns those of a task, in the order of its states.
	Deliveries(ctx context.Context, tenant, taskID string) ([]opt.Delivery, error)
	// Redeliver makes one due again whose config is there.
	Redeliver(ctx context.Context, tenant, taskID, configID string, n int64) error
}

// A Watch says that an objective may have new events: C is ready once for any
// number of them.
type Watch interface {
	C() <-chan struct{}
	Close()
}
