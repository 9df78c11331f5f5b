package opt

import (
	"errors"
	"fmt"

	"longhaul/a2a"
)

// An EventKind says what happened.
type EventKind string

// The kinds of event. Each comment names the fields that it uses beside N, At
// and Kind.
const (
	ObjectiveOpened   EventKind = "objective-opened"   // Objective, Message: the objective exists, and so does its root task
	ObjectiveMoved    EventKind = "objective-moved"    // To, Reason
	ObjectiveStopping EventKind = "objective-stopping" // Reason, Cause, Status: it ends when its plans have
	ObjectiveChanged  EventKind = "objective-changed"  // Change, Revision
	ObjectiveAgain    EventKind = "objective-again"    // Attempt, To: a new attempt, with a root task of its own
	ObjectiveQueued   EventKind = "objective-queued"   // it waits for its turn in its context
	PlanAdded         EventKind = "plan-added"         // PlanID, Plan with its tasks
	PlanChanged       EventKind = "plan-changed"       // PlanID, Change: by the plan, or by its objective if Change has Dependencies
	PlanAgain         EventKind = "plan-again"         // PlanID, Attempt: it is pending again, and so are the tasks that were not completed
	TasksAdded        EventKind = "tasks-added"        // PlanID, Tasks
	PlanMoved         EventKind = "plan-moved"         // PlanID, To, Reason
	PlanStopping      EventKind = "plan-stopping"      // PlanID, Reason: it ends when its tasks have
	PlanReported      EventKind = "plan-reported"      // PlanID, Report: what a plan tells its objective; never recorded
	TaskLinked        EventKind = "task-linked"        // PlanID, TaskID, Link, Follow
	TaskMoved         EventKind = "task-moved"         // PlanID and TaskID, or the root's TaskID; To, Reason, Status, Gate, Attempt
	TaskTried         EventKind = "task-tried"         // PlanID, TaskID, From, To, Attempt: another attempt of its activity begins; changes no state
	ArtifactAdded     EventKind = "artifact"           // PlanID, TaskID, RootID, Chunk
	MessageAdded      EventKind = "message"            // PlanID, TaskID, Message, Principal, Reply, Verdict
)

// An Event is one thing that happened to an objective, a plan or a task.
// Events are facts: their source numbers them, and they are never edited.
type Event struct {
	N    int64     `json:"n"` // 1, 2, 3 … within the source that records it
	Kind EventKind `json:"kind"`
	At   a2a.Time  `json:"at"`

	PlanID string `json:"planId,omitempty"`
	TaskID string `json:"taskId,omitempty"` // the A2A task it is about
	RootID string `json:"rootId,omitempty"` // the root task that shows it as its own, too
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`     // the new status or state
	Reason string `json:"reason,omitempty"` // why, in one word
	Cause  string `json:"cause,omitempty"`  // why it stops, where Reason says as what

	Objective *Objective   `json:"objective,omitempty"`
	Plan      *Plan        `json:"plan,omitempty"`
	Report    *Report      `json:"report,omitempty"`
	Status    *a2a.Message `json:"status,omitempty"` // what the agent says with the move
	Gate      *Gate        `json:"gate,omitempty"`   // the gate that a task begins to wait at
	Chunk     *Chunk       `json:"chunk,omitempty"`
	Attempt   int          `json:"attempt,omitempty"` // of the activity, or of the objective where it begins one
	Change    *Change      `json:"change,omitempty"`
	Tasks     []*Task      `json:"tasks,omitempty"`
	Link      string       `json:"link,omitempty"`   // the A2A task that stands in for the plan task
	Follow    bool         `json:"follow,omitempty"` // Link is a task of ours
	Revision  int64        `json:"revision,omitempty"`

	Message   *a2a.Message `json:"message,omitempty"`
	Principal string       `json:"principal,omitempty"` // who sent Message
	Key       string       `json:"key,omitempty"`       // of the Letter that brought it
	ForTask   string       `json:"forTask,omitempty"`   // the plan task that a reply to the root task was for
	Reply     *Reply       `json:"reply,omitempty"`
	Verdict   Verdict      `json:"verdict,omitempty"`
}

// A Change is what a client changes about an objective or a plan beside its
// status. A nil member stays as it is.
type Change struct {
	Name        *string      `json:"name,omitempty"`
	Description *string      `json:"description,omitempty"`
	Metadata    a2a.Metadata `json:"metadata,omitzero"` // replaces the client's part

	// Of a plan, in place of what it depends on. Its objective makes the change.
	Dependencies []string `json:"dependencies,omitzero"`
}

// A Verdict says what became of a message from a client.
type Verdict string

// The verdicts.
const (
	Accepted   Verdict = "accepted"    // it answered the gate
	Noted      Verdict = "noted"       // it was added to the conversation
	NotWaiting Verdict = "not-waiting" // it answered a gate that was not open, or not any more
	NotOffered Verdict = "not-offered" // it asked for an action that the gate does not offer
)

// Kept reports whether a message with verdict v belongs to the task's history.
func (v Verdict) Kept() bool { return v == Accepted || v == Noted }

// A Chunk is an artifact, or a piece of one while it is being made.
type Chunk struct {
	Artifact a2a.Artifact `json:"artifact"`
	Append   bool         `json:"append,omitempty"` // add the parts to those already there
	Last     bool         `json:"last,omitempty"`
}

// A Batch is what one source has to record of one objective, in order.
// Numbers in a batch follow on each other.
type Batch struct {
	ObjectiveID string  `json:"objectiveId"`
	Source      string  `json:"source"` // the workflow id, or another name for a run of numbers
	Events      []Event `json:"events"`
}

// ErrMove is wrapped by every error about a move that the tables do not allow.
var ErrMove = errors.New("invalid status transition")

// A MoveError reports a move that the tables do not allow.
type MoveError struct{ From, To string }

func (e *MoveError) Error() string {
	return fmt.Sprintf("Invalid status transition: %s → %s", e.From, e.To)
}

func (e *MoveError) Unwrap() error { return ErrMove }

// ErrUnknown is wrapped by errors about a plan or a task that is not there.
var ErrUnknown = errors.New("unknown")
