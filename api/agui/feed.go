package agui

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wI2L/jsondiff"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/wire"
	"longhaul/opt"
	optwire "longhaul/opt/wire"
)

type object = map[string]any

// Failure returns the event that ends a run with a fault.
func Failure(f *call.Fault) any {
	reason, _ := wire.ErrorInfo(f, false)
	_, status := wire.Status(f)
	return failed(cmp.Or(reason, status), f.Message)
}

func failed(code, text string) object {
	return object{"type": "RUN_ERROR", "code": code, "message": text}
}

// A position says what a client has of a run. Its text is the id of an event.
type position struct {
	Seq   int64    `json:"n"`           // the last event of the objective; nothing for none
	Texts []string `json:"t,omitempty"` // ids of messages that have started and not ended
	Steps []string `json:"s,omitempty"` // names of steps that have started and not finished
	Calls []string `json:"c,omitempty"` // ids of tool calls of this run
	Over  bool     `json:"o,omitempty"` // the run has ended
}

// nothing is the Seq of a client that has none of the events of the objective.
const nothing = -1

func (p position) String() string {
	raw, _ := json.Marshal(p) // texts, a number and a flag have a JSON form
	return base64.RawURLEncoding.EncodeToString(raw)
}

// parsePosition returns the position in the id of an event; ok is false for other texts, which are
// the position before all events.
func parsePosition(id string) (p position, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil || json.Unmarshal(raw, &p) != nil || p.Seq < nothing {
		return position{Seq: nothing}, false
	}
	return p, true
}

// A feed collects the events of the run of an input for a client. Its methods keep the order that
// AG-UI requires: texts and steps end before the run does, and nothing starts twice.
type feed struct {
	in *Input
	at position // of the client, with all events that were added

	out   strings.Builder // not sent yet
	err   error           // after which no event is added
	had   []string        // ids of messages that the client has of this run, beside those in at
	state object          // that the client has, nil before the first
}

// add adds an event. Its id is the position after it.
func (f *feed) add(e any) {
	raw, err := wire.Marshal(e)
	if f.err = cmp.Or(f.err, err); f.err == nil {
		fmt.Fprintf(&f.out, "id: %s\ndata: %s\n\n", f.at, raw)
	}
}

// take returns the events that are not sent yet, as server-sent events, and forgets them.
func (f *feed) take() (string, error) {
	defer f.out.Reset()
	return f.out.String(), f.err
}

// has reports whether the client has a message, and notes that it has it from now on.
func (f *feed) has(id string) bool {
	if slices.Contains(slices.Concat(f.had, f.at.Texts, f.at.Calls), id) {
		return true
	}
	f.had = append(f.had, id)
	return false
}

func (f *feed) thread(all []entry) {
	for _, m := range all {
		f.has(m.ID)
	}
	f.add(object{"type": "MESSAGES_SNAPSHOT", "messages": joined(f.in.Messages, all)})
}

// say adds a piece of a text, whose message starts with it or has started before; last ends it.
// seq is the event of the objective that has the piece.
func (f *feed) say(id, text string, last bool, seq int64) {
	if !slices.Contains(f.at.Texts, id) {
		f.at.Texts = append(f.at.Texts, id)
		f.add(object{"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"})
	}
	f.at.Seq = max(f.at.Seq, seq)
	if text != "" {
		f.add(object{"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": text})
	}
	if last {
		f.at.Texts = without(f.at.Texts, id)
		f.add(object{"type": "TEXT_MESSAGE_END", "messageId": id})
	}
}

func without(list []string, name string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == name })
}

// show adds how the state has changed since the client got it, and which steps are done. The members
// of the state that the client has sent stay.
func (f *feed) show(o *opt.Objective) {
	raw, err := json.Marshal(optwire.ObjectiveOf(o, true, true))
	var objective any
	if f.err = cmp.Or(f.err, err, a2a.Decode(raw, &objective)); f.err != nil {
		return
	}
	before := f.state
	own, _ := f.in.State.(object)
	f.state = object{}
	maps.Copy(f.state, own)
	f.state["objective"] = objective
	if before == nil {
		f.add(object{"type": "STATE_SNAPSHOT", "snapshot": f.state})
	} else if changes, err := jsondiff.CompareWithoutMarshal(before, f.state); err != nil || len(changes) > 0 {
		f.err = err
		f.add(object{"type": "STATE_DELTA", "delta": changes})
	}
	f.setSteps(stepsOf(o))
}

// setSteps finishes the steps that are not among names, and starts the others of those.
func (f *feed) setSteps(names []string) {
	for _, name := range slices.Clone(f.at.Steps) {
		if !slices.Contains(names, name) {
			f.at.Steps = without(f.at.Steps, name)
			f.add(object{"type": "STEP_FINISHED", "stepName": name})
		}
	}
	for _, name := range names {
		if !slices.Contains(f.at.Steps, name) && len(f.at.Steps) < mostSteps {
			f.at.Steps = append(f.at.Steps, name)
			f.add(object{"type": "STEP_STARTED", "stepName": name})
		}
	}
}

// showCall adds the call that a gate is about, from which clients make its start, arguments and end.
func (f *feed) showCall(g *opt.Gate) {
	if c, ok := g.Call(); ok && !slices.Contains(f.at.Calls, g.ID) {
		f.at.Calls = append(f.at.Calls, g.ID)
		f.add(object{"type": "TOOL_CALL_CHUNK", "toolCallId": g.ID, "toolCallName": c.Tool, "parentMessageId": g.ID, "delta": string(c.Arguments)})
	}
}

func (f *feed) finish(outcome object) {
	f.end(object{"type": "RUN_FINISHED", "threadId": f.in.ThreadID, "runId": f.in.RunID, "outcome": outcome})
}

func (f *feed) end(e any) {
	f.settle()
	f.at.Over = true
	f.add(e)
}

// settle ends all texts and steps, so that the run may end.
func (f *feed) settle() {
	for _, id := range slices.Clone(f.at.Texts) {
		f.say(id, "", true, 0)
	}
	f.setSteps(nil)
}

// stepsOf returns the names of the tasks that work. Those of different tasks differ.
func stepsOf(o *opt.Objective) (names []string) {
	count := map[string]int{"": 2} // no name is none
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			count[t.Name]++
		}
	}
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			if name := t.Name; t.State == opt.TaskWorking {
				if count[name] > 1 {
					name = strings.TrimSpace(name + " (" + t.ID + ")")
				}
				names = append(names, name)
			}
		}
	}
	return names
}
