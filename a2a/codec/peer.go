package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"longhaul/a2a"
)

// A Sender is a kind of agent, by what it may say. The same types read both versions, since no
// member has two meanings.
type Sender struct{ foreign bool }

// The senders.
var (
	Peer    = Sender{}              // an agent that we call for a user
	Foreign = Sender{foreign: true} // an agent that works for us
)

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
	ID         string       `json:"messageId"`
	ContextID  string       `json:"contextId"`
	TaskID     string       `json:"taskId"`
	Role       string       `json:"role"`
	Parts      []inPart     `json:"parts"`
	Metadata   a2a.Metadata `json:"metadata"`
	Extensions []string     `json:"extensions,omitempty"`
	References []string     `json:"referenceTaskIds,omitempty"`
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
	Extensions  []string     `json:"extensions"`
}

type inTask struct {
	ID        string       `json:"id"`
	ContextID string       `json:"contextId"`
	Status    inStatus     `json:"status"`
	Artifacts []inArtifact `json:"artifacts"`
	History   []inMessage  `json:"history"`
	Metadata  a2a.Metadata `json:"metadata"`
}

type inStatusUpdate struct {
	TaskID    string       `json:"taskId"`
	ContextID string       `json:"contextId"`
	Status    inStatus     `json:"status"`
	Metadata  a2a.Metadata `json:"metadata"`
}

type inArtifactUpdate struct {
	TaskID    string       `json:"taskId"`
	ContextID string       `json:"contextId"`
	Artifact  inArtifact   `json:"artifact"`
	Append    bool         `json:"append"`
	Last      bool         `json:"lastChunk"`
	Metadata  a2a.Metadata `json:"metadata"`
}

// inEvent has one of its members in 1.0; in 0.3 the members of one of them come with a kind.
type inEvent struct {
	Task     *inTask           `json:"task"`
	Message  *inMessage        `json:"message"`
	Status   *inStatusUpdate   `json:"statusUpdate"`
	Artifact *inArtifactUpdate `json:"artifactUpdate"`
}

// A Received is a status as it was sent.
type Received struct {
	Word    string // for the state, also one that is not known
	At      string
	Message []byte // as JSON
}

// A TaskRead is a task with its status as it was sent, if a stranger has sent it.
type TaskRead struct {
	a2a.Task
	Received Received
}

// An EventRead is the result of sending a message, or an event of a stream.
type EventRead struct {
	a2a.Event
	Received Received // the status of Task or Status, if a stranger has sent it
}

// ErrKind is the error of an event of which no member is known.
var ErrKind = errors.New("read an event: its kind is unknown")

// Task reads a task.
func (s Sender) Task(raw json.RawMessage) (TaskRead, error) {
	var in inTask
	if err := json.Unmarshal(raw, &in); err != nil {
		return TaskRead{}, err
	}
	t, err := s.task(in)
	return TaskRead{t, s.received(in.Status)}, err
}

