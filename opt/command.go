package opt

import (
	"errors"
	"fmt"
	"strconv"

	"longhaul/a2a"
)

// A CommandKind says what a client wants to change.
type CommandKind string

// The kinds of command. Each comment names the fields that it uses beside ID,
// Kind, Digest, Principal, ObjectiveID, Seen and Deadline, and who applies it.
const (
	UpdateObjective CommandKind = "update-objective" // objective: Change, Status, QueuedAt
	Replan          CommandKind = "replan"           // objective: Text
	CreatePlan      CommandKind = "create-plan"      // objective: Plan, Start
	UpdatePlan      CommandKind = "update-plan"      // plan: PlanID, Status; objective: Change, and Status of a plan that has ended
	AddTasks        CommandKind = "add-tasks"        // plan: PlanID, Tasks
	OrderTasks      CommandKind = "order-tasks"      // plan: PlanID, Order
	LinkTask        CommandKind = "link-task"        // plan: PlanID, TaskID, Link, Follow
	MoveTask        CommandKind = "move-task"        // plan: PlanID, TaskID, Status, Text
	CancelTask      CommandKind = "cancel-task"      // plan: PlanID, TaskID, Text
)

// CommandKinds lists the kinds.
var CommandKinds = []CommandKind{UpdateObjective, Replan, CreatePlan, UpdatePlan, AddTasks, OrderTasks, LinkTask, MoveTask, CancelTask}

// A Command is a change that a client asks for. It goes to the objective, which
// applies it or passes it to the plan, and records the [CommandAnswer]. A repeat of
// the command under the same id gets the first answer.
type Command struct {
	ID          string      `json:"id"`
	Kind        CommandKind `json:"kind"`
	Digest      string      `json:"digest,omitempty"` // of the content of the request
	Principal   string      `json:"principal,omitempty"`
	ObjectiveID string      `json:"objectiveId"`
	Seen        int64       `json:"seen,omitempty"`    // the revision that the client saw; 0 for any
	Deadline    a2a.Time    `json:"deadline,omitzero"` // a command that is applied later is refused: the caller has stopped waiting
	PlanID      string      `json:"planId,omitempty"`
	TaskID      string      `json:"taskId,omitempty"` // of the plan task
	Change      *Change     `json:"change,omitempty"`
	Status      string      `json:"status,omitempty"` // to move to; "" to stay
	Text        string      `json:"text,omitempty"`   // for people
	Plan        *PlanSpec   `json:"plan,omitempty"`
	Start       bool        `json:"start,omitempty"` // start the objective, too
	Tasks       []TaskSpec  `json:"tasks,omitempty"`
	Order       []TaskOrder `json:"order,omitempty"`
	Link        string      `json:"link,omitempty"`
	Follow      bool        `json:"follow,omitempty"`  // Link is a task of ours; else a client moves the task
	QueuedAt    a2a.Time    `json:"queuedAt,omitzero"` // of one that starts work: its place in the queue of its context
	Attempt     int         `json:"attempt,omitempty"` // likewise: the attempt at the objective that has this place, also if it is free; 0 for any
}

// String returns c on one line, for people: its kind and what it changes.
func (c Command) String() string {
	about := c.ObjectiveID
	for _, id := range []string{c.PlanID, c.TaskID} {
		if id != "" {
			about = id
		}
	}
	return oneLine(string(c.Kind), about, "", c.Status, "")
}

// Shapes reports whether c has a part in the work: a principal whose commands only stop,
// pause or continue the work is no requester of it. first is set if c starts the objective or
// the plan, or retries it.
func (c Command) Shapes(first bool) bool {
	switch c.Kind {
	case CancelTask:
		return false
	case UpdateObjective, UpdatePlan:
		return first || !c.Change.Empty() || c.Status == string(ObjectivePlanning)
	}
	return true
}

