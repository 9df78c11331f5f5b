package harness

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// A Message is a message from a test. ID is required.
type Message struct {
	ID        string
	Text      string
	Data      any // a data part, if not nil
	TaskID    string
	ContextID string
	Plan      *Plan   // goes into the metadata
	Plans     []*Plan // of a new objective; they go there too
	Accept    any     // criteria for the result, if not nil; they go there too
	Wait      bool    // for the work, as a blocking send
}

// A Plan is a plan in a message, or one that is added to an objective. The
// description of a task is a script for the echo executor.
type Plan struct {
	Name         string         `json:"name"`
	Tasks        []PlanTask     `json:"tasks"`
	Dependencies []string       `json:"dependencies,omitzero"` // ids, or "plan-0" for the first plan in the message; nil: it follows the one before it
	Metadata     map[string]any `json:"metadata,omitempty"`
}

// A PlanTask is a task of a Plan. Dependencies name tasks of the plan by index:
// "task-0". Without them, a task follows the one before it.
type PlanTask struct {
	Name         string         `json:"name"`
	Description  string         `json:"description,omitempty"`
	Dependencies []string       `json:"dependencies,omitzero"`
	Metadata     map[string]any `json:"metadata,omitempty"`
}

// Optional is the metadata of a plan or a task whose failure does not matter.
func Optional() map[string]any { return map[string]any{"opt/v1/optional": true} }

// NewPlan returns a plan whose tasks run these scripts, one after another.
func NewPlan(name string, scripts ...string) *Plan {
	p := &Plan{Name: name}
	for _, script := range scripts {
		p.Tasks = append(p.Tasks, PlanTask{Name: script[:min(len(script), 60)], Description: script})
	}
	return p
}

// Unordered lets the tasks of p run at the same time, except the last, which
// depends on all others.
func (p *Plan) Unordered() *Plan {
	last := len(p.Tasks) - 1
	for i := range last {
		p.Tasks[i].Dependencies = []string{}
		p.Tasks[last].Dependencies = append(p.Tasks[last].Dependencies, fmt.Sprint("task-", i))
	}
	return p
}

// Reply returns the message that decides at an approval, with the action "accept"
// or "reject".
func Reply(id, taskID, gateID, action string) Message {
	return Message{ID: id, TaskID: taskID, Data: map[string]any{"interruptId": gateID, "action": action}}
}

// params returns the params of a send.
func (m Message) params() map[string]any {
	var parts []any
	if m.Text != "" {
		parts = append(parts, map[string]any{"text": m.Text})
	}
	if m.Data != nil {
		parts = append(parts, map[string]any{"data": m.Data})
	}
	message := map[string]any{"messageId": m.ID, "role": "ROLE_USER", "parts": parts}
	if m.TaskID != "" {
		message["taskId"] = m.TaskID
	}
	if m.ContextID != "" {
		message["contextId"] = m.ContextID
	}
	switch {
	case m.Plan != nil:
		message["metadata"] = map[string]any{"opt/v1/plan": m.Plan}
	case m.Plans != nil:
		message["metadata"] = map[string]any{"opt/v1/objective": map[string]any{"name": m.ID, "plans": m.Plans}}
	case m.Accept != nil:
		message["metadata"] = map[string]any{"longhaul/v1/accept": m.Accept}
	}
	return map[string]any{"message": message, "configuration": map[string]any{"returnImmediately": !m.Wait}}
}

// A Task is an A2A task. State is without its prefix: WORKING.
type Task struct {
	ID        string
	ContextID string
	State     string
	Message   string // of the status, as text
	Gate      *Gate  // that it waits at
	Artifacts []Artifact
	History   []string        // message ids
	Pending   bool            // a reply waits to be judged
	Raw       json.RawMessage // all of it
}

// A Gate is the gate of a waiting task.
type Gate struct {
	ID     string `json:"interruptId"`
	Kind   string `json:"kind"`
	TaskID string `json:"taskId"`
	Title  string `json:"title"`
	Digest string `json:"objectDigest"`
	Taken  int    `json:"taken"` // steps of its ladder
	Next   struct {
		Kind string    `json:"kind"`
		At   time.Time `json:"at"`
	} `json:"nextStep"`
}

// An Artifact is what a task made, as text.
type Artifact struct{ ID, Text string }

// Ended reports whether t has ended.
func (t *Task) Ended() bool { return ended(t.State) }

func ended(state string) bool {
	switch state {
	case "COMPLETED", "FAILED", "CANCELED", "REJECTED":
		return true
	}
	return false
}

type wireMessage struct {
	MessageID string `json:"messageId"`
	Parts     []struct {
		Text string `json:"text"`
	} `json:"parts"`
}

func (m wireMessage) text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

type wireStatus struct {
	State   string      `json:"state"`
	Message wireMessage `json:"message"`
}

// UnmarshalJSON reads a task as A2A 1.0 has it.
func (t *Task) UnmarshalJSON(data []byte) error {
	var in struct {
		ID        string     `json:"id"`
		ContextID string     `json:"contextId"`
		Status    wireStatus `json:"status"`
		Artifacts []struct {
			ArtifactID string `json:"artifactId"`
			wireMessage
		} `json:"artifacts"`
		History  []wireMessage `json:"history"`
		Metadata struct {
			OpenWOP struct {
				Interrupt *Gate `json:"interrupt"`
			} `json:"openwop"`
			Pending bool `json:"longhaul/v1/replyPending"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*t = Task{
		ID: in.ID, ContextID: in.ContextID, State: shortState(in.Status.State), Message: in.Status.Message.text(),
		Gate: in.Metadata.OpenWOP.Interrupt, Pending: in.Metadata.Pending, Raw: append(json.RawMessage(nil), data...),
	}
	for _, a := range in.Artifacts {
		t.Artifacts = append(t.Artifacts, Artifact{a.ArtifactID, a.text()})
	}
	for _, m := range in.History {
		t.History = append(t.History, m.MessageID)
	}
	return nil
}

func shortState(s string) string { return strings.TrimPrefix(s, "TASK_STATE_") }
