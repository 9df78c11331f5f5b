package opt

import (
	"cmp"
	"errors"

	"longhaul/a2a"
)

// An Opening asks for an objective. A message that starts work, or
// objectives/create, becomes one.
type Opening struct {
	Objective Objective    `json:"objective"`         // as it is at first: submitted, without plans
	Message   *a2a.Message `json:"message,omitempty"` // that it is for; nil for objectives/create
	Plans     []PlanSpec   `json:"plans,omitempty"`   // known already; nil leaves them to the planner
	Idle      bool         `json:"idle,omitempty"`    // wait to be started
	Planner   string       `json:"planner,omitempty"` // who made Plans
	Behind    []string     `json:"-"`                 // with Objective.QueuedAt: what is known to have begun in the context
}

// Event returns the first event of the objective. Whoever records it first,
// the API or the workflow, records the same.
func (o Opening) Event() Event {
	objective := o.Objective
	return Event{
		N: 1, Kind: ObjectiveOpened, At: objective.CreatedAt, TaskID: objective.RootID(), To: string(TaskSubmitted),
		Objective: &objective, Given: o.Plans, Message: o.Message, Principal: objective.Principal, Verdict: Noted,
	}
}

// A Letter carries a message from a client to the workflow that decides about
// it: the plan's for a plan task or a gate, else the objective's.
type Letter struct {
	ObjectiveID string      `json:"objectiveId"`
	PlanID      string      `json:"planId,omitempty"`
	TaskID      string      `json:"taskId"`            // the A2A task that the message names
	ForTask     string      `json:"forTask,omitempty"` // the plan task that waits, if another
	Message     a2a.Message `json:"message"`
	Principal   string      `json:"principal"`
	Reply       *Reply      `json:"reply,omitempty"` // the decision in the message; nil for a note
	Key         string      `json:"key,omitempty"`   // of letters that are one letter, sent again; "" for the id of Message

	Begins   bool     `json:"begins,omitempty"`  // it asks for work: it starts an objective that waits to be started, or is refused as NotIdle
	QueuedAt a2a.Time `json:"queuedAt,omitzero"` // with Begins: the place in the queue of the context
}

// Once returns what letters have in common that are one letter, sent again.
func (l Letter) Once() string { return cmp.Or(l.Key, l.Message.MessageID) }

// ID returns what names l among the letters of its objective: the sender, and what
// Once returns.
func (l Letter) ID() string { return l.Principal + "\x00" + l.Once() }

// Errors that callers branch on.
var (
	// ErrUnavailable is wrapped by errors of calls that may be repeated once
	// the engine or its workers are back; nothing was done, or it is safe to
	// do again.
	ErrUnavailable = errors.New("unavailable")
	// ErrConflict is wrapped when the same id was used for other content.
	ErrConflict = errors.New("same id, other content")
	// ErrStale is wrapped when a client has not seen the latest revision of what
	// it wants to change.
	ErrStale = errors.New("stale revision")
	// ErrEnded is wrapped when the workflow that would decide has ended.
	ErrEnded = errors.New("ended")
)
