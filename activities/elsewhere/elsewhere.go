// Package elsewhere runs tasks on Temporal workers outside Longhaul, in any language: a
// task names a task queue and an activity type. Use it where a team has workers of its
// own, or where a language other than Go fits the work.
//
// The activity gets the work of the task as JSON and returns an outcome. Any other value
// that it returns is the result of the task. Its retries, heartbeats and cancellation are
// Temporal's. A leg of ours comes before it, since a workflow cannot fill in references to large
// contents or make the callback URL, which needs a key; one after it checks the outcome.
package elsewhere

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"longhaul/activities"
	"longhaul/opt"
)

// Kind is the kind of tasks that the executor runs.
const Kind = "temporal"

// Codes of rejections.
const (
	CodeInput    = "bad-input"
	CodeTooLarge = "input-too-large"
)

// maxInput is how large the argument of an activity may be, in bytes. Temporal refuses
// 2 MiB.
const maxInput = 1536 << 10

// maxHeartbeat is the longest time without a heartbeat that a task may ask for.
const maxHeartbeat = 24 * time.Hour

// An Executor passes tasks on to other queues. Its zero value is ready, and may be used
// from any goroutine.
type Executor struct{}

// input is the input of a task.
type input struct {
	Queue     string          `json:"queue"`
	Activity  string          `json:"activity"`
	Heartbeat string          `json:"heartbeat"` // as in "30s"; "" for no heartbeats
	Data      json.RawMessage `json:"data"`
}

// Execute implements [activities.Executor].
func (Executor) Execute(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	var in input
	if err := activities.ReadInput(w, &in); err != nil || in.Queue == "" || in.Activity == "" {
		return activities.Rejected(CodeInput, "The input of the task must have a queue and an activity, and may have a heartbeat and data."), nil
	}
	var heartbeat time.Duration
	if in.Heartbeat != "" {
		var err error
		if heartbeat, err = opt.ParseSpan(in.Heartbeat); err != nil || heartbeat < time.Second || heartbeat > maxHeartbeat {
			return activities.Rejected(CodeInput, fmt.Sprintf("The heartbeat %q of the task must be a duration between 1s and 24h.", in.Heartbeat)), nil
		}
	}
	w.Input = in.Data
	argument, err := json.Marshal(w)
	if err != nil {
		return activities.Outcome{}, err
	}
	if len(argument) > maxInput {
		return activities.Rejected(CodeTooLarge, fmt.Sprintf(
			"The work has %d bytes, and an activity of another worker gets at most %d: let the tasks before it store large results and return their URLs.", len(argument), maxInput)), nil
	}
	return activities.Outcome{State: opt.TaskWorking, Park: &opt.Park{
		Elsewhere: &opt.Elsewhere{Queue: in.Queue, Activity: in.Activity, Input: argument, Heartbeat: int(heartbeat / time.Second)},
	}}, nil
}
