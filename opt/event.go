package opt

import (
	"errors"
	"fmt"

	"longhaul/a2a"
)

// An EventKind says what happened.
type EventKind string

// The kinds of event. Each comment names the fields that it uses beside N, At
// and Kind, and who records it.
const (
	ObjectiveOpened   EventKind = "objective-opened"   // objective: Objective, Given, Message: the objective and its root task exist
	ObjectiveMoved    EventKind = "objective-moved"    // objective: From, To, Reason, Status, Head
	ObjectiveStopping EventKind = "objective-stopping" // objective: Reason, Cause, Status, Head, Principal: it ends once all plans have ended
	ObjectivePaused   EventKind = "objective-paused"   // objective: Head: a client has paused it
	ObjectiveResumed  EventKind = "objective-resumed"  // objective: Head
	ObjectiveChanged  EventKind = "objective-changed"  // objective: Change, Revision, Head, Text
	ObjectiveRetried  EventKind = "objective-retried"  // objective: From, To, Attempt, TaskID, Head: a new attempt, with its own root task
	ObjectiveQueued   EventKind = "objective-queued"   // objective: QueuedAt, Head: it waits for its turn in the context
	PlanAdded         EventKind = "plan-added"         // objective: PlanID, Plan with its tasks, Replaces
	PlanChanged       EventKind = "plan-changed"       // objective: PlanID, Change, Text: new name, description, metadata or dependencies
	PlanRetried       EventKind = "plan-retried"       // objective: PlanID, Attempt, Tasks, PlanHead: the plan and its uncompleted tasks are reset to pending
	PlanStarted       EventKind = "plan-started"       // plan: PlanID, PlanHead: its tasks may run
	PlanPaused        EventKind = "plan-paused"        // plan: PlanID, Reason, PlanHead: by a client, or with its objective
	PlanResumed       EventKind = "plan-resumed"       // plan: PlanID, Reason, PlanHead
	PlanMoved         EventKind = "plan-moved"         // plan, or its objective while the plan has no workflow: PlanID, From, To, Reason, PlanHead
	PlanStopping      EventKind = "plan-stopping"      // plan: PlanID, Reason, PlanHead: it ends once all tasks have ended
	TasksAdded        EventKind = "tasks-added"        // plan: PlanID, Tasks
	TasksReopened     EventKind = "tasks-reopened"     // plan: PlanID, Tasks: tasks that make an object again, after it was sent back at a gate
	TasksOrdered      EventKind = "tasks-ordered"      // plan: PlanID, Order, Principal: pending tasks wait for others than before
	TaskLinked        EventKind = "task-linked"        // plan: PlanID, TaskID, Link, Follow
	TaskMoved         EventKind = "task-moved"         // plan, or the objective for its root task: PlanID, TaskID, From, To, Reason, Status, Gate, Attempt, Step; Reply, Verdict: of a standing decision, or of one that a fork keeps
	ExchangeAdded     EventKind = "exchange"           // plan: PlanID, TaskID, From, To, Reason, Gate: what [Gate.With] returns; changes no state
	TaskTried         EventKind = "task-tried"         // attempt: PlanID, TaskID, From, To, Round, Attempt: another attempt begins; changes no state
	TaskTaken         EventKind = "task-taken"         // attempt: PlanID, TaskID, Round, Attempt, Waited: a worker begins it, or its next leg; changes no state
	TaskProgressed    EventKind = "task-progressed"    // attempt: PlanID, TaskID, From, To, Round, Attempt, Status: how far the work is; changes no state
	UsageAdded        EventKind = "usage"              // plan: PlanID, TaskID, Round, Attempt, Leg, Usage, Budgets: what a leg has used; objective: Usage: of its planner. Changes no state
	ArtifactAdded     EventKind = "artifact"           // attempt, plan or objective: PlanID, TaskID, RootID, Round, Attempt, Chunk
	MessageAdded      EventKind = "message"            // plan or objective: PlanID, TaskID, Message, Principal, Reply, Verdict, Decision, Reason
	CommandAnswered   EventKind = "command-answered"   // objective: Answer, Principal, Reason: the kind of the command
	SourceRewound     EventKind = "source-rewound"     // objective: Epoch, Objective with its plans, Head, Text; plan: Epoch, PlanID, Plan with its tasks, PlanHead: its workflow knows less than the journal, and continues from this state
)

