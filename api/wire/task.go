package wire

import (
	"encoding/json"
	"strings"

	"longhaul/a2a"
	"longhaul/api/service"
	"longhaul/opt"
)

type task10 struct {
	ID        string       `json:"id"`
	ContextID string       `json:"contextId"`
	Status    any          `json:"status"`
	Artifacts []any        `json:"artifacts,omitempty"`
	History   []any        `json:"history,omitempty"`
	Metadata  a2a.Metadata `json:"metadata,omitempty"`
}

type task03 struct {
	Kind string `json:"kind"`
	task10
}

type status struct {
	State   string   `json:"state"`
	At      a2a.Time `json:"timestamp,omitzero"`
	Message any      `json:"message,omitempty"`
}

type artifact struct {
	ArtifactID  string       `json:"artifactId"`
	Name        string       `json:"name,omitempty"`
	Description string       `json:"description,omitempty"`
	Parts       []any        `json:"parts"`
	Metadata    a2a.Metadata `json:"metadata,omitempty"`
	Extensions  []string     `json:"extensions,omitempty"`
}

// Task returns the wire form of t.
func (v Version) Task(t service.Task) any { return v.task(WithObjective(t.Task, t.Objective)) }

// WithObjective returns t with an objective in its metadata, unless that is nil.
func WithObjective(t a2a.Task, o *opt.Objective) a2a.Task {
	if o != nil {
		t.Metadata = t.Metadata.With(opt.KeyObjective, newObjective(o, true, true))
	}
	return t
}

func (v Version) task(t a2a.Task) any {
	out := task10{ID: t.ID, ContextID: t.ContextID, Status: v.status(t.Status), History: v.messages(t.History), Metadata: t.Metadata}
	for _, a := range t.Artifacts {
		out.Artifacts = append(out.Artifacts, v.artifact(a))
	}
	if v == V03 {
		return task03{"task", out}
	}
	return out
}

func (v Version) status(s a2a.TaskStatus) status {
	out := status{State: v.state(s.State), At: s.At}
	if s.Message != nil {
		out.Message = v.Message(*s.Message)
	}
	return out
}

func (v Version) artifact(a a2a.Artifact) artifact {
	return artifact{a.ArtifactID, a.Name, a.Description, v.parts(a.Parts), a.Metadata, a.Extensions}
}

const statePrefix = "TASK_STATE_"

func (v Version) state(s a2a.TaskState) string {
	if v == V03 {
		return string(s)
	}
	return statePrefix + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_"))
}

// stateNumbers are the numbers of the states in the 1.0 proto, which ProtoJSON
// allows in place of their names.
var stateNumbers = []a2a.TaskState{
	"", a2a.Submitted, a2a.Working, a2a.Completed, a2a.Failed, a2a.Canceled, a2a.InputRequired, a2a.Rejected, a2a.AuthRequired,
}

// state reads the state that a list selects, "" for any.
func (o object) state(name string) a2a.TaskState {
	raw := o.find(name)
	if raw == nil {
		return ""
	}
	var n int
	if o.r.Version == V10 && json.Unmarshal(raw, &n) == nil && n >= 0 && n < len(stateNumbers) {
		return stateNumbers[n]
	}
	var word string
	if json.Unmarshal(raw, &word) == nil {
		if word == "" || word == statePrefix+"UNSPECIFIED" {
			return ""
		}
		for _, s := range a2a.TaskStates {
			if word == V10.state(s) || word == string(s) && o.r.Version == V03 {
				return s
			}
		}
	}
	var words []string
	for _, s := range a2a.TaskStates {
		words = append(words, o.r.Version.state(s))
	}
	o.wrong(name, mustBeOneOf(words))
	return ""
}
