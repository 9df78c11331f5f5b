package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"longhaul/a2a"
)

// A Sender is a kind of agent, by what it may say. Both versions are read alike. A state, a time or
// bytes that are not valid are an error from a peer, and are left out from a stranger.
type Sender struct{ foreign bool }

// The senders.
var (
	Peer    = Sender{}              // an agent that we call for a user
	Foreign = Sender{foreign: true} // an agent that works for us
)

// A Received is a status as a stranger has sent it.
type Received struct {
	Word   string // for the state, also one that is not known
	Status []byte // equal for equal statuses
}

// A TaskRead is a task, with its status as a stranger has sent it.
type TaskRead struct {
	a2a.Task
	Received Received
}

// An EventRead is the result of sending a message, or an event of a stream, with the status of
// Task as a stranger has sent it.
type EventRead struct {
	a2a.Event
	Received Received
}

// ErrKind is the error of an event of which no member is known.
var ErrKind = errors.New("read an event: its kind is unknown")

// Task reads a task.
func (s Sender) Task(raw json.RawMessage) (TaskRead, error) {
	var in Task
	if err := s.unmarshal(raw, &in); err != nil {
		return TaskRead{}, err
	}
	r := reading{Sender: s}
	out := TaskRead{r.task(in), s.received(in.Status)}
	return out, r.err
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
	in, err := s.readEvent(raw)
	if err != nil {
		return out, fmt.Errorf("read an event: %w", err)
	}
	r := reading{Sender: s}
	switch {
	case in.Task != nil:
		out.Task, out.Received = new(r.task(*in.Task)), s.received(in.Task.Status)
	case in.Message != nil:
		out.Message = new(r.message(*in.Message))
	case in.Status != nil:
		u := in.Status
		out.Status = &a2a.StatusUpdate{TaskID: u.TaskID, ContextID: u.ContextID, Status: r.status(u.Status), Metadata: s.metadata(u.Metadata)}
	case in.Artifact != nil:
		u := in.Artifact
		out.Artifact = &a2a.ArtifactUpdate{
			TaskID: u.TaskID, ContextID: u.ContextID, Artifact: r.artifact(u.Artifact), Append: u.Append, LastChunk: u.LastChunk, Metadata: s.metadata(u.Metadata),
		}
	default:
		r.note(ErrKind)
	}
	return out, r.err
}

// unmarshal reads raw into a form. A stranger may give members that are not used another form.
func (s Sender) unmarshal(raw json.RawMessage, into any) error {
	err := json.Unmarshal(raw, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && s.foreign {
		if path := strings.Split(wrong.Field, "."); slices.Contains(unused, path[len(path)-1]) {
			return nil // the rest was read
		}
	}
	return err
}

// unused are members of answers that nothing depends on.
var unused = []string{"extensions", "referenceTaskIds", "kind", "final", "metadata"}

func (s Sender) readEvent(raw json.RawMessage) (in event, err error) {
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
	return in, s.unmarshal(raw, into)
}

func (s Sender) received(in status) Received {
	if !s.foreign {
		return Received{}
	}
	form, err := json.Marshal(in)
	if err != nil {
		form = nil // it was read, so it has a form
	}
	return Received{in.State, form}
}

// A reading makes values of package a2a of their forms.
type reading struct {
	Sender
	err error // of a peer: the first value that is wrong
}

// note keeps the error of a value that is wrong, unless a stranger has sent it.
func (r *reading) note(err error) {
	if !r.foreign && r.err == nil {
		r.err = err
	}
}

func (r *reading) task(in Task) a2a.Task {
	t := a2a.Task{ID: in.ID, ContextID: in.ContextID, Status: r.status(in.Status), Metadata: r.metadata(in.Metadata)}
	for _, a := range in.Artifacts {
		t.Artifacts = append(t.Artifacts, r.artifact(a))
	}
	for _, m := range in.History {
		t.History = append(t.History, r.message(m))
	}
	return t
}

// status reads a status. Strangers are known to write cancelled.
func (r *reading) status(in status) (out a2a.TaskStatus) {
	word := in.State
	if r.foreign && strings.EqualFold(strings.TrimPrefix(word, statePrefix), "cancelled") {
		word = string(a2a.Canceled)
	}
	if out.State = readState(word); out.State == "" {
		r.note(fmt.Errorf("%q is not a task state, which must be one of: %s", in.State, strings.Join(V10.States(), ", ")))
	}
	if err := out.At.UnmarshalText([]byte(in.At)); err != nil {
		r.note(err)
	}
	if in.Message != nil {
		out.Message = new(r.message(*in.Message))
	}
	return out
}

func (r *reading) message(in message) a2a.Message {
	return a2a.Message{
		MessageID: in.MessageID, ContextID: in.ContextID, TaskID: in.TaskID, Role: readRole(in.Role), Parts: r.parts(in.Parts),
		Metadata: r.metadata(in.Metadata), Extensions: in.Extensions, ReferenceTaskIDs: in.ReferenceTaskIDs,
	}
}

func (r *reading) artifact(in artifact) a2a.Artifact {
	return a2a.Artifact{
		ArtifactID: in.ArtifactID, Name: in.Name, Description: in.Description, Parts: r.parts(in.Parts), Metadata: r.metadata(in.Metadata), Extensions: in.Extensions,
	}
}

// parts reads parts, those of strangers only if their form is known.
func (r *reading) parts(list []part) []a2a.Part {
	var out []a2a.Part
	for _, p := range list {
		made := a2a.Part{Filename: p.Filename, MediaType: p.MediaType, Metadata: r.metadata(p.Metadata)}
		raw, url := p.Raw, p.URL
		if f := p.File; f != nil {
			raw, url, made.Filename, made.MediaType = f.Bytes, f.URI, f.Name, f.MimeType
		}
		switch {
		case p.Text != nil:
			made.Text = p.Text
		case raw != nil:
			made.Raw = r.bytes(*raw)
		case url != nil:
			made.URL = url
		case p.Data != nil:
			made.Data = p.Data
			unwrap(&made)
		}
		if !r.foreign || made.Members() == 1 {
			out = append(out, made)
		}
	}
	return out
}

// bytes reads base64 in all its forms, nil for anything else.
func (r *reading) bytes(text string) []byte {
	b, err := decode64(text)
	if err != nil {
		r.note(fmt.Errorf("read the bytes of a part: %w", err))
		return nil
	}
	return b
}

// own are the beginnings of keys by which this server knows its own.
var own = []string{"opt/", "longhaul/"}

func (s Sender) metadata(m a2a.Metadata) a2a.Metadata {
	if !s.foreign {
		return m
	}
	out := maps.Clone(m)
	maps.DeleteFunc(out, func(key string, _ json.RawMessage) bool {
		return key == "openwop" || slices.ContainsFunc(own, func(begin string) bool { return strings.HasPrefix(key, begin) })
	})
	if len(out) == 0 {
		return nil
	}
	return out
}
