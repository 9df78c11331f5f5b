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

// parts never returns nil: parts are required wherever they occur.
func (v Version) parts(parts []a2a.Part) []part {
	out := make([]part, 0, len(parts))
	for _, p := range parts {
		made := part{Text: p.Text, Raw: encode64(p.Raw), URL: p.URL, Data: p.Data, Filename: p.Filename, MediaType: p.MediaType, Metadata: p.Metadata}
		if v == V03 {
			made.to03()
		}
		out = append(out, made)
	}
	return out
}

// to03 gives p the form of 0.3, which has only objects as data, and no names and media types
// but those of files.
func (p *part) to03() {
	if p.Raw != nil || p.URL != nil {
		*p = part{Kind: "file", File: &file{p.Filename, p.MediaType, p.Raw, p.URL}, Metadata: p.Metadata}
		return
	}
	if p.Filename != "" && !p.Metadata.Has(keyFilename) {
		p.Metadata = p.Metadata.With(keyFilename, p.Filename)
	}
	if p.MediaType != "" && !p.Metadata.Has(keyMediaType) {
		p.Metadata = p.Metadata.With(keyMediaType, p.MediaType)
	}
	p.Kind, p.Filename, p.MediaType = "text", "", ""
	if p.Data == nil {
		return
	}
	p.Kind = "data"
	if p.Data[0] != '{' {
		p.Data = json.RawMessage(`{"value":` + string(p.Data) + `}`)
		p.Metadata = p.Metadata.With(keyWrapped, true)
	}
}

// kind returns the kind of an object in 0.3; in 1.0 objects have none.
func (v Version) kind(name string) string {
	if v == V03 {
		return name
	}
	return ""
}

// Message returns the form of m.
func (v Version) Message(m a2a.Message) any { return v.message(m) }

func (v Version) message(m a2a.Message) message {
	return message{
		v.kind("message"), m.MessageID, m.ContextID, m.TaskID, v.role(m.Role), v.parts(m.Parts), m.Metadata, m.Extensions, m.ReferenceTaskIDs,
	}
}

// Task returns the form of t.
func (v Version) Task(t a2a.Task) Task {
	out := Task{Kind: v.kind("task"), ID: t.ID, ContextID: t.ContextID, Status: v.status(t.Status), Metadata: t.Metadata}
	for _, a := range t.Artifacts {
		out.Artifacts = append(out.Artifacts, v.artifact(a))
	}
	for _, m := range t.History {
		out.History = append(out.History, v.message(m))
	}
	return out
}

func (v Version) status(s a2a.TaskStatus) status {
	out := status{State: v.State(s.State), At: s.At.String()}
	if s.Message != nil {
		out.Message = new(v.message(*s.Message))
	}
	return out
}

func (v Version) artifact(a a2a.Artifact) artifact {
	return artifact{a.ArtifactID, a.Name, a.Description, v.parts(a.Parts), a.Metadata, a.Extensions}
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
		c.Blocking, c.ReturnImmediately = new(!s.ReturnAtOnce), false
	}
	return sendParams{v.Message(s.Message), c}
}

type push struct {
	TaskID         string          `json:"taskId,omitempty"` // in 1.0
	ID             string          `json:"id,omitempty"`
	URL            string          `json:"url"`
	Authentication *authentication `json:"authentication,omitempty"`
}

type push03 struct {
	TaskID string `json:"taskId"`
	Config push   `json:"pushNotificationConfig"`
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
		return push03{p.TaskID, push{"", p.ID, p.URL, auth}}
	}
	return push{p.TaskID, p.ID, p.URL, auth}
}
