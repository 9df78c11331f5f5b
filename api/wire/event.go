package wire

import (
	"longhaul/a2a"
	"longhaul/api/service"
	"longhaul/opt"
)

type statusUpdate10 struct {
	TaskID    string       `json:"taskId"`
	ContextID string       `json:"contextId"`
	Status    status       `json:"status"`
	Metadata  a2a.Metadata `json:"metadata,omitempty"`
}

type statusUpdate03 struct {
	Kind      string       `json:"kind"`
	TaskID    string       `json:"taskId"`
	ContextID string       `json:"contextId"`
	Status    status       `json:"status"`
	Final     bool         `json:"final"`
	Metadata  a2a.Metadata `json:"metadata,omitempty"`
}

type artifactUpdate10 struct {
	TaskID    string       `json:"taskId"`
	ContextID string       `json:"contextId"`
	Artifact  artifact     `json:"artifact"`
	Append    bool         `json:"append,omitempty"`
	LastChunk bool         `json:"lastChunk,omitempty"`
	Metadata  a2a.Metadata `json:"metadata,omitempty"`
}

type artifactUpdate03 struct {
	Kind string `json:"kind"`
	artifactUpdate10
}

// Event returns the wire form of e: in 1.0 under the name of the member that is
// set, in 0.3 without it.
func (v Version) Event(e service.StreamEvent) any {
	switch {
	case e.Task != nil:
		return v.wrap("task", v.task(WithObjective(*e.Task, e.Objective)))
	case e.Message != nil:
		return v.wrap("message", v.Message(*e.Message))
	case e.Status != nil:
		u := e.Status
		if v == V03 {
			return statusUpdate03{"status-update", u.TaskID, u.ContextID, v.status(u.Status), final(u), u.Metadata}
		}
		return v.wrap("statusUpdate", statusUpdate10{u.TaskID, u.ContextID, v.status(u.Status), u.Metadata})
	default:
		u := e.Artifact
		out := artifactUpdate10{u.TaskID, u.ContextID, v.artifact(u.Artifact), u.Append, u.LastChunk, u.Metadata}
		if v == V03 {
			return artifactUpdate03{"artifact-update", out}
		}
		return v.wrap("artifactUpdate", out)
	}
}

// final is the flag of a 0.3 status update: the stream ends with it. A stream
// stays open while an authorization elsewhere is needed, and after an update that
// only reports a change around the task.
func final(u *a2a.StatusUpdate) bool {
	if u.Metadata.Has(opt.KeyEvent) {
		return false
	}
	return u.Status.State.Terminal() || u.Status.State == a2a.InputRequired
}

func (v Version) wrap(name string, value any) any {
	if v == V03 {
		return value
	}
	return map[string]any{name: value}
}
