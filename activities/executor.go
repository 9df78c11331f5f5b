package activities

import (
	"context"
	"encoding/json"

	"longhaul/a2a"
	"longhaul/opt"
)

// An Executor runs one kind of task.
//
// Execute may be called again for the same task, after a crash, a time-out or
// an error, so it must pass w.Key on as the idempotency key of whatever it asks
// of others. When ctx is done it should return soon; what it returns then is
// ignored.
//
// An error means that this attempt failed and may be repeated; an [Error] says
// why in a word that tasks can make exceptions for. A task that failed for good,
// or that the executor will not do, is an [Outcome], not an error. The text of
// both reaches clients, so it holds nothing secret. An Executor is used by many
// goroutines at once.
type Executor interface {
	Execute(ctx context.Context, w Work, out Stream) (Outcome, error)
}

// Work is what an executor is asked to do. It is the input of the Run activity,
// in any language, so its JSON is a public contract.
type Work struct {
	Tenant      string `json:"tenant"`
	ContextID   string `json:"contextId"`
	ObjectiveID string `json:"objectiveId"`
	PlanID      string `json:"planId"`
	TaskID      string `json:"taskId"`
	RootID      string `json:"rootId,omitempty"` // the root task, if it shows this task's artifacts as its own

	Objective   string          `json:"objective"` // names, for people and models
	Plan        string          `json:"plan"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Executor    string          `json:"executor,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"` // from the plan, for this executor; without a [Text] once that has it

	Messages []a2a.Message `json:"messages,omitempty"` // what clients said, oldest first; untrusted
	Results  []Result      `json:"results,omitempty"`  // of the tasks before this one
	Replies  []opt.Reply   `json:"replies,omitempty"`  // to the gates this task has opened, oldest first

	Round   int    `json:"round"`   // 1, and one more after each gate
	Attempt int    `json:"attempt"` // 1, and one more after each failure or gate
	Key     string `json:"key"`     // idempotency key: the same for every attempt of a round
	Trust   string `json:"contentTrust"`
}

// Untrusted is the trust tag of everything that clients send.
const Untrusted = "untrusted"

// A Result is what an earlier task made.
type Result struct {
	TaskID    string         `json:"taskId"`
	Name      string         `json:"name"`
	Artifacts []a2a.Artifact `json:"artifacts"`
}

// An Outcome is how a task came out: completed, failed for good, rejected, or
// waiting at a gate. Make one with [Completed], [Failed], [Rejected] or
// [WaitFor].
type Outcome struct {
	State     opt.TaskState  `json:"state"`
	Artifacts []a2a.Artifact `json:"artifacts,omitempty"` // of a completed task
	Streamed  []string       `json:"streamed,omitempty"`  // ids of those that the journal has from the stream
	Code      string         `json:"code,omitempty"`      // why it failed or was rejected, in one word
	Message   string         `json:"message,omitempty"`   // the same for clients
	Gate      *opt.Gate      `json:"gate,omitempty"`      // that it waits at; its id and times are the plan's to give
	Attempt   int            `json:"attempt,omitempty"`   // that came to this
}

// Completed is the outcome of a task that is done, with what it made. The ids
// of artifacts are local to the task.
func Completed(artifacts ...a2a.Artifact) Outcome {
	return Outcome{State: opt.TaskCompleted, Artifacts: artifacts}
}

// Failed is the outcome of a task that must not be tried again.
func Failed(code, message string) Outcome {
	return Outcome{State: opt.TaskFailed, Code: code, Message: message}
}

// Rejected is the outcome of a task that the agent will not do, as opposed to
// one that it tried. If the objective fails by it, its root task shows as
// rejected.
func Rejected(code, message string) Outcome {
	return Outcome{State: opt.TaskRejected, Code: code, Message: message}
}

// WaitFor is the outcome of a task that needs a person first. The task runs
// again, as a new round, once the gate has its answer.
func WaitFor(gate opt.Gate) Outcome {
	return Outcome{State: gate.State(), Gate: &gate}
}

// A Stream shows what a task makes while it is making it.
type Stream interface {
	// Chunk adds a piece of an artifact, whose id is local to the task. The
	// first piece of an artifact begins it anew, and last says that no other
	// follows. Pieces may be held back for a moment and written together; the
	// end of the attempt writes the rest. What was streamed is part of a
	// completed outcome without being repeated there.
	Chunk(ctx context.Context, piece a2a.Artifact, last bool) error
}
