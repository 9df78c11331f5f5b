package opt

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"longhaul/a2a"
)

// A Task is one step of a plan.
type Task struct {
	ID           string       `json:"id"`
	Index        int          `json:"taskIndex"`
	Name         string       `json:"name"`
	Description  string       `json:"description,omitempty"`
	Dependencies []string     `json:"dependencies,omitzero"` // ids of tasks of the same plan; nil if it declares none, and so follows the list
	State        TaskState    `json:"status"`
	Metadata     a2a.Metadata `json:"metadata,omitempty"`

	Executor string          `json:"executor,omitempty"` // the kind of work; "" for the worker's default
	Input    json.RawMessage `json:"input,omitempty"`    // only the executor reads it
	Ask      *Gate           `json:"ask,omitempty"`      // of a task that only opens a gate
	Attempts int             `json:"attempts,omitempty"` // limit per round; 0 for the default
	Timeout  int             `json:"timeout,omitempty"`  // seconds that one attempt may take; 0 for the default
	Retry    Retry           `json:"retry,omitzero"`     // when to make another attempt
	Uses     []string        `json:"uses,omitempty"`     // ids of the tasks before it whose results its input names
	Check    bool            `json:"check,omitempty"`    // its result is a [Finding], and no input of others
	Taken    *Taken          `json:"taken,omitempty"`    // it was not done here; nil for one that was, or has yet to be
	Standing string          `json:"standing,omitempty"` // [Gate.Standing] of its approvals
	Earlier  []Original      `json:"earlier,omitempty"`  // of a fork: the decisions at its gates in the original, oldest first

	Gate      *Gate          `json:"gate,omitempty"`    // open now
	Gates     int            `json:"gates,omitempty"`   // opened so far
	Replies   []Reply        `json:"replies,omitempty"` // accepted so far, oldest first
	Refined   []Reply        `json:"refined,omitempty"` // by which its results were sent back at gates of later tasks, oldest first
	Notes     []a2a.Message  `json:"notes,omitempty"`   // messages of clients that decide nothing
	Artifacts []a2a.Artifact `json:"artifacts,omitempty"`
	Link      string         `json:"link,omitempty"`    // A2A task that stands in for it
	Follow    bool           `json:"follow,omitempty"`  // Link is a task of this server, whose end ends this one; else a client moves this one
	Run       int            `json:"run,omitempty"`     // number of the attempt in which it was last reset; 0 for the first
	ByHand    bool           `json:"byHand,omitempty"`  // moved by a client, not by an activity
	Failure   string         `json:"failure,omitempty"` // text for clients if it failed or was rejected
	Reason    string         `json:"reason,omitempty"`  // the same as a code

	Said    string `json:"-"` // the agent's latest text about the work on it, as far as it is known here
	Percent int    `json:"-"` // how much of it is done by that text; 0 if it does not say
	Used    Used   `json:"-"` // as the journal has it
	Waits   string `json:"-"` // why it waits for a worker, for readers; "" if it does not, or that is not known
}

// String returns t on one line, for people.
func (t Task) String() string { return oneLine("task", t.ID, t.Name, string(t.State), t.Reason) }

// A2AID returns the id of the A2A task that shows t. Each attempt has its own, since
// an A2A task never leaves a final state.
func (t *Task) A2AID() string { return RootID(t.ID, t.Run) }

// retry makes t pending in a new attempt, unless it is completed.
func (t *Task) retry(attempt int) {
	if t.State != TaskCompleted {
		t.reset(attempt)
	}
}

// reset makes t pending in a new attempt.
func (t *Task) reset(attempt int) {
	*t = Task{
		ID: t.ID, Index: t.Index, Name: t.Name, Description: t.Description, Dependencies: t.Dependencies, State: TaskPending,
		Metadata: t.Metadata, Executor: t.Executor, Input: t.Input, Ask: t.Ask, Attempts: t.Attempts, Timeout: t.Timeout,
		Retry: t.Retry, Uses: t.Uses, Check: t.Check, Standing: t.Standing, Earlier: t.Earlier,
		Gates: t.Gates, Notes: t.Notes, Refined: t.Refined, Link: t.Link, Follow: t.Follow, Run: attempt,
	}
}

// Original returns the latest decision of the original about an object with a digest, nil for none.
func (t *Task) Original(digest string) *Original {
	for _, o := range slices.Backward(t.Earlier) {
		if o.ObjectDigest == digest {
			return &o
		}
	}
	return nil
}

// Optional reports whether the plan continues if the task fails.
func (t *Task) Optional() bool { return t.Metadata.Bool(KeyOptional) }

// Done reports whether tasks that depend on t may start.
func (t *Task) Done() bool {
	return t.State == TaskCompleted || t.State.Ended() && t.Optional()
}

// Broken reports whether the task ended in a way that fails its plan.
func (t *Task) Broken() bool { return t.State.Ended() && !t.Done() }

// Running reports whether the task holds one of its plan's slots.
func (t *Task) Running() bool {
	return t.State == TaskSubmitted || t.State == TaskWorking && !t.Awaits()
}

// MayTake returns how long one attempt at the task may take.
func (t *Task) MayTake(l Limits) time.Duration {
	return time.Duration(cmp.Or(t.Timeout, l.OrDefault().Timeout)) * time.Second
}

// Awaits reports whether the task has sent its object back and waits until it is
// made again. Then it opens its gate again.
func (t *Task) Awaits() bool { return t.State == TaskWorking && t.Reason == SentBack }

