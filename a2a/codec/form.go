package codec

import (
	"encoding/json"

	"longhaul/a2a"
)

// The types of this file are the forms of those of package a2a, with the members of both
// versions: no member has two meanings. They are written and read by them.

type part struct {
	Kind      string          `json:"kind,omitempty"` // in 0.3
	Text      *string         `json:"text,omitempty"`
	File      *file           `json:"file,omitempty"` // in 0.3
	Raw       *string         `json:"raw,omitempty"`  // base64
	URL       *string         `json:"url,omitempty"`
	Data      json.RawMessage `json:"data,omitzero"`
	Filename  string          `json:"filename,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
	Metadata  a2a.Metadata    `json:"metadata,omitempty"`
}

type file struct {
	Name     string  `json:"name,omitempty"`
	MimeType string  `json:"mimeType,omitempty"`
	Bytes    *string `json:"bytes,omitempty"` // base64
	URI      *string `json:"uri,omitempty"`
}

type message struct {
	Kind             string       `json:"kind,omitempty"` // in 0.3
	MessageID        string       `json:"messageId"`
	ContextID        string       `json:"contextId,omitempty"`
	TaskID           string       `json:"taskId,omitempty"`
	Role             string       `json:"role"`
	Parts            []part       `json:"parts"`
	Metadata         a2a.Metadata `json:"metadata,omitempty"`
	Extensions       []string     `json:"extensions,omitempty"`
	ReferenceTaskIDs []string     `json:"referenceTaskIds,omitempty"`
}

// A Task is the form of a task, which a result may have with more members beside.
type Task struct {
	Kind      string       `json:"kind,omitempty"` // in 0.3
	ID        string       `json:"id"`
	ContextID string       `json:"contextId"`
	Status    status       `json:"status"`
	Artifacts []artifact   `json:"artifacts,omitempty"`
	History   []message    `json:"history,omitempty"`
	Metadata  a2a.Metadata `json:"metadata,omitempty"`
}

type status struct {
	State   string   `json:"state"`
	At      string   `json:"timestamp,omitempty"`
	Message *message `json:"message,omitempty"`
}

type artifact struct {
	ArtifactID  string       `json:"artifactId"`
	Name        string       `json:"name,omitempty"`
	Description string       `json:"description,omitempty"`
	Parts       []part       `json:"parts"`
	Metadata    a2a.Metadata `json:"metadata,omitempty"`
	Extensions  []string     `json:"extensions,omitempty"`
}

type statusUpdate struct {
	Kind      string       `json:"kind,omitempty"` // in 0.3
	TaskID    string       `json:"taskId"`
	ContextID string       `json:"contextId"`
	Status    status       `json:"status"`
	Final     *bool        `json:"final,omitempty"` // in 0.3
	Metadata  a2a.Metadata `json:"metadata,omitempty"`
}

type artifactUpdate struct {
	Kind      string       `json:"kind,omitempty"` // in 0.3
	TaskID    string       `json:"taskId"`
	ContextID string       `json:"contextId"`
	Artifact  artifact     `json:"artifact"`
	Append    bool         `json:"append,omitempty"`
	LastChunk bool         `json:"lastChunk,omitempty"`
	Metadata  a2a.Metadata `json:"metadata,omitempty"`
}

// An event has one of its members in 1.0; in 0.3 it is the value of one of them.
type event struct {
	Task     *Task           `json:"task,omitempty"`
	Message  *message        `json:"message,omitempty"`
	Status   *statusUpdate   `json:"statusUpdate,omitempty"`
	Artifact *artifactUpdate `json:"artifactUpdate,omitempty"`
}
