package prove

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"
)

// A state is a task state in words of 0.3, whichever version it came in.
type state string

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *state) UnmarshalText(text []byte) error {
	*s = state(strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(string(text), "TASK_STATE_")), "_", "-"))
	return nil
}

type status struct {
	State state     `json:"state"`
	At    timestamp `json:"timestamp"`
}

// A timestamp is the zero time if there was none, or none that can be read.
type timestamp struct{ time.Time }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (t *timestamp) UnmarshalText(text []byte) error {
	t.Time, _ = time.Parse(time.RFC3339Nano, string(text))
	return nil
}

// A part is the part of a message or an artifact, without its metadata.
type part struct {
	Text string          `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
	File json.RawMessage `json:"file,omitempty"` // of 0.3
	Raw  string          `json:"raw,omitempty"`
	URL  string          `json:"url,omitempty"`
}

type artifact struct {
	ID    string `json:"artifactId"`
	Parts []part `json:"parts"`
}

// text joins the parts, so that it does not depend on the pieces in which they came.
func text(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
		if p.Text == "" {
			raw, _ := json.Marshal(p)
			b.Write(raw)
		}
	}
	return b.String()
}

type historyMessage struct {
	ID    string `json:"messageId"`
	Parts []part `json:"parts"`
}

type task struct {
	Kind      string           `json:"kind"` // of 0.3
	ID        string           `json:"id"`
	Status    status           `json:"status"`
	Artifacts []artifact       `json:"artifacts"`
	History   []historyMessage `json:"history"`
}

func (t *task) state() string { return string(t.Status.State) }

// final returns what a client has received about a task that has ended, which may not
// change.
func (t *task) final() string {
	var b strings.Builder
	b.WriteString(t.state())
	for _, a := range t.Artifacts {
		b.WriteString("\nartifact " + a.ID + ": " + text(a.Parts))
	}
	for _, m := range t.History {
		b.WriteString("\nmessage " + m.ID + ": " + text(m.Parts))
	}
	return b.String()
}

type statusUpdate struct {
	TaskID string `json:"taskId"`
	Status status `json:"status"`
}

type artifactUpdate struct {
	TaskID    string   `json:"taskId"`
	Artifact  artifact `json:"artifact"`
	Append    bool     `json:"append"`
	LastChunk bool     `json:"lastChunk"`
}

// An event is an element of a stream, the result of a send, or the body of a push
// notification. At most one of its members is set; none is a message.
type event struct {
	id       string // of the event in the stream; "" if it had none
	task     *task
	status   *statusUpdate
	artifact *artifactUpdate
}

// readEvent reads an event of either version.
func readEvent(raw json.RawMessage) (e event, err error) {
	var w struct {
		Kind     string          `json:"kind"`
		ID       string          `json:"id"`
		Task     *task           `json:"task"`
		Message  json.RawMessage `json:"message"`
		Status   *statusUpdate   `json:"statusUpdate"`
		Artifact *artifactUpdate `json:"artifactUpdate"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return e, err
	}
	switch {
	case w.Kind == "message":
	case w.Kind == "status-update":
		err = json.Unmarshal(raw, &e.status)
	case w.Kind == "artifact-update":
		err = json.Unmarshal(raw, &e.artifact)
	case w.Kind == "task" || w.ID != "":
		err = json.Unmarshal(raw, &e.task)
	default:
		e = event{task: w.Task, status: w.Status, artifact: w.Artifact}
		if e == (event{}) && w.Message == nil {
			err = errors.New("it is no task, message or update")
		}
	}
	return e, err
}

// readStream passes the events of a stream on until it ends.
func readStream(from io.Reader, on func(event)) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxAnswer)
	var id string
	var data []byte
	for lines.Scan() {
		line := lines.Bytes()
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0 && data != nil:
			if err := readElement(id, data, on); err != nil {
				return err
			}
			id, data = "", nil
		case string(field) == "id":
			id = string(value)
		case string(field) == "data":
			data = append(data, value...)
		}
	}
	return lines.Err()
}

func readElement(id string, data []byte, on func(event)) error {
	raw, err := parseAnswer(data)
	if err != nil {
		return err
	}
	e, err := readEvent(raw)
	if err != nil {
		return err
	}
	e.id = id
	on(e)
	return nil
}
