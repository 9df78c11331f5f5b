package worker

import "go.temporal.io/sdk/interceptor"

var (
	// NewSlots returns the slots of a worker.
	NewSlots = newSlots
	// WorkflowsIn returns how many workflows may be kept in some bytes.
	WorkflowsIn = workflowsIn
)

// Refusals returns what calls note with each refused run.
func Refusals(note func(runID string)) interceptor.WorkerInterceptor { return &refusals{note: note} }
