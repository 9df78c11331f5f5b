package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// An Executor runs one kind of task.
//
// Execute may be called again for the same task, after a crash, a time-out or an
// error, so it must send w.Key as the idempotency key of its requests to others.
// When ctx is done it should return soon; its results are then ignored.
//
// An error means that this attempt failed: the task is attempted again, up to its
// limit. An [Error] has a code for which tasks can exclude a retry. A worker that
// is lost or stopped uses up no attempt. If the task failed for good, or the
// executor refuses it, Execute returns an [Outcome], not an error. Clients see
// the text of both, so it must not hold secrets. Many goroutines use an Executor
// at once.
//
// Work that takes long, or whose parts must not be repeated, is done in legs: an
// outcome of [Continue] or [ParkFor] ends a leg and keeps a memo, and Execute is
// called again with it.
type Executor interface {
	Execute(ctx context.Context, w Work, out Stream) (Outcome, error)
}

// A Namer is an executor whose tasks name things that the operator lists, such as commands. A
// playbook that names others is refused at the start.
type Namer interface{ Named() []Named }

// A Named is a member of the input of tasks, which has one of some names.
type Named struct {
	Member   string // of the input; also what it names, such as "command"
	Names    []string
	Optional bool // the input need not have it
}

// The arguments and results of an executor. The JSON of these types is a public
// contract.
type (
	Work    = opt.Work
	Result  = opt.Result
	Outcome = opt.Outcome // make one with [Completed], [Failed], [Rejected], [WaitFor], [Continue] or [ParkFor]
)

// ReadInput reads the input of w. Numbers of any form keep their digits, and members that to
// does not have are an error.
func ReadInput(w Work, to any) error {
	d := json.NewDecoder(bytes.NewReader(w.Input))
	d.UseNumber()
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// ReadMemo reads the memo of w. If it has none, to stays as it is.
func ReadMemo(w Work, to any) error {
	if len(w.Memo) == 0 {
		return nil
	}
	if err := json.Unmarshal(w.Memo, to); err != nil {
		return fmt.Errorf("read the memo of the task: %w", err)
	}
	return nil
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

// Rejected is the outcome of a task that the agent refuses to do. If the
// objective fails because of it, its root task is rejected.
func Rejected(code, message string) Outcome {
	return Outcome{State: opt.TaskRejected, Code: code, Message: message}
}

// WaitFor is the outcome of a task that needs a person first. The task runs
// again, as a new round, when the gate has its answer. The gate may have a ladder: if
// an approval expires, its answer is accept or reject by [opt.ByTimer]; another gate
// that expires fails the task.
func WaitFor(gate opt.Gate) Outcome {
	return Outcome{State: gate.State(), Gate: &gate}
}

// Continue is the outcome of a leg after which the next one begins at once. A crash
// repeats only the leg that was running, not those before it. memo is written as JSON and comes back in [Work].
func Continue(memo any) Outcome { return ParkFor(0, memo, "") }

// ParkFor is the outcome of a leg after which the task waits, without a worker, for d
// or until a callback arrives, whichever comes first. memo is written as JSON and comes
// back in [Work]; text is the reason for the wait, for clients.
func ParkFor(d time.Duration, memo any, text string) Outcome {
	out := Outcome{State: opt.TaskWorking, Park: &opt.Park{Wait: d.Milliseconds(), Text: text}}
	return Keeping(out, memo)
}

// Keeping returns o with memo, which is written as JSON and comes back in the next
// [Work] of the task. It panics if memo cannot be written as JSON.
func Keeping(o Outcome, memo any) Outcome {
	text, err := json.Marshal(memo)
	if err != nil {
		panic(err)
	}
	o.Memo = text
	return o
}

// A Stream shows what a task makes while it is making it.
type Stream interface {
	// Chunk adds a piece of an artifact, whose id is local to the task; last says that no
	// piece follows. The first piece of an artifact in a leg replaces the artifact: what earlier
	// legs and attempts have streamed of it is lost. So work that streams in several legs uses an
	// id for each, or begins a leg with the text so far, from its memo, and calls Replace. Pieces
	// may be held back for a moment and written together; the end of the leg writes the rest. An
	// outcome includes the pieces of its leg and need not repeat them.
	Chunk(ctx context.Context, piece a2a.Artifact, last bool) error

	// Replace is Chunk for a piece that replaces the artifact, though the leg or an earlier one has
	// pieces of it.
	Replace(ctx context.Context, piece a2a.Artifact, last bool) error

	// Progress shows clients what the task does now, and how much of it is done: up to 1, or 0
	// if that is not known. It returns at once and costs the workflow nothing, so it may be
	// called often. Of texts that come fast the latest is shown, after a pause that grows up to
	// half a minute. It stays when the attempt fails or its worker is lost, until there is
	// another one.
	Progress(text string, fraction float64)
}