// An Event is one thing that happened to an objective, a plan or a task.
// Events are facts: their source numbers them, and they are never edited. An
// event that changes a row of the journal carries the new values, computed by the
// owner of the row, so the journal needs no rules.
type Event struct {
	N    int64     `json:"n"` // 1, 2, 3 … within the source that records it; the number of the event before for SourceRewound
	Kind EventKind `json:"kind"`
	At   a2a.Time  `json:"at"`

	PlanID string `json:"planId,omitempty"`
	TaskID string `json:"taskId,omitempty"` // the A2A task it is about
	RootID string `json:"rootId,omitempty"` // the root task that shows it as its own, too
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`     // the new status or state
	Reason string `json:"reason,omitempty"` // why, in one word
	Cause  string `json:"cause,omitempty"`  // why it stops, if Reason is the status in which it will end

	Objective *Objective   `json:"objective,omitempty"`
	Plan      *Plan        `json:"plan,omitempty"`
	Status    *a2a.Message `json:"status,omitempty"` // the message of the agent that comes with the move
	Gate      *Gate        `json:"gate,omitempty"`   // the gate that is open after the move, or what changes in it
	Chunk     *Chunk       `json:"chunk,omitempty"`
	Round     int          `json:"round,omitempty"`   // of the work on the task: each gate begins a new one
	Try       int          `json:"try,omitempty"`     // of the attempt: more than 1 after a lost worker
	Attempt   int          `json:"attempt,omitempty"` // within the round, or of the objective or plan where it begins one
	Leg       int          `json:"leg,omitempty"`     // within the attempt
	Change    *Change      `json:"change,omitempty"`
	Tasks     []*Task      `json:"tasks,omitempty"`
	Order     []TaskOrder  `json:"order,omitempty"`
	Replaces  []string     `json:"replaces,omitempty"` // plans that end skipped because this plan and those added after it replace them
	Link      string       `json:"link,omitempty"`     // the A2A task that stands in for the plan task
	Follow    bool         `json:"follow,omitempty"`   // Link is a task of ours
	Revision  int64        `json:"revision,omitempty"`
	QueuedAt  a2a.Time     `json:"queuedAt,omitzero"` // the place of the objective in the queue of its context
	Given     []PlanSpec   `json:"given,omitempty"`   // plans that came with the message that began the objective

	Head     *ObjectiveHead `json:"head,omitempty"`     // of the objective, after the event
	PlanHead *PlanHead      `json:"planHead,omitempty"` // of the plan, after the event
	Text     *Text          `json:"text,omitempty"`     // name, description, metadata and dependencies after it

	Message   *a2a.Message   `json:"message,omitempty"`
	Principal string         `json:"principal,omitempty"` // who sent Message or the command, moved the task by hand, changed the order or ended the objective
	Key       string         `json:"key,omitempty"`       // of the Letter with it
	ForTask   string         `json:"forTask,omitempty"`   // the plan task of a reply to the root task
	Reply     *Reply         `json:"reply,omitempty"`
	Verdict   Verdict        `json:"verdict,omitempty"`
	Answer    *CommandAnswer `json:"answer,omitempty"`
	Decision  *Decision      `json:"decision,omitempty"` // the record of Reply
	Step      StepKind       `json:"step,omitempty"`     // that the gate has taken; Gate is nil after an expiry
	Epoch     int            `json:"epoch,omitempty"`    // that SourceRewound begins
	Usage     *Usage         `json:"usage,omitempty"`    // with TaskMoved: at the end of a root task, of all work on the objective so far; at the opening of a gate, the question
	Waited    int64          `json:"waited,omitempty"`   // milliseconds until a worker took the leg
	Budgets   *Budgets       `json:"budgets,omitempty"`  // that limit the usage now; nil if it is not known
}

// String returns e on one line, for people: its number and kind, and what moved where.
func (e Event) String() string {
	about := e.TaskID
	if about == "" {
		about = e.PlanID
	}
	return fmt.Sprint(e.N, " ", oneLine(string(e.Kind), about, "", e.To, e.Reason))
}

// Passes reports whether e passes a gate of its task that has not opened, since a standing decision, or
// one that a fork keeps, has decided about it.
func (e Event) Passes() bool {
	return e.Kind == TaskMoved && e.Decision != nil && (e.Decision.Standing != nil || e.Decision.Kept != nil)
}

// EndsTasks reports whether the open tasks of a plan, or of all plans, end with e: the
// workflow is gone, so no events of its own will say so. See [Event.TaskEnded].
func (e Event) EndsTasks() bool {
	return (e.Kind == PlanMoved || e.Kind == ObjectiveMoved && ObjectiveStatus(e.To).Ended()) && e.Reason == Terminated
}

// TaskEnded returns the event with which a task in state from ends because of e.
func (e Event) TaskEnded(contextID, taskID string, from TaskState) Event {
	to := TaskFailed
	if from == TaskPending {
		to = TaskCanceled
	}
	return Event{
		N: e.N, Kind: TaskMoved, At: e.At, PlanID: e.PlanID, TaskID: taskID, From: string(from), To: string(to), Reason: Terminated,
		Status: a2a.AgentMessage(contextID, taskID, ":status", TerminatedText),
	}
}

// TerminatedText is the text for clients of work that has ended with the reason [Terminated].
const TerminatedText = "The work was ended by an operator."

// Fence returns a number that rises with the round, attempt, leg and try of the work on
// a task. An event whose fence is lower than one seen before is out of date. Fences of
// events from before there were legs are lower.
func (e Event) Fence() int64 {
	return int64(e.Round)<<44 | int64(e.Attempt)<<32 | int64(e.Leg)<<12 | int64(e.Try)
}

// Said returns the text that comes with a move of a task that works, "" for none.
func (e Event) Said() string {
	if e.Status == nil || TaskState(e.To) != TaskWorking {
		return ""
	}
	return e.Status.Text()
}

// PercentIn returns how much of a task is done by the status m of the agent, 0 if it does not say it.
func PercentIn(m *a2a.Message) (percent int) {
	if m == nil || m.Metadata.Decode(KeyProgress, &percent) != nil {
		return 0
	}
	return percent
}

// An ObjectiveHead is the part of an objective that changes during the work.
type ObjectiveHead struct {
	Status   ObjectiveStatus `json:"status"`
	Reason   string          `json:"reason,omitempty"`
	Failure  string          `json:"failure,omitempty"`
	Stopping string          `json:"stopping,omitempty"`
	Started  bool            `json:"started,omitempty"`
	Paused   bool            `json:"paused,omitempty"`
	QueuedAt a2a.Time        `json:"queuedAt,omitzero"`
	Attempt  int             `json:"attempt"`
	Revision int64           `json:"revision"`
	Shapers  []string        `json:"shapers,omitempty"`
}

// A PlanHead is the part of a plan that changes during the work.
type PlanHead struct {
	Status   PlanStatus `json:"status"`
	Reason   string     `json:"reason,omitempty"`
	Stopping string     `json:"stopping,omitempty"`
	Started  bool       `json:"started,omitempty"`
	Paused   bool       `json:"paused,omitempty"` // by a client
	Run      int        `json:"run,omitempty"`
}

// A Text is the name, description and metadata of an objective or a plan, and the
// dependencies of a plan.
type Text struct {
	Name         string       `json:"name"`
	Description  string       `json:"description,omitempty"`
	Metadata     a2a.Metadata `json:"metadata,omitempty"`
	Dependencies []string     `json:"dependencies,omitzero"`
}

// A Change holds the new values that a client gives an objective or a plan, apart
// from its status. A nil member changes nothing.
type Change struct {
	Name        *string      `json:"name,omitempty" param:"name,new name"`
	Description *string      `json:"description,omitempty" param:"description,text"`
	Metadata    a2a.Metadata `json:"metadata,omitzero" param:"metadata,replacement"` // replaces all keys that are the client's

	// Of a plan: ids that replace its dependencies.
	Dependencies []string `json:"dependencies,omitzero"`
}

// A Verdict is the outcome of a message from a client.
type Verdict string

// The verdicts.
const (
	Accepted   Verdict = "accepted"     // it answered the gate
	Noted      Verdict = "noted"        // it was added to the conversation
	NotWaiting Verdict = "not-waiting"  // it answered a gate that was not open
	NotOffered Verdict = "not-offered"  // it asked for an action that the gate does not offer
	NotAllowed Verdict = "not-allowed"  // it decided at a gate that others decide
	HasVoted   Verdict = "has-voted"    // it decided at a gate where the principal has already voted
	OtherThing Verdict = "other-object" // it decided about something else than the gate shows
	NotIdle    Verdict = "not-idle"     // it asked for work of an objective that had started already: it needs a new objective
	TooLate    Verdict = "too-late"     // the task had ended
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
	Source      string  `json:"source"` // the workflow id, or another name for a sequence of numbers
	Events      []Event `json:"events"`
	Under       int     `json:"under,omitempty"` // from a plan: the latest epoch of its objective that it knows; 0 for the first
}

// Last returns the number of the last event of b, 0 if it is empty.
func (b Batch) Last() int64 {
	if len(b.Events) == 0 {
		return 0
	}
	return b.Events[len(b.Events)-1].N
}

// ErrMove is wrapped by every error about a move that the tables do not allow.
var ErrMove = errors.New("invalid status transition")

// A MoveError reports a move that the tables do not allow.
type MoveError struct{ From, To string }

func (e *MoveError) Error() string {
	return fmt.Sprintf("Invalid status transition: %s → %s", e.From, e.To)
}

func (e *MoveError) Unwrap() error { return ErrMove }

// ErrUnknown is wrapped by errors about a plan or a task that does not exist.
var ErrUnknown = errors.New("unknown")
