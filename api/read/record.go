package read

import (
	"context"
	"encoding/json"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/outbox"
	"longhaul/opt/shown"
	"longhaul/opt/wire"
)

// An IDParams has the id of one thing.
type IDParams struct {
	ID string `param:"id,needed"`
}

// A PushLister lists the push configs of a task, the oldest first.
type PushLister interface {
	Pushes(ctx context.Context, tenant, taskID string) ([]outbox.PushConfig, error)
}

// Records reads durable records.
type Records struct {
	Journal PushLister
	Read    Reader
	Pushes  bool // the agent delivers states
	Links   Links
}

// GetTaskRecord returns the record of a root task or of a plan task.
func (s Records) GetTaskRecord(ctx context.Context, c *call.Call, p IDParams) (wire.TaskRecord, error) {
	v, err := s.Read.Task(ctx, c, p.ID, shown.TaskWant{})
	if err != nil {
		return wire.TaskRecord{}, err
	}
	push, err := s.push(ctx, c, v.Task.ID)
	if err != nil {
		return wire.TaskRecord{}, err
	}
	return wire.TaskRecord{
		Push: push, TaskID: v.Task.ID, RunID: v.ObjectiveID, ContextID: v.Task.ContextID,
		State: v.Task.Status.State, InterruptKind: waitingFor(v), UpdatedAt: v.Task.Status.At,
	}, nil
}

// push returns the oldest push config of a task, nil for none and for a caller who may
// not see it.
func (s Records) push(ctx context.Context, c *call.Call, taskID string) (*wire.PushRecord, error) {
	if !s.Pushes || c.RequireScopes(call.ManageWebhooks) != nil {
		return nil, nil
	}
	list, err := s.Journal.Pushes(ctx, c.Tenant, taskID)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &wire.PushRecord{URL: list[0].URL, TokenFingerprint: list[0].Fingerprint}, nil
}

// waitingFor returns the kind of the question that a task waits with, "" if its
// state is not input-required. The gate may be closed already; then the question
// still says its kind.
func waitingFor(v shown.TaskView) opt.GateKind {
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
func (s Records) GetRun(ctx context.Context, c *call.Call, p IDParams) (wire.Run, error) {
	v, err := s.Read.Task(ctx, c, p.ID, shown.TaskWant{})
	switch {
	case call.Is(err, call.TaskNotFound), err == nil && !v.IsRoot:
		return wire.Run{}, call.Missing("RUN_NOT_FOUND", "Run", p.ID)
	case err != nil:
		return wire.Run{}, err
	}
	r := wire.Run{RunID: v.ObjectiveID, WorkflowID: v.ObjectiveID, Status: runStatus(v), WorkflowURL: s.Links.Workflow(v.ObjectiveID), Usage: wire.UsageOf(v.Used)}
	if v.PlanID != "" {
		r.NodeID = opt.TaskID(v.PlanID, v.Index)
	}
	if !v.State.Ended() {
		return r, nil
	}
	r.CompletedAt = v.Task.Status.At
	if r.Status == wire.RunFailed {
		r.Error = &wire.RunError{Code: string(wire.RunFailed), Message: "The run has failed"}
		if message := v.Task.Status.Message; message != nil && message.Text() != "" {
			r.Error.Message = message.Text()
		}
	}
	return r, nil
}

func runStatus(v shown.TaskView) wire.RunStatus {
	switch v.Task.Status.State {
	case a2a.Completed:
		return wire.RunCompleted
	case a2a.Failed, a2a.Rejected:
		return wire.RunFailed
	case a2a.Canceled:
		return wire.RunCancelled
	}
	switch {
	case v.Stopping == string(opt.ObjectiveCanceled):
		return wire.RunCancelling
	case waitingFor(v) == opt.Approval:
		return wire.RunWaitingApproval
	case v.Task.Status.State.Interrupted():
		return wire.RunWaitingInput
	case v.Paused:
		return wire.RunPaused
	case v.Task.Status.State == a2a.Submitted:
		return wire.RunPending
	}
	return wire.RunRunning
}
