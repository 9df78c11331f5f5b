package wire

import (
	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/opt"
)

// taskRecord is the durable record of a task, a closed object.
type taskRecord struct {
	TaskID        string        `json:"taskId"`
	RunID         string        `json:"runId"`
	ContextID     string        `json:"contextId,omitempty"`
	State         a2a.TaskState `json:"state"` // in the words of 0.3 for all versions
	InterruptKind opt.GateKind  `json:"interruptKind,omitempty"`
	UpdatedAt     a2a.Time      `json:"updatedAt"`
	Push          *pushRecord   `json:"pushConfig,omitempty"`
}

type pushRecord struct {
	URL              string `json:"url"`
	TokenFingerprint string `json:"tokenFingerprint,omitempty"`
}

// run is one attempt at an objective.
type run struct {
	RunID       string         `json:"runId"`
	WorkflowID  string         `json:"workflowId"`
	WorkflowURL string         `json:"workflowUrl,omitempty"`
	Status      read.RunStatus `json:"status"`
	NodeID      string         `json:"currentNodeId,omitempty"`
	CompletedAt a2a.Time       `json:"completedAt,omitzero"`
	Error       *runError      `json:"error,omitempty"`
}

type runError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// ReadID reads the params of a page about one thing.
func ReadID(r *Reader) read.IDParams { return read.IDParams{ID: r.params().NeedText("id")} }

// TaskRecord returns the durable record of a task. It is the same in all versions.
func TaskRecord(_ Version, r read.TaskRecord) any {
	out := taskRecord{
		TaskID: r.TaskID, RunID: r.RunID, ContextID: r.ContextID, State: r.State, InterruptKind: r.InterruptKind, UpdatedAt: r.UpdatedAt,
	}
	if r.Push != nil {
		out.Push = &pushRecord{r.Push.URL, r.Push.TokenFingerprint}
	}
	return out
}

// Run returns a run. It is the same in all versions.
func Run(_ Version, r read.Run) any {
	out := run{RunID: r.ID, WorkflowID: r.ID, WorkflowURL: r.WorkflowURL, Status: r.Status, NodeID: r.TaskID, CompletedAt: r.CompletedAt}
	if r.ErrorCode != "" {
		out.Error = &runError{r.ErrorCode, r.Error}
	}
	return out
}
