package activities

import (
	"context"

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
// An error means that this attempt failed: the task is attempted again, as often
// as it may be; an [Error] says why in a word that tasks can make exceptions for.
// A worker that is lost or stopped costs no attempt. A task that failed for good,
// or that the executor will not do, is an [Outcome], not an error. The text of
// both reaches clients, so it holds nothing secret. An Executor is used by many
// goroutines at once.
type Executor interface {
	Execute(ctx context.Context, w Work, out Stream) (Outcome, error)
}

// What an executor is given and gives back. The JSON of these types is a public
// contract.
type (
	Work    = opt.Work
	Result  = opt.Result
	Outcome = opt.Outcome // make one with [Completed], [Failed], [Rejected] or [WaitFor]
)

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
