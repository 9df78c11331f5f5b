package client

import (
	"encoding/json"
	"fmt"
	"strings"

	"longhaul/a2a"
)

// The types of this file are those of package a2a as version 1.0 writes them.
// Parts and artifacts are the same in both.

const (
	statePrefix = "TASK_STATE_"
	rolePrefix  = "ROLE_"
)

type wireState a2a.TaskState

func (s wireState) MarshalText() ([]byte, error) {
	return []byte(statePrefix + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_"))), nil
}

func (s *wireState) UnmarshalText(text []byte) error {
	word := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(string(text), statePrefix)), "_", "-")
	if !a2a.TaskState(word).Valid() {
		return fmt.Errorf("%q is not a task state, which must be one of: %s", text, states())
	}
	*s = wireState(word)
	return nil
}

// states returns the states as version 1.0 writes them.
func states() string {
	words := make([]string, len(a2a.TaskStates))
	for i, s := range a2a.TaskStates {
		word, _ := wireState(s).MarshalText()
		words[i] = string(word)
	}
	return strings.Join(words, ", ")
}

type wireRole a2a.Role

func (r wireRole) MarshalText() ([]byte, error) {
	return []byte(rolePrefix + strings.ToUpper(string(r))), nil
}

func (r *wireRole) UnmarshalText(text []byte) error {
	*r = wireRole(strings.ToLower(strings.TrimPrefix(string(text), rolePrefix)))
	return nil
}

type wireMessage struct {
	MessageID        string       `json:"messageId"`
	ContextID        string       `json:"contextId,omitempty"`
	TaskID           string       `json:"taskId,omitempty"`
	Role             wireRole     `json:"role"`
	Parts            []a2a.Part   `json:"parts"`
	Metadata         a2a.Metadata `json:"metadata,omitempty"`
	Extensions       []string     `json:"extensions,omitempty"`
	ReferenceTaskIDs []string     `json:"referenceTaskIds,omitempty"`
}

func toWire(m a2a.Message) wireMessage {
	return wireMessage{m.MessageID, m.ContextID, m.TaskID, wireRole(m.Role), m.Parts, m.Metadata, m.Extensions, m.ReferenceTaskIDs}
}

func (m *wireMessage) model() *a2a.Message {
	if m == nil {
		return nil
	}
	return &a2a.Message{
		MessageID: m.MessageID, ContextID: m.ContextID, TaskID: m.TaskID, Role: a2a.Role(m.Role), Parts: m.Parts,
		Metadata: m.Metadata, Extensions: m.Extensions, ReferenceTaskIDs: m.ReferenceTaskIDs,
	}
}

type wireStatus struct {
	State   wireState    `json:"state"`
	Message *wireMessage `json:"message"`
	At      a2a.Time     `json:"timestamp"`
}

func (s wireStatus) model() a2a.TaskStatus {
	return a2a.TaskStatus{State: a2a.TaskState(s.State), Message: s.Message.model(), At: s.At}
}

type wireTask struct {
	ID        string         `json:"id"`
	ContextID string         `json:"contextId"`
	Status    wireStatus     `json:"status"`
	Artifacts []a2a.Artifact `json:"artifacts"`
	History   []wireMessage  `json:"history"`
	Metadata  a2a.Metadata   `json:"metadata"`
}

func (t *wireTask) model() *a2a.Task {
	if t == nil {
		return nil
	}
	out := &a2a.Task{ID: t.ID, ContextID: t.ContextID, Status: t.Status.model(), Artifacts: t.Artifacts, Metadata: t.Metadata}
	for _, m := range t.History {
		out.History = append(out.History, *m.model())
	}
	return out
}

type wireEvent struct {
	Task         *wireTask    `json:"task"`
	Message      *wireMessage `json:"message"`
	StatusUpdate *struct {
		TaskID    string       `json:"taskId"`
		ContextID string       `json:"contextId"`
		Status    wireStatus   `json:"status"`
		Metadata  a2a.Metadata `json:"metadata"`
	} `json:"statusUpdate"`
	ArtifactUpdate *a2a.ArtifactUpdate `json:"artifactUpdate"`
}

// readEvent reads the result of a send, or an element of a stream.
func readEvent(id string, raw json.RawMessage) (Event, error) {
	var w wireEvent
	if err := json.Unmarshal(raw, &w); err != nil {
		return Event{}, fmt.Errorf("read an event: %w", err)
	}
	e := Event{ID: id, Raw: raw}
	e.Task, e.Message, e.Artifact = w.Task.model(), w.Message.model(), w.ArtifactUpdate
	if u := w.StatusUpdate; u != nil {
		e.Status = &a2a.StatusUpdate{TaskID: u.TaskID, ContextID: u.ContextID, Status: u.Status.model(), Metadata: u.Metadata}
	}
	if e.Event == (a2a.Event{}) {
		return Event{}, fmt.Errorf("read an event: its kind is unknown")
	}
	return e, nil
}