func (t *Task) move(e Event) {
	if e.Gate != nil && !e.Gate.Budget && (t.Gate == nil || t.Gate.ID != e.Gate.ID) || e.Passes() {
		t.Gates++
	}
	t.State, t.Reason, t.Gate, t.Said = TaskState(e.To), e.Reason, e.Gate, e.Said()
	t.ByHand = t.ByHand || e.Reason == ByHand
	if (t.State == TaskFailed || t.State == TaskRejected) && e.Status != nil {
		t.Failure = e.Status.Text()
	}
}

func (t *Task) onEvent(e Event) {
	switch e.Verdict {
	case Accepted:
		if e.Reply.Action == Ask || t.Gate != nil && t.Gate.Budget {
			return
		}
		t.Replies = append(t.Replies, *e.Reply)
	case Noted:
		note := *e.Message
		note.Metadata = note.Metadata.With(KeyAuthor, e.Principal) // for executors
		if !HasNote(t.Notes, note) {                               // else it came again after a retry, which keeps notes
			t.Notes = append(t.Notes, note)
		}
	}
}

// HasNote reports whether a message with its author is among notes.
func HasNote(notes []a2a.Message, m a2a.Message) bool {
	author, _ := m.Metadata.String(KeyAuthor)
	return slices.ContainsFunc(notes, func(had a2a.Message) bool {
		by, _ := had.Metadata.String(KeyAuthor)
		return had.MessageID == m.MessageID && by == author && had.Text() == m.Text()
	})
}

// keep adds an artifact to t. If t has one with the same id, such as from an earlier
// round, it is replaced, or extended by the parts of a chunk to append.
func (t *Task) keep(c Chunk) {
	i := slices.IndexFunc(t.Artifacts, func(a a2a.Artifact) bool { return a.ArtifactID == c.Artifact.ArtifactID })
	switch {
	case i < 0:
		t.Artifacts = append(t.Artifacts, c.Artifact)
	case c.Append:
		t.Artifacts[i].Parts = a2a.AppendParts(slices.Clone(t.Artifacts[i].Parts), c.Artifact.Parts...)
	default:
		t.Artifacts[i] = c.Artifact
	}
}

// Reasons of moves that no executor makes.
const (
	ByHand           = "by-hand"     // a client made the move
	ReasonLinked     = "linked"      // the linked task ended in this state
	HeldByQuota      = "quota"       // a quota is used up, and its next step waits
	WaitsForWorker   = "worker"      // it has begun, and may wait for a worker; for readers alone
	SentBack         = "sent-back"   // a person has sent back what the task asked about
	ReasonWorkerLost = "worker-lost" // one worker after another was lost while it ran the task, which is not attempted again
)

// Taken says that a task of a fork was not done there: a task of the original, whose inputs had the
// same digest, has made its artifacts.
type Taken struct {
	TaskID    string         `json:"taskId"` // of the A2A task that has done the work
	Digest    string         `json:"digest"` // of the inputs
	ByHand    bool           `json:"byHand,omitempty"`
	Artifacts []a2a.Artifact `json:"artifacts,omitempty"` // in a [TaskSpec] alone
}

// A ForkOf names the event of an objective from which a fork continues.
type ForkOf struct {
	ObjectiveID string `json:"objectiveId"`
	Event       int64  `json:"event"`
}

// takeOver completes t, which is new, with the work of another task.
func (t *Task) takeOver(from Taken) {
	t.State, t.ByHand, t.Artifacts = TaskCompleted, from.ByHand, from.Artifacts
	if from.ByHand {
		t.Reason = ByHand
	}
	from.Artifacts = nil
	t.Taken = &from
}

// A Retry says when another attempt at a task is made. The zero value is the
// default.
type Retry struct {
	Wait   int      `json:"wait,omitempty"`   // seconds before the second attempt, doubled before each further one
	Except []string `json:"except,omitempty"` // codes of failures that are not retried
}

// A TaskSpec asks for a task. In Dependencies and Uses, "task-0" is the first
// task of the same request, or of the plan it is added to. Without Dependencies it
// follows the task before it; with an empty list it follows none.
type TaskSpec struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	Dependencies []string        `json:"dependencies,omitzero"`
	Metadata     a2a.Metadata    `json:"metadata,omitempty"`
	Executor     string          `json:"executor,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	Ask          *Gate           `json:"ask,omitempty"`
	Attempts     int             `json:"attempts,omitempty"`
	Timeout      int             `json:"timeout,omitempty"`
	Retry        Retry           `json:"retry,omitzero"`
	Uses         []string        `json:"uses,omitempty"` // tasks before this one whose results it uses
	Check        bool            `json:"check,omitempty"`
	Taken        *Taken          `json:"taken,omitempty"` // of a fork: it is done already
	Notes        []a2a.Message   `json:"notes,omitempty"` // of a fork: those that the task has had, with their authors
	Standing     string          `json:"standing,omitempty"`
	Earlier      []Original      `json:"earlier,omitempty"` // of a fork
}

// A PlanSpec asks for a plan. In Dependencies, which are like a TaskSpec's,
// "plan-0" is the first plan of the same request.
type PlanSpec struct {
	Name         string       `json:"name"`
	Description  string       `json:"description,omitempty"`
	Dependencies []string     `json:"dependencies,omitzero"`
	Metadata     a2a.Metadata `json:"metadata,omitempty"`
	Tasks        []TaskSpec   `json:"tasks,omitempty"`
	Budget       *Budget      `json:"budget,omitempty"` // of all work on the objective, by its playbook
	Own          *Budget      `json:"own,omitempty"`    // of this plan alone, by its playbook
}
