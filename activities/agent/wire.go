package agent

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"longhaul/a2a"
)

// Answers of both versions are read by the same types, since no member has two meanings.
// Requests are written for the version of the agent.

type inPart struct {
	Text      *string         `json:"text"`
	Raw       *string         `json:"raw"`
	URL       *string         `json:"url"`
	Data      json.RawMessage `json:"data"`
	File      *inFile         `json:"file"`
	Filename  string          `json:"filename"`
	MediaType string          `json:"mediaType"`
	Metadata  a2a.Metadata    `json:"metadata"`
}

type inFile struct {
	Bytes     *string `json:"bytes"`
	URI       *string `json:"uri"`
	Name      string  `json:"name"`
	MediaType string  `json:"mimeType"`
}

type inMessage struct {
	ID        string       `json:"messageId"`
	ContextID string       `json:"contextId"`
	TaskID    string       `json:"taskId"`
	Role      string       `json:"role"`
	Parts     []inPart     `json:"parts"`
	Metadata  a2a.Metadata `json:"metadata"`
}

type inStatus struct {
	State   string     `json:"state"`
	Message *inMessage `json:"message"`
	At      string     `json:"timestamp"`
}

type inArtifact struct {
	ID          string       `json:"artifactId"`
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Parts       []inPart     `json:"parts"`
	Metadata    a2a.Metadata `json:"metadata"`
}

type inTask struct {
	ID        string       `json:"id"`
	ContextID string       `json:"contextId"`
	Status    inStatus     `json:"status"`
	Artifacts []inArtifact `json:"artifacts"`
	History   []inMessage  `json:"history"`
	Metadata  a2a.Metadata `json:"metadata"`
}

// inResult is the result of sending a message, or an event of a stream: one of the first
// four members in 1.0, or the members of one of them with a kind in 0.3.
type inResult struct {
	Task    *inTask    `json:"task"`
	Message *inMessage `json:"message"`
	Status  *inUpdate  `json:"statusUpdate"`
	Update  *inPiece   `json:"artifactUpdate"`
}

type inUpdate struct {
	Status inStatus `json:"status"`
}

type inPiece struct {
	Artifact inArtifact `json:"artifact"`
	Append   bool       `json:"append"`
	Last     bool       `json:"lastChunk"`
}

// readResult reads a result or an event of either version.
func readResult(raw json.RawMessage) (inResult, error) {
	var kind struct {
		Kind string `json:"kind"`
	}
	var out inResult
	if err := json.Unmarshal(raw, &kind); err != nil {
		return out, err
	}
	var into any = &out
	switch kind.Kind {
	case "task":
		into = &out.Task
	case "message":
		into = &out.Message
	case "status-update":
		into = &out.Status
	case "artifact-update":
		into = &out.Update
	}
	return out, json.Unmarshal(raw, into)
}

// readState returns a state as both versions have it, "" for one that is not known.
func readState(word string) a2a.TaskState {
	s := a2a.TaskState(strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(word, "TASK_STATE_")), "_", "-"))
	if s == "cancelled" {
		s = a2a.Canceled
	}
	if !s.Valid() {
		return ""
	}
	return s
}

// parts converts the parts of an agent. It leaves out parts of unknown forms. No part of
// the result refers to stored contents: only this server makes such parts.
func parts(list []inPart) []a2a.Part {
	var out []a2a.Part
	for _, p := range list {
		made := a2a.Part{Filename: p.Filename, MediaType: p.MediaType, Metadata: foreignMetadata(p.Metadata)}
		raw, url := p.Raw, p.URL
		if f := p.File; f != nil {
			raw, url, made.Filename, made.MediaType = f.Bytes, f.URI, f.Name, f.MediaType
		}
		switch {
		case p.Text != nil:
			made.Text = p.Text
		case raw != nil:
			made.Raw = decoded(*raw)
		case url != nil:
			made.URL = url
		case p.Data != nil:
			made.Data = p.Data
		}
		if made.Members() == 1 {
			out = append(out, made)
		}
	}
	return out
}

// decoded returns the bytes of a base64 text in any of its forms, nil for any other text.
func decoded(text string) []byte {
	text = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
	b, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return append([]byte{}, b...)
}

// foreignMetadata returns metadata of an agent without the keys by which this server knows its
// own.
func foreignMetadata(m a2a.Metadata) a2a.Metadata {
	var out a2a.Metadata
	for key, value := range m {
		if key == "openwop" || strings.HasPrefix(key, "opt/") || strings.HasPrefix(key, "longhaul/") {
			continue
		}
		if out == nil {
			out = a2a.Metadata{}
		}
		out[key] = value
	}
	return out
}

// The types of requests.

type outMessage struct {
	Kind       string       `json:"kind,omitempty"` // in 0.3
	MessageID  string       `json:"messageId"`
	ContextID  string       `json:"contextId,omitempty"`
	TaskID     string       `json:"taskId,omitempty"`
	Role       string       `json:"role"`
	Parts      []outPart    `json:"parts"`
	Metadata   a2a.Metadata `json:"metadata,omitempty"`
	References []string     `json:"referenceTaskIds,omitempty"`
}

type outPart struct {
	Kind string          `json:"kind,omitempty"` // in 0.3
	Text *string         `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
}

func textPart(s string) outPart             { return outPart{Text: &s} }
func dataPart(data json.RawMessage) outPart { return outPart{Data: data} }

// forVersion returns m for a version. In 0.3 data is an object: other data is in its member
// value.
func (m outMessage) forVersion(version string) outMessage {
	m.Role = "ROLE_USER"
	if version == v10 {
		return m
	}
	m.Kind, m.Role = "message", "user"
	m.Parts = append([]outPart(nil), m.Parts...)
	for i, p := range m.Parts {
		if m.Parts[i].Kind = "text"; p.Text != nil {
			continue
		}
		m.Parts[i].Kind = "data"
		if strings.HasPrefix(strings.TrimSpace(string(p.Data)), "{") {
			continue
		}
		m.Parts[i].Data = mustJSON(map[string]json.RawMessage{"value": p.Data})
	}
	return m
}

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("agent: value without a JSON form: " + err.Error())
	}
	return b
}

// sendParams returns the params of sending m, and with which no answer is waited for.
func sendParams(e endpoint, m outMessage, accept []string) map[string]any {
	cfg := map[string]any{"returnImmediately": true}
	if e.Version == v03 {
		cfg = map[string]any{"blocking": false}
	}
	if len(accept) > 0 {
		cfg["acceptedOutputModes"] = accept
	}
	return map[string]any{"message": m.forVersion(e.Version), "configuration": cfg}
}

// pushParams returns the params of a push config of a task.
func pushParams(e endpoint, taskID, url string) map[string]any {
	if e.Version == v03 {
		return map[string]any{"taskId": taskID, "pushNotificationConfig": map[string]any{"url": url}}
	}
	return map[string]any{"taskId": taskID, "url": url}
}
