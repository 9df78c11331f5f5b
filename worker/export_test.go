package worker

var (
	// NewSlots returns the slots of a worker.
	NewSlots = newSlots
	// NewQuietSlots returns the slots of workflow tasks.
	NewQuietSlots = newQuietSlots
	// WorkflowsIn returns how many workflows may be kept in some bytes.
	WorkflowsIn = workflowsIn
)