// Tasks reads a page of a list of tasks.
func (s Sender) Tasks(raw json.RawMessage) (list []TaskRead, err error) {
	var page struct {
		Tasks []json.RawMessage `json:"tasks"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return nil, err
	}
	for _, raw := range page.Tasks {
		t, err := s.Task(raw)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// Event reads the result of sending a message, or an event of a stream. An event of no known kind
// is [ErrKind] from a peer, and empty from a stranger.
func (s Sender) Event(raw json.RawMessage) (out EventRead, err error) {
	in, err := readEvent(raw)
	if err != nil {
		return out, fmt.Errorf("read an event: %w", err)
	}
	switch {
	case in.Task != nil:
		out.Task, out.Received = new(a2a.Task), s.received(in.Task.Status)
		*out.Task, err = s.task(*in.Task)
	case in.Message != nil:
		out.Message, err = new(a2a.Message), nil
		*out.Message = s.message(*in.Message)
	case in.Status != nil:
		out.Status, out.Received = &a2a.StatusUpdate{TaskID: in.Status.TaskID, ContextID: in.Status.ContextID, Metadata: s.metadata(in.Status.Metadata)}, s.received(in.Status.Status)
		out.Status.Status, err = s.status(in.Status.Status)
	case in.Artifact != nil:
		u := in.Artifact
		out.Artifact = &a2a.ArtifactUpdate{
			TaskID: u.TaskID, ContextID: u.ContextID, Artifact: s.artifact(u.Artifact), Append: u.Append, LastChunk: u.Last, Metadata: s.metadata(u.Metadata),
		}
	case !s.foreign:
		err = ErrKind
	}
	return out, err
}

func readEvent(raw json.RawMessage) (in inEvent, err error) {
	var kind struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return in, err
	}
	var into any = &in
	switch kind.Kind {
	case "task":
		into = &in.Task
	case "message":
		into = &in.Message
	case "status-update":
		into = &in.Status
	case "artifact-update":
		into = &in.Artifact
	}
	return in, json.Unmarshal(raw, into)
}

func (s Sender) received(in inStatus) Received {
	if !s.foreign {
		return Received{}
	}
	message, err := json.Marshal(in.Message)
	if err != nil {
		message = nil // it was read, so it has a form
	}
	return Received{in.State, in.At, message}
}

func (s Sender) task(in inTask) (a2a.Task, error) {
	status, err := s.status(in.Status)
	t := a2a.Task{ID: in.ID, ContextID: in.ContextID, Status: status, Metadata: s.metadata(in.Metadata)}
	for _, a := range in.Artifacts {
		t.Artifacts = append(t.Artifacts, s.artifact(a))
	}
	for _, m := range in.History {
		t.History = append(t.History, s.message(m))
	}
	return t, err
}

// status reads a status. An unknown state or time is an error from a peer, and absent from a
// stranger. Strangers are known to write cancelled.
func (s Sender) status(in inStatus) (out a2a.TaskStatus, err error) {
	word := in.State
	if s.foreign && strings.EqualFold(strings.TrimPrefix(word, statePrefix), "cancelled") {
		word = string(a2a.Canceled)
	}
	if out.State = readState(word); out.State == "" {
		err = fmt.Errorf("%q is not a task state, which must be one of: %s", in.State, strings.Join(V10.States(), ", "))
	}
	if wrong := out.At.UnmarshalText([]byte(in.At)); wrong != nil {
		err = errors.Join(err, wrong)
	}
	if in.Message != nil {
		m := s.message(*in.Message)
		out.Message = &m
	}
	if s.foreign {
		err = nil
	}
	return out, err
}

func (s Sender) message(in inMessage) a2a.Message {
	return a2a.Message{
		MessageID: in.ID, ContextID: in.ContextID, TaskID: in.TaskID, Role: readRole(in.Role), Parts: s.parts(in.Parts),
		Metadata: s.metadata(in.Metadata), Extensions: in.Extensions, ReferenceTaskIDs: in.References,
	}
}

func (s Sender) artifact(in inArtifact) a2a.Artifact {
	return a2a.Artifact{
		ArtifactID: in.ID, Name: in.Name, Description: in.Description, Parts: s.parts(in.Parts), Metadata: s.metadata(in.Metadata), Extensions: in.Extensions,
	}
}

// parts reads parts, those of strangers only if their form is known.
func (s Sender) parts(list []inPart) []a2a.Part {
	var out []a2a.Part
	for _, p := range list {
		made := a2a.Part{Filename: p.Filename, MediaType: p.MediaType, Metadata: s.metadata(p.Metadata)}
		raw, url := p.Raw, p.URL
		if f := p.File; f != nil {
			raw, url, made.Filename, made.MediaType = f.Bytes, f.URI, f.Name, f.MediaType
		}
		switch {
		case p.Text != nil:
			made.Text = p.Text
		case raw != nil:
			if b, err := decode64(*raw); err == nil {
				made.Raw = b
			}
		case url != nil:
			made.URL = url
		case p.Data != nil:
			made.Data = p.Data
			unwrap(&made)
		}
		if !s.foreign || made.Members() == 1 {
			out = append(out, made)
		}
	}
	return out
}

// own are the beginnings of keys by which this server knows its own.
var own = []string{"opt/", "longhaul/"}

func (s Sender) metadata(m a2a.Metadata) a2a.Metadata {
	if !s.foreign {
		return m
	}
	var out a2a.Metadata
	for key, value := range m {
		if key == "openwop" || slices.ContainsFunc(own, func(begin string) bool { return strings.HasPrefix(key, begin) }) {
			continue
		}
		if out == nil {
			out = a2a.Metadata{}
		}
		out[key] = value
	}
	return out
}
