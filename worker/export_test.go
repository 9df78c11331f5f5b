package worker

var (
	// NewSlots returns the slots of a worker.
	NewSlots = newSlots
	// WorkflowsIn returns how many workflows may be kept in some bytes.
	WorkflowsIn = workflowsIn
)