// Starts reports whether c may start an objective that was not started, or begin work
// on it again.
func (c Command) Starts() bool {
	switch c.Kind {
	case UpdateObjective:
		to := ObjectiveStatus(c.Status)
		return to == ObjectiveWorking || to == ObjectivePlanning
	case UpdatePlan:
		return PlanStatus(c.Status) == PlanWorking
	case CreatePlan:
		return c.Start
	}
	return c.Kind == Replan
}

// Adds reports whether c adds work to an objective that has not ended. Starting work that was not
// started, or has ended, is another matter: see Starts.
func (c Command) Adds() bool {
	switch c.Kind {
	case Replan, CreatePlan, AddTasks:
		return true
	}
	return c.Kind == UpdateObjective && c.Status == string(ObjectivePlanning)
}

// A CommandAnswer is the outcome of a command. It is recorded with the change.
type CommandAnswer struct {
	CommandID string   `json:"commandId"`
	Digest    string   `json:"digest,omitempty"`
	Refusal   *Refusal `json:"refusal,omitempty"`   // nil if it was applied
	PlanID    string   `json:"planId,omitempty"`    // of the plan that was created
	Revision  int64    `json:"revision"`            // of the objective after it
	Waiting   []string `json:"waiting,omitempty"`   // ids of plans that have not confirmed the change yet
	Unchanged bool     `json:"unchanged,omitempty"` // the requested state was already reached
}

// A RefusalCode says why a command was refused.
type RefusalCode string

// The codes.
const (
	RefusedMove    RefusalCode = "move"    // From, To: not allowed by the tables of moves
	RefusedSpec    RefusalCode = "spec"    // Field, Problem: a member of the request is invalid
	RefusedStale   RefusalCode = "stale"   // Revision, the latest: the client has seen an earlier one
	RefusedEnded   RefusalCode = "ended"   // From, "plan" or "objective": it has ended
	RefusedUnknown RefusalCode = "unknown" // the plan or task does not exist
	RefusedLate    RefusalCode = "late"    // it came after its deadline, or after the attempt at the objective that it was for
	RefusedReused  RefusalCode = "reused"  // its id was used for another command
)

// A Refusal says why nothing was changed. It is an error.
type Refusal struct {
	Code     RefusalCode `json:"code"`
	From     string      `json:"from,omitempty"`
	To       string      `json:"to,omitempty"`
	Field    string      `json:"field,omitempty"`
	Problem  string      `json:"problem,omitempty"`
	Revision int64       `json:"revision,omitempty"`
	At       a2a.Time    `json:"at,omitzero"` // of a late one: when it was judged
}

// Error implements error.
func (r *Refusal) Error() string {
	switch r.Code {
	case RefusedMove, RefusedSpec:
		return r.Unwrap().Error()
	case RefusedStale:
		return "the objective is at revision " + strconv.FormatInt(r.Revision, 10)
	case RefusedEnded:
		return "the " + r.From + " has ended"
	case RefusedLate:
		return "the command came too late"
	case RefusedReused:
		return "the id was used for another command"
	}
	return string(r.Code)
}

// Unwrap returns the error that callers branch on.
func (r *Refusal) Unwrap() error {
	switch r.Code {
	case RefusedMove:
		return &MoveError{r.From, r.To}
	case RefusedSpec:
		return &SpecError{r.Field, r.Problem}
	case RefusedStale:
		return ErrStale
	case RefusedEnded:
		return ErrEnded
	case RefusedUnknown:
		return ErrUnknown
	case RefusedLate:
		return ErrUnavailable
	case RefusedReused:
		return ErrConflict
	}
	return nil
}

// RefusalOf returns err, an error of the model about a command, as a refusal.
func RefusalOf(err error) *Refusal {
	var refusal *Refusal
	var move *MoveError
	var spec *SpecError
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.As(err, &move):
		return &Refusal{Code: RefusedMove, From: move.From, To: move.To}
	case errors.As(err, &spec):
		return &Refusal{Code: RefusedSpec, Field: spec.Field, Problem: spec.Problem}
	case errors.Is(err, ErrUnknown):
		return &Refusal{Code: RefusedUnknown}
	}
	panic(fmt.Sprintf("opt: no refusal for %v", err))
}
