package protocol

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/wire"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// version is the one of AG-UI.
const version = "1.0"

type object = map[string]any

// Failure returns the event that ends a run with a fault.
func Failure(f *call.Fault) ([]byte, error) { return wire.Marshal(failure(f)) }

func failure(f *call.Fault) object {
	code, _ := wire.ErrorInfo(f, false)
	if code == "" {
		_, code = wire.Status(f)
	}
	return object{"type": "RUN_ERROR", "code": code, "message": f.Message}
}

// A Position says what a client has of a run.
type Position struct {
	Seq   int64    `json:"n"`           // the last event of the objective; Before for none
	Texts []string `json:"t,omitempty"` // ids of messages that have started and not ended
	Steps []string `json:"s,omitempty"` // names of steps that have started and not finished
	Calls []string `json:"c,omitempty"` // ids of tool calls of this run
	Over  bool     `json:"o,omitempty"` // the run has ended
}

// Before is the Seq of a client that has none of the events of the objective.
const Before = -1

// String returns p as the id of a server-sent event.
func (p Position) String() string {
	raw, _ := json.Marshal(p) // texts, a number and a flag have a JSON form
	return base64.RawURLEncoding.EncodeToString(raw)
}

// ParsePosition returns the position in the id of an event; ok is false for other texts, which are
// the position before all events.
func ParsePosition(id string) (p Position, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil || json.Unmarshal(raw, &p) != nil || p.Seq < Before {
		return Position{Seq: Before}, false
	}
	return p, true
}

// A Feed collects the events of the run of an input for a client. Its methods keep the order that
// AG-UI requires: texts and steps end before the run does, and nothing starts twice.
type Feed struct {
	In *Input
	At Position // of the client, with all events that were added

	out   strings.Builder // not sent yet
	err   error           // after which no event is added
	had   []string        // ids of messages that the client has of this run, beside those in At
	state object          // that the client has, nil before the first
}

// add adds an event. Its id is the position after it.
func (f *Feed) add(e object) {
	raw, err := wire.Marshal(e)
	if f.err = cmp.Or(f.err, err); f.err == nil {
		fmt.Fprintf(&f.out, "id: %s\ndata: %s\n\n", f.At, raw)
	}
}

// Take returns the events that are not sent yet, as server-sent events, and forgets them. An error is
// that of an event that could not be written.
func (f *Feed) Take() (string, error) {
	defer f.out.Reset()
	return f.out.String(), f.err
}

// Start begins the run.
func (f *Feed) Start() {
	f.add(object{"type": "RUN_STARTED", "threadId": f.In.ThreadID, "runId": f.In.RunID, "protocolVersion": version})
}

// Stored says that the answers to gates are stored and not judged yet.
func (f *Feed) Stored(gates []string) {
	f.add(object{"type": "CUSTOM", "name": "longhaul:answer-stored", "value": gates})
}

// has reports whether the client has a message, and notes that it has it from now on.
func (f *Feed) has(id string) bool {
	for _, list := range [][]string{f.had, f.At.Texts, f.At.Calls} {
		if slices.Contains(list, id) {
			return true
		}
	}
	f.had = append(f.had, id)
	return false
}

// Thread adds all messages of the thread.
func (f *Feed) Thread(all []Message) {
	for _, m := range all {
		f.has(m.ID)
	}
	f.add(object{"type": "MESSAGES_SNAPSHOT", "messages": joined(f.In.Messages, all)})
}

// say adds a piece of a text, whose message starts with it or has started before; last ends it.
// seq is the event of the objective that has the piece.
func (f *Feed) say(id, text string, last bool, seq int64) {
	if !slices.Contains(f.At.Texts, id) {
		f.At.Texts = append(f.At.Texts, id)
		f.add(object{"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"})
	}
	f.At.Seq = max(f.At.Seq, seq)
	if text != "" {
		f.add(object{"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": text})
	}
	if last {
		f.At.Texts = without(f.At.Texts, id)
		f.add(object{"type": "TEXT_MESSAGE_END", "messageId": id})
	}
}

