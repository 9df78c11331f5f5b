package codec

import (
	"encoding/json"

	"longhaul/a2a"
)

// Keys in the metadata of a 0.3 part for members that 0.3 does not have.
const (
	keyWrapped   = "data_part_compat" // true: data is {"value": the real data}
	keyFilename  = "filename"
	keyMediaType = "mediaType"
)

type part10 struct {
	Text      *string         `json:"text,omitempty"`
	Raw       []byte          `json:"raw,omitzero"`
	URL       *string         `json:"url,omitempty"`
	Data      json.RawMessage `json:"data,omitzero"`
	Ref       *a2a.Ref        `json:"-"` // never on the wire
	Filename  string          `json:"filename,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
	Metadata  a2a.Metadata    `json:"metadata,omitempty"`
}

type part03 struct {
	Kind     string          `json:"kind"`
	Text     *string         `json:"text,omitempty"`
	File     *file03         `json:"file,omitempty"`
	Data     json.RawMessage `json:"data,omitzero"`
	Metadata a2a.Metadata    `json:"metadata,omitempty"`
}

type file03 struct {
	Name     string  `json:"name,omitempty"`
	MimeType string  `json:"mimeType,omitempty"`
	Bytes    []byte  `json:"bytes,omitzero"`
	URI      *string `json:"uri,omitempty"`
}

// parts never returns nil: parts are required wherever they occur.
func (v Version) parts(parts []a2a.Part) []any {
	out := make([]any, 0, len(parts))
	for _, p := range parts {
		if v == V03 {
			out = append(out, newPart03(p))
		} else {
			out = append(out, part10(p))
		}
	}
	return out
}

func newPart03(p a2a.Part) part03 {
	if p.Raw != nil || p.URL != nil {
		return part03{Kind: "file", File: &file03{p.Filename, p.MediaType, p.Raw, p.URL}, Metadata: p.Metadata}
	}
	out := part03{Kind: "text", Text: p.Text, Metadata: p.Metadata}
	if p.Filename != "" && !out.Metadata.Has(keyFilename) {
		out.Metadata = out.Metadata.With(keyFilename, p.Filename)
	}
	if p.MediaType != "" && !out.Metadata.Has(keyMediaType) {
		out.Metadata = out.Metadata.With(keyMediaType, p.MediaType)
	}
	if p.Data == nil {
		return out
	}
	out.Kind, out.Data = "data", p.Data
	if p.Data[0] != '{' { // 0.3 has only objects
		out.Data = json.RawMessage(`{"value":` + string(p.Data) + `}`)
		out.Metadata = out.Metadata.With(keyWrapped, true)
	}
	return out
}

type message struct {
	Kind             string       `json:"kind,omitempty"` // in 0.3
	MessageID        string       `json:"messageId"`
	ContextID        string       `json:"contextId,omitempty"`
	TaskID           string       `json:"taskId,omitempty"`
	Role             string       `json:"role"`
	Parts            []any        `json:"parts"`
	Metadata         a2a.Metadata `json:"metadata,omitempty"`
	Extensions       []string     `json:"extensions,omitempty"`
	ReferenceTaskIDs []string     `json:"referenceTaskIds,omitempty"`
}

// kind returns the kind of an object in 0.3; in 1.0 objects have none.
func (v Version) kind(name string) string {
	if v == V03 {
		return name
	}
	return ""
}

// Message returns the form of m.
func (v Version) Message(m a2a.Message) any {
	return message{
		v.kind("message"), m.MessageID, m.ContextID, m.TaskID, v.role(m.Role), v.parts(m.Parts), m.Metadata, m.Extensions, m.ReferenceTaskIDs,
	}
}

// A Task is the form of a task, which a result may have with more members beside.
type Task struct {
	Kind      string       `json:"kind,omitempty"` // in 0.3
	ID        string       `json:"id"`
	ContextID string       `json:"contextId"`
	Status    status       `json:"status"`
	Artifacts []artifact   `json:"artifacts,omitempty"`
	History   []any        `json:"history,omitempty"`
	Metadata  a2a.Metadata `json:"metadata,omitempty"`
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

// Task returns the form of t.
func (v Version) Task(t a2a.Task) Task {
	out := Task{Kind: v.kind("task"), ID: t.ID, ContextID: t.ContextID, Status: v.status(t.Status), Metadata: t.Metadata}
	for _, a := range t.Artifacts {
		out.Artifacts = append(out.Artifacts, v.artifact(a))
	}
	for _, m := range t.History {
		out.History = append(out.History, v.Message(m))
	}
	return out
}

func (v Version) status(s a2a.TaskStatus) status {
	out := status{State: v.State(s.State), At: s.At}
	if s.Message != nil {
		out.Message = v.Message(*s.Message)
	}
	return out
}

func (v Version) artifact(a a2a.Artifact) artifact {
	return artifact{a.ArtifactID, a.Name, a.Description, v.parts(a.Parts), a.Metadata, a.Extensions}
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

// Event returns the form of e. final says, for 0.3, that a stream ends with the status in e.
func (v Version) Event(e a2a.Event, final bool) any {
	switch {
	case e.Task != nil:
		return v.Wrap("task", v.Task(*e.Task))
	case e.Message != nil:
		return v.Wrap("message", v.Message(*e.Message))
	case e.Status != nil:
		u := e.Status
		out := statusUpdate{v.kind("status-update"), u.TaskID, u.ContextID, v.status(u.Status), nil, u.Metadata}
		if v == V03 {
			out.Final = &final
		}
		return v.Wrap("statusUpdate", out)
	default:
		u := e.Artifact
		return v.Wrap("artifactUpdate", artifactUpdate{
			v.kind("artifact-update"), u.TaskID, u.ContextID, v.artifact(u.Artifact), u.Append, u.LastChunk, u.Metadata,
		})
	}
}

// Wrap returns a result or an event: in 1.0 under the name of the member that is set, in 0.3
// alone.
func (v Version) Wrap(name string, value any) any {
	if v == V03 {
		return value
	}
	return map[string]any{name: value}
}

// Send are the parameters of sending a message.
type Send struct {
	Message      a2a.Message
	ReturnAtOnce bool     // do not wait for the end of the task
	History      *int     // messages to return; nil for the default of the agent
	Accept       []string // media types of artifacts; nil for all
}

type sendParams struct {
	Message       any           `json:"message"`
	Configuration configuration `json:"configuration"`
}

type configuration struct {
	Accept            []string `json:"acceptedOutputModes,omitempty"`
	History           *int     `json:"historyLength,omitempty"`
	Blocking          *bool    `json:"blocking,omitempty"`          // in 0.3, where true is the default
	ReturnImmediately bool     `json:"returnImmediately,omitempty"` // in 1.0
}

// Send returns the form of s.
func (v Version) Send(s Send) any {
	c := configuration{Accept: s.Accept, History: s.History, ReturnImmediately: s.ReturnAtOnce}
	if v == V03 {
		blocking := !s.ReturnAtOnce
		c.Blocking, c.ReturnImmediately = &blocking, false
	}
	return sendParams{v.Message(s.Message), c}
}

type push10 struct {
	TaskID         string          `json:"taskId"`
	ID             string          `json:"id,omitempty"`
	URL            string          `json:"url"`
	Authentication *authentication `json:"authentication,omitempty"`
}

type push03 struct {
	TaskID string       `json:"taskId"`
	Config pushConfig03 `json:"pushNotificationConfig"`
}

type pushConfig03 struct {
	ID             string          `json:"id,omitempty"`
	URL            string          `json:"url"`
	Authentication *authentication `json:"authentication,omitempty"`
}

type authentication struct {
	Scheme  string   `json:"scheme,omitempty"`  // in 1.0
	Schemes []string `json:"schemes,omitempty"` // in 0.3
}

// Push returns the form of p, without its secrets.
func (v Version) Push(p PushConfig) any {
	var auth *authentication
	if len(p.Schemes) > 0 {
		auth = &authentication{Scheme: p.Schemes[0]}
		if v == V03 {
			auth = &authentication{Schemes: p.Schemes}
		}
	}
	if v == V03 {
		return push03{p.TaskID, pushConfig03{p.ID, p.URL, auth}}
	}
	return push10{p.TaskID, p.ID, p.URL, auth}
}
