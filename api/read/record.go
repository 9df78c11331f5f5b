package read

import (
	"context"
	"encoding/json"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
)

// An IDParams has the id of one thing.
type IDParams struct{ ID string }

// A TaskRecord is the durable record of an A2A task: its ids, state and progress,
// without any content of the work.
type TaskRecord struct {
	TaskID        string
	RunID         string // the objective that it belongs to
	ContextID     string
	State         a2a.TaskState
	InterruptKind opt.GateKind // of the question that it waits with; "" unless State is input-required
	UpdatedAt     a2a.Time     // of State
	Push          *PushRecord  // its oldest push config; nil for none
}

// A PushRecord is a push config without its secrets.
type PushRecord struct {
	URL              string
	TokenFingerprint string // "" for a config without a token
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
	ID          string // of the objective
	Status      RunStatus
	TaskID      string // of the plan task that is being worked on; "" before and after
	CompletedAt a2a.Time
	ErrorCode   string // of a failed run; else ""
	WorkflowURL string // of its page in the UI of Temporal; "" if that is not known
	Error       string
}

// A PushLister lists the push configs of a task, the oldest first.
type PushLister interface {
	Pushes(ctx context.Context, tenant, taskID string) ([]opt.PushConfig, error)
}

// Records reads durable records.
type Records struct {
	Journal PushLister
	Read    Reader
	Pushes  bool // the agent delivers states
	Links   Links
}

// GetTaskRecord returns the record of a root task or of a plan task.
func (s Records) GetTaskRecord(ctx context.Context, c *call.Call, p IDParams) (TaskRecord, error) {
	v, err := s.Read.Task(ctx, c, p.ID, opt.TaskWant{})
	if err != nil {
		return TaskRecord{}, err
	}
	push, err := s.push(ctx, c, v.Task.ID)
	if err != nil {
		return TaskRecord{}, err
	}
	return TaskRecord{
		Push: push, TaskID: v.Task.ID, RunID: v.ObjectiveID, ContextID: v.Task.ContextID,
		State: v.Task.Status.State, InterruptKind: waitingFor(v), UpdatedAt: v.Task.Status.At,
	}, nil
}

// push returns the oldest push config of a task, nil for none and for a caller who may
// not see it.
func (s Records) push(ctx context.Context, c *call.Call, taskID string) (*PushRecord, error) {
	if !s.Pushes || c.RequireScopes(call.ManageWebhooks) != nil {
		return nil, nil
	}
	list, err := s.Journal.Pushes(ctx, c.Tenant, taskID)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &PushRecord{URL: list[0].URL, TokenFingerprint: list[0].Fingerprint}, nil
}

// waitingFor returns the kind of the question that a task waits with, "" if its
// state is not input-required. The gate may be closed already; then the question
// still says its kind.
func waitingFor(v opt.TaskView) opt.GateKind {
	status := v.Task.Status
	if status.State != a2a.InputRequired {
		return ""
	}
	if len(v.Gates) > 0 && v.Gates[0].Kind != opt.Credential {
		return v.Gates[0].Kind
	}
	if status.Message != nil {
		for _, part := range status.Message.Parts {
			var gate opt.Gate
			if part.Data != nil && json.Unmarshal(part.Data, &gate) == nil && gate.Kind == opt.Approval {
				return opt.Approval
			}
		}
	}
	return opt.Clarification
}

// GetRun returns the run with the id of an objective, or of its root task in one
// attempt. The work of a plan task is not a separate run.
func (s Records) GetRun(ctx context.Context, c *call.Call, p IDParams) (Run, error) {
	v, err := s.Read.Task(ctx, c, p.ID, opt.TaskWant{})
	switch {
	case call.IsTaskUnknown(err), err == nil && !v.IsRoot:
		return Run{}, call.Missing("RUN_NOT_FOUND", "Run", p.ID)
	case err != nil:
		return Run{}, err
	}
	r := Run{ID: v.ObjectiveID, Status: runStatus(v), WorkflowURL: s.Links.Workflow(v.ObjectiveID)}
	if v.PlanID != "" {
		r.TaskID = opt.TaskID(v.PlanID, v.Index)
	}
	if !v.State.Ended() {
		return r, nil
	}
	r.CompletedAt = v.Task.Status.At
	if r.Status == RunFailed {
		r.ErrorCode, r.Error = string(RunFailed), "The run has failed"
		if message := v.Task.Status.Message; message != nil && message.Text() != "" {
			r.Error = message.Text()
		}
	}
	return r, nil
}

func runStatus(v opt.TaskView) RunStatus {
	switch v.Task.Status.State {
	case a2a.Completed:
		return RunCompleted
	case a2a.Failed, a2a.Rejected:
		return RunFailed
	case a2a.Canceled:
		return RunCancelled
	}
	switch {
	case v.Stopping == string(opt.ObjectiveCanceled):
		return RunCancelling
	case waitingFor(v) == opt.Approval:
		return RunWaitingApproval
	case v.Task.Status.State.Interrupted():
		return RunWaitingInput
	case v.Paused:
		return RunPaused
	case v.Task.Status.State == a2a.Submitted:
		return RunPending
	}
	return RunRunning
}
