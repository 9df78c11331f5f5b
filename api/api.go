// Package api is the service over HTTP: JSON-RPC for A2A 0.3 and 1.0 and for
// the OPT extension, event streams, agent cards and health.
//
// Handlers write through the [Engine], read only from the [Journal], and know
// one model, that of packages a2a and opt. That there are two protocol versions
// is known to api/wire alone, so another binding needs a reader and a writer,
// and no handler.
package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Config says what a Server is made of. A field is required unless its
// comment says what the zero value means.
type Config struct {
	Engine  Engine
	Journal Journal
	Watch   func(objectiveID string) Watch // of the same journal
	Agent   Agent
	Card    CardInfo

	// Extended is what callers who are not anonymous are shown in place of Card,
	// nil for nothing. Only what it says of the agent counts: what the agent can do
	// is the same for all.
	Extended *CardInfo

	// Authenticate says who sends a request, going by the transport alone.
	// Any error refuses the request: with 403 if it wraps ErrForbidden, with
	// 503 if it wraps opt.ErrUnavailable, else with 401.
	Authenticate func(*http.Request) (Caller, error)
	Challenge    string // WWW-Authenticate of a 401; zero: Bearer

	// Origins are those of web pages that may call, as "https://app.example.com"
	// or "*"; nil for none.
	Origins []string
	// Hosts are the names that requests may be addressed to beside addresses, in
	// lower case; nil for any. Where nobody is asked who they are it keeps out pages
	// whose own name leads here.
	Hosts []string
	// LenientVersion takes a method of 1.0 without an A2A-Version header for what
	// it is. The specification calls such a request one of 0.3, which has no
	// method by that name.
	LenientVersion bool

	NoREST bool // serve JSON-RPC alone, not plain HTTP too

	Idempotency  Idempotency   // zero: ByMessageID
	BlockingWait time.Duration // that a send waits for the work; zero: 25 s
	ReplyWait    time.Duration // for the verdict on a reply; zero: 5 s
	CancelWait   time.Duration // for a cancellation to take effect; zero: 5 s
	CallTimeout  time.Duration // of one call of the Engine; zero: 10 s
	Heartbeat    time.Duration // between comments on an idle stream; zero: 15 s
	WriteTimeout time.Duration // of one answer, or one event of a stream; zero: 30 s
	ReadTimeout  time.Duration // of one request's body; zero: 60 s
	MaxBody      int64         // bytes of one request; zero: 16 MiB
	MaxQueue     int           // objectives that may wait in one context; zero: 9,999

	Log  *zap.Logger      // nil discards logs
	Now  func() time.Time // nil: time.Now
	Rand io.Reader        // for ids, safe for concurrent use; nil: crypto/rand
}

// An Engine starts, tells and stops the work. What it has accepted is durable.
//
// An error wraps opt.ErrUnavailable if the call may be repeated, opt.ErrUnknown
// if there is no such workflow, opt.ErrEnded if it has ended; an *opt.MoveError
// or *opt.SpecError of a workflow comes through.
type Engine interface {
	Changer

	// Start starts the objective, or has it wait for its turn if its QueuedAt is
	// set, and returns the opening that holds: an earlier one if the id is taken by
	// one with the same Objective.Digest. If its digest is another, the error wraps
	// opt.ErrConflict; if it has ended, opt.ErrEnded.
	Start(ctx context.Context, o opt.Opening) (opt.Opening, error)
	// Tell delivers a message. The verdict on it is recorded in the journal.
	Tell(ctx context.Context, l opt.Letter) error
	// Cancel asks an objective to stop, given its root task's id, or one task
	// of a plan. It returns before that has happened.
	Cancel(ctx context.Context, taskID string, principal string) error
	// AddPlan adds a plan, and starts the objective if start is set. The plan
	// is in the journal when it returns.
	AddPlan(ctx context.Context, objectiveID string, spec opt.PlanSpec, start bool, seen int64) (*opt.Plan, error)
	// Ready reports why the engine could not accept work now.
	Ready(ctx context.Context) error
}

// A Changer changes what is there. When a call returns nil, the change is in the
// journal; the objective may be about to follow one of its plans. seen is the
// revision that the client has seen, 0 for any: the error about another one wraps
// opt.ErrStale.
type Changer interface {
	ObjectiveChanger
	PlanChanger
	TaskChanger
}