// Status adds what the agent says with a status, once.
func (f *Feed) Status(s a2a.TaskStatus, seq int64) {
	if !says(s) {
		return
	}
	if m := spoken(*s.Message); !f.has(m.ID) && m.Content != "" {
		f.say(m.ID, m.Content, true, seq)
	}
}

// Artifact adds a piece of an artifact. replaces is whether it replaces what the client has, so that the
// client needs all messages again.
func (f *Feed) Artifact(u a2a.ArtifactUpdate, seq int64) (replaces bool) {
	id := artifactID(u.TaskID, u.Artifact.ArtifactID)
	if replaces = f.has(id) && !u.Append; !replaces {
		f.say(id, textOf(u.Artifact.Parts), u.LastChunk, seq)
	}
	return replaces
}

// Answer adds what the agent has answered at once.
func (f *Feed) Answer(m *a2a.Message) { f.say(m.MessageID, textOf(m.Parts), true, 0) }

func without(list []string, name string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == name })
}

// Show adds how the state has changed since the client got it, and which steps are done.
func (f *Feed) Show(o *opt.Objective) {
	now, err := stateOf(f.In.State, o)
	f.err = cmp.Or(f.err, err)
	before := f.state
	f.state = now
	if before == nil {
		f.showState()
	} else if changes := diff("", before, now); len(changes) > 0 {
		f.add(object{"type": "STATE_DELTA", "delta": changes})
	}
	f.setSteps(stepsOf(o))
}

func (f *Feed) showState() { f.add(object{"type": "STATE_SNAPSHOT", "snapshot": f.state}) }

// mostSteps is how many steps a client sees at a time. The state has all of them.
const mostSteps = 32

// setSteps finishes the steps that are not among names, and starts the others of those.
func (f *Feed) setSteps(names []string) {
	for _, name := range slices.Clone(f.At.Steps) {
		if !slices.Contains(names, name) {
			f.At.Steps = without(f.At.Steps, name)
			f.add(object{"type": "STEP_FINISHED", "stepName": name})
		}
	}
	for _, name := range names {
		if !slices.Contains(f.At.Steps, name) && len(f.At.Steps) < mostSteps {
			f.At.Steps = append(f.At.Steps, name)
			f.add(object{"type": "STEP_STARTED", "stepName": name})
		}
	}
}

// settle ends all texts and steps, so that the run may end.
func (f *Feed) settle() {
	for _, id := range slices.Clone(f.At.Texts) {
		f.say(id, "", true, 0)
	}
	f.setSteps(nil)
}

// Interrupt ends the run with gates. Before that the client gets all messages and the whole state, from
// which the next run continues.
func (f *Feed) Interrupt(open []shown.Interrupt, thread []Message) {
	var interrupts []object
	for _, i := range open {
		interrupts = append(interrupts, interruptOf(i))
		name, args, ok := functionOf(&i.Gate)
		if id := i.Gate.ID; ok && !slices.Contains(f.At.Calls, id) {
			f.At.Calls = append(f.At.Calls, id)
			f.add(object{"type": "TOOL_CALL_CHUNK", "toolCallId": id, "toolCallName": name, "parentMessageId": id, "delta": args}) // of which clients make start, arguments and end
		}
	}
	f.settle()
	f.Thread(thread)
	f.showState()
	f.finish(object{"type": "interrupt", "interrupts": interrupts})
}

// Success ends a run that has not failed: success or cancelled.
func (f *Feed) Success(how string) { f.finish(object{"type": how}) }

func (f *Feed) finish(outcome object) {
	f.end(object{"type": "RUN_FINISHED", "threadId": f.In.ThreadID, "runId": f.In.RunID, "outcome": outcome})
}

// Fail ends a run that has failed.
func (f *Feed) Fail(code, text string) {
	f.end(object{"type": "RUN_ERROR", "code": code, "message": text})
}

// Refuse ends a run that is refused.
func (f *Feed) Refuse(fault *call.Fault) { f.end(failure(fault)) }

func (f *Feed) end(e object) {
	f.settle()
	f.At.Over = true
	f.add(e)
}
