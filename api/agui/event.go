package agui

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"longhaul/api/call"
	"longhaul/api/wire"
)

// The types of events.
const (
	runStarted       = "RUN_STARTED"
	runFinished      = "RUN_FINISHED"
	runError         = "RUN_ERROR"
	stepStarted      = "STEP_STARTED"
	stepFinished     = "STEP_FINISHED"
	textStart        = "TEXT_MESSAGE_START"
	textContent      = "TEXT_MESSAGE_CONTENT"
	textEnd          = "TEXT_MESSAGE_END"
	toolCallChunk    = "TOOL_CALL_CHUNK" // a whole call: clients make start, arguments and end of it
	stateSnapshot    = "STATE_SNAPSHOT"
	stateDelta       = "STATE_DELTA"
	messagesSnapshot = "MESSAGES_SNAPSHOT"
)

// protocol is the version of AG-UI.
const protocol = "1.0"

// An event has the members that its type needs.
type event struct {
	Type     string   `json:"type"`
	ThreadID string   `json:"threadId,omitempty"`
	RunID    string   `json:"runId,omitempty"`
	Protocol string   `json:"protocolVersion,omitempty"`
	Outcome  *outcome `json:"outcome,omitempty"`

	Message string `json:"message,omitempty"`
	Code    string `json:"code,omitempty"`

	StepName string `json:"stepName,omitempty"`

	MessageID string `json:"messageId,omitempty"`
	Role      string `json:"role,omitempty"`
	Delta     any    `json:"delta,omitempty"` // a text, or operations of JSON Patch

	ToolCallID string `json:"toolCallId,omitempty"`
	ToolName   string `json:"toolCallName,omitempty"`
	ParentID   string `json:"parentMessageId,omitempty"`

	Snapshot any   `json:"snapshot,omitempty"`
	Messages []any `json:"messages,omitzero"`
}

// An outcome says how a run has ended.
type outcome struct {
	Type       string      `json:"type"`
	Interrupts []interrupt `json:"interrupts,omitempty"`
}

// Failure returns the event that ends a run with a fault.
func Failure(f *call.Fault) ([]byte, error) {
	code, _ := wire.ErrorInfo(f, false)
	if code == "" {
		_, code = wire.Status(f)
	}
	return wire.Marshal(event{Type: runError, Message: f.Message, Code: code})
}

// A position says what a client has of a run.
type position struct {
	seq int64 // the last event of the objective; before for none

	Texts []string `json:"t,omitempty"` // ids of messages that have started and not ended
	Steps []string `json:"s,omitempty"` // names of steps that have started and not finished
	Calls []string `json:"c,omitempty"` // ids of tool calls of this run
	Over  bool     `json:"o,omitempty"` // the run has ended
}

// before is the position of a client that has none of the events of the objective.
const before = -1

// String returns p as the id of a server-sent event.
func (p position) String() string {
	out := strconv.FormatInt(p.seq, 10)
	if len(p.Texts)+len(p.Steps)+len(p.Calls) > 0 || p.Over {
		raw, _ := json.Marshal(p) // texts and a flag have a JSON form
		out += "." + base64.RawURLEncoding.EncodeToString(raw)
	}
	return out
}

// parsePosition returns the position in the id of an event; ok is false for other texts.
func parsePosition(id string) (p position, ok bool) {
	seq, rest, more := strings.Cut(id, ".")
	var err error
	if p.seq, err = strconv.ParseInt(seq, 10, 64); err != nil || p.seq < before {
		return position{}, false
	}
	if !more {
		return p, true
	}
	raw, err := base64.RawURLEncoding.DecodeString(rest)
	if err != nil || json.Unmarshal(raw, &p) != nil {
		return position{}, false
	}
	return p, true
}

// A feed collects the events for a client, and knows its position. Its methods keep the order
// that AG-UI requires: texts and steps end before the run does, and nothing starts twice.
type feed struct {
	at  position
	out strings.Builder // not sent yet
}

// add adds an event. Its id is the position after it.
func (f *feed) add(e event) error {
	raw, err := wire.Marshal(e)
	if err == nil {
		fmt.Fprintf(&f.out, "id: %s\ndata: %s\n\n", f.at, raw)
	}
	return err
}

// take returns the events that are not sent yet, and forgets them.
func (f *feed) take() string {
	defer f.out.Reset()
	return f.out.String()
}

// say adds a piece of a text, whose message starts with it or has started before; last ends it.
// seq is the event of the objective that has the piece.
func (f *feed) say(id, text string, last bool, seq int64) error {
	if !slices.Contains(f.at.Texts, id) {
		f.at.Texts = append(f.at.Texts, id)
		if err := f.add(event{Type: textStart, MessageID: id, Role: "assistant"}); err != nil {
			return err
		}
	}
	f.at.seq = max(f.at.seq, seq)
	if text != "" {
		if err := f.add(event{Type: textContent, MessageID: id, Delta: text}); err != nil {
			return err
		}
	}
	if !last {
		return nil
	}
	return f.endText(id)
}

func (f *feed) endText(id string) error {
	f.at.Texts = slices.DeleteFunc(f.at.Texts, func(open string) bool { return open == id })
	return f.add(event{Type: textEnd, MessageID: id})
}

// mostSteps is how many steps a client sees at a time. The state has all of them.
const mostSteps = 32

// setSteps finishes the steps that are not among names, and starts the others of those.
func (f *feed) setSteps(names []string) error {
	for _, name := range slices.Clone(f.at.Steps) {
		if slices.Contains(names, name) {
			continue
		}
		f.at.Steps = slices.DeleteFunc(f.at.Steps, func(open string) bool { return open == name })
		if err := f.add(event{Type: stepFinished, StepName: name}); err != nil {
			return err
		}
	}
	for _, name := range names {
		if slices.Contains(f.at.Steps, name) || len(f.at.Steps) == mostSteps {
			continue
		}
		f.at.Steps = append(f.at.Steps, name)
		if err := f.add(event{Type: stepStarted, StepName: name}); err != nil {
			return err
		}
	}
	return nil
}

// settle ends all texts and steps, so that the run may end.
func (f *feed) settle() error {
	for _, id := range slices.Clone(f.at.Texts) {
		if err := f.endText(id); err != nil {
			return err
		}
	}
	return f.setSteps(nil)
}

// end ends the run.
func (f *feed) end(e event) error {
	f.at.Over = true
	return f.add(e)
}