// An ObjectiveChanger changes objectives.
type ObjectiveChanger interface {
	// ChangeObjective changes an objective and moves it to a status, "" for none.
	ChangeObjective(ctx context.Context, id string, change *opt.Change, status opt.ObjectiveStatus, seen int64) error
	// Replan has plans made in place of those that have not ended.
	Replan(ctx context.Context, id, reason string, seen int64) error
	// Enter has an objective wait for its turn in its context, behind those that are
	// known to have begun there, though it began when it was alone.
	Enter(ctx context.Context, o opt.Objective, behind []string) error
	// Again begins a new attempt at an objective that has ended, given all that the
	// journal has of it, or has the attempt wait for its turn if QueuedAt is set. The journal shows the attempt soon. An *opt.MoveError from
	// a status to itself says that the attempt before has yet to leave, or that
	// somebody else was first.
	Again(ctx context.Context, o *opt.Objective, to opt.ObjectiveStatus, behind []string) error
}

// A PlanChanger changes plans.
type PlanChanger interface {
	// ChangePlan changes a plan and moves it to a status, "" for none. met says that
	// what the plan depends on is done.
	ChangePlan(ctx context.Context, id string, change *opt.Change, status opt.PlanStatus, met bool, seen int64) error
	// AgainPlan begins a new attempt at a plan that failed, given all that the journal
	// has of it, while its objective goes on: it waits for its turn, or starts. An
	// error that wraps opt.ErrUnknown says that the objective has yet to hear of its
	// end.
	AgainPlan(ctx context.Context, p *opt.Plan, to opt.PlanStatus, seen int64) error
	// ReorderPlan makes a change of a plan that was not begun, which has Dependencies.
	ReorderPlan(ctx context.Context, planID string, change *opt.Change, seen int64) error
	AddTasks(ctx context.Context, planID string, specs []opt.TaskSpec, seen int64) error
}

// A TaskChanger changes the tasks of plans.
type TaskChanger interface {
	// LinkTask has another A2A task stand in for a plan task, which ends as that does
	// if follow is set.
	LinkTask(ctx context.Context, taskID, link string, follow bool, seen int64) error
	// MoveTask moves a plan task, with a text for people.
	MoveTask(ctx context.Context, taskID string, to opt.TaskState, text string, seen int64) error
}

// A Journal is what clients see of the work. Everything is read under a tenant;
// what belongs to another is as unknown as what never existed, and the error
// about either wraps opt.ErrUnknown.
type Journal interface {
	TaskReader
	ObjectiveReader
	EventReader

	// Record records the events of a batch. Repeating one changes nothing.
	Record(ctx context.Context, b opt.Batch) error
	// Keep has an objective that has ended kept as if it had changed at a time.
	Keep(ctx context.Context, tenant, id string, at a2a.Time) error
	// Whole returns an objective with the artifacts of its tasks.
	Whole(ctx context.Context, tenant, id string) (*opt.Objective, error)
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
	// Queue returns what is open in a context.
	Queue(ctx context.Context, tenant, contextID string) (opt.Queue, error)
}

// An EventReader reads what happened to an objective. Its ids are those of
// objectives that a TaskReader or ObjectiveReader has shown to the caller.
type EventReader interface {
	// Events returns at most limit events that come after the given one.
	Events(ctx context.Context, objectiveID string, after int64, limit int) ([]opt.Recorded, error)
	// Judgement returns what became of the letter for which opt.Letter.Once
	// returns key; ok is false if nothing has yet.
	Judgement(ctx context.Context, objectiveID, principal, key string) (j opt.Judgement, ok bool, err error)
}

// A Watch tells that an objective may have new events: C is ready once for any
// number of them.
type Watch interface {
	C() <-chan struct{}
	Close()
}

// An Agent decides what a message becomes.
type Agent interface {
	Decide(ctx context.Context, m a2a.Message) (Decision, error)
}

// A Decision is an answer, or a plan, or neither: then the work needs planning.
type Decision struct {
	Answer  *a2a.Message   // to be sent now; nothing is stored
	Plans   []opt.PlanSpec // known already
	Planner string         // which planner is to plan, or has
	Reason  string         // for people
}

// A Caller is who sends a request.
type Caller struct {
	Tenant, Principal string
	Anonymous         bool // nobody knows who it is
}

// ErrForbidden is wrapped by errors of Config.Authenticate about a caller who is
// known and may not do this.
var ErrForbidden = errors.New("forbidden")

// Idempotency says which sends are the same send.
type Idempotency string

// The kinds of Idempotency.
const (
	ByMessageID Idempotency = ""       // the same message id, or the same Idempotency-Key header
	ByHeader    Idempotency = "header" // the same Idempotency-Key header
	NoRepeats   Idempotency = "off"    // none: every send starts work
)
