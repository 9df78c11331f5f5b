package wire

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// A TaskRecord is the durable record of an A2A task: its ids, state and progress,
// without any content of the work. It is a closed object.
type TaskRecord struct {
	TaskID        string        `json:"taskId"`
	RunID         string        `json:"runId"` // the objective that it belongs to
	ContextID     string        `json:"contextId,omitempty"`
	State         a2a.TaskState `json:"state"`                   // in the words of 0.3
	InterruptKind opt.GateKind  `json:"interruptKind,omitempty"` // of the question that it waits with; only with input-required
	UpdatedAt     a2a.Time      `json:"updatedAt"`               // of state
	Push          *PushRecord   `json:"pushConfig,omitempty"`    // its oldest push config
}

// A PushRecord is a push config without its secrets.
type PushRecord struct {
	URL              string `json:"url"`
	TokenFingerprint string `json:"tokenFingerprint,omitempty"` // absent for a config without a token
}

// RunStatus is the status of a run: the state of an objective, in more detail than the
// states of A2A.
type RunStatus string

// The statuses of runs.
const (
	RunPending         RunStatus = "pending"
	RunRunning         RunStatus = "running"
	RunPaused          RunStatus = "paused"
	RunCancelling      RunStatus = "cancelling"
	RunWaitingApproval RunStatus = "waiting-approval"
	RunWaitingInput    RunStatus = "waiting-input"
	RunCompleted       RunStatus = "completed"
	RunFailed          RunStatus = "failed"
	RunCancelled       RunStatus = "cancelled"
)

// A Run is an objective as a run: one attempt at it.
type Run struct {
	RunID       string    `json:"runId"`                 // of the objective
	WorkflowID  string    `json:"workflowId"`            // the same
	WorkflowURL string    `json:"workflowUrl,omitempty"` // the page of the workflow in Temporal's UI, if the operator has named its URL
	Status      RunStatus `json:"status"`
	NodeID      string    `json:"currentNodeId,omitempty"` // the plan task that is being worked on
	CompletedAt a2a.Time  `json:"completedAt,omitzero"`
	Error       *RunError `json:"error,omitempty"` // of a failed run
	Usage       *Usage    `json:"usage,omitempty"` // of models, in all attempts
}

// A RunError says why a run has failed.
type RunError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// A PageError is the answer of a page that fails.
type PageError struct {
	Error   string         `json:"error"` // a constant for programs
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
}

// A Callback is the body of a request to a callback URL. One without any of its members only
// wakes the task.
type Callback struct {
	Text     string        `json:"text,omitempty"`      // progress, for clients
	Artifact *a2a.Artifact `json:"artifact,omitempty"`  // a piece of an artifact, whose id is local to the task
	Append   bool          `json:"append,omitempty"`    // the piece goes behind those before it; else it replaces them
	Last     bool          `json:"lastChunk,omitempty"` // no piece of the artifact follows
	Outcome  *opt.Outcome  `json:"outcome,omitempty"`   // ends the round
}
