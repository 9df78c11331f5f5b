// Package refuse is an executor for requests that no skill takes: it rejects its
// task, and so the whole request, with the task's description as the reason. It is
// for planners that have no plan for a request.
package refuse

import (
	"cmp"
	"context"

	"longhaul/activities"
)

// Kind is the name of the executor in plans.
const Kind = "refuse"

// Code is the code of a refusal.
const Code = "no-skill"

// Executor is the executor. Its zero value is ready.
type Executor struct{}

// Execute implements [activities.Executor]. It has no side effects, so a second
// run is harmless.
func (Executor) Execute(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	return activities.Rejected(Code, cmp.Or(w.Description, "No skill takes this request.")), nil
}
