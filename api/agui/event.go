package agui

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"longhaul/api/call"
	"longhaul/api/wire"
)

type object = map[string]any

// Failure returns the event that ends a run with a fault.
func Failure(f *call.Fault) ([]byte, error) { return wire.Marshal(failure(f)) }

func failure(f *call.Fault) object {
	code, _ := wire.ErrorInfo(f, false)
	if code == "" {
		_, code = wire.Status(f)
	}
	return failed(code, f.Message)
}

func failed(code, message string) object {
	return object{"type": "RUN_ERROR", "code": code, "message": message}
}

// A position says what a client has of a run.
type position struct {
	Seq   int64    `json:"n"`           // the last event of the objective; before for none
	Texts []string `json:"t,omitempty"` // ids of messages that have started and not ended
	Steps []string `json:"s,omitempty"` // names of steps that have started and not finished
	Calls []string `json:"c,omitempty"` // ids of tool calls of this run
	Over  bool     `json:"o,omitempty"` // the run has ended
}

// before is the position of a client that has none of the events of the objective.
const before = -1

// String returns p as the id of a server-sent event.
func (p position) String() string {
	raw, _ := json.Marshal(p) // texts, a number and a flag have a JSON form
	return base64.RawURLEncoding.EncodeToString(raw)
}

// parsePosition returns the position in the id of an event; ok is false for other texts.
func parsePosition(id string) (p position, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil || json.Unmarshal(raw, &p) != nil || p.Seq < before {
		return position{Seq: before}, false
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
func (f *feed) add(e object) error {
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
func (f *feed) say(id, text string, last bool, seq int64) (err error) {
	if !slices.Contains(f.at.Texts, id) {
		f.at.Texts = append(f.at.Texts, id)
		err = f.add(object{"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"})
	}
	f.at.Seq = max(f.at.Seq, seq)
	if text != "" && err == nil {
		err = f.add(object{"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": text})
	}
	if last && err == nil {
		err = f.close(&f.at.Texts, id, object{"type": "TEXT_MESSAGE_END", "messageId": id})
	}
	return err
}

// close adds the event that ends a text or a step, which is in a list of those that are open.
func (f *feed) close(open *[]string, name string, e object) error {
	*open = slices.DeleteFunc(*open, func(s string) bool { return s == name })
	return f.add(e)
}

// mostSteps is how many steps a client sees at a time. The state has all of them.
const mostSteps = 32

// setSteps finishes the steps that are not among names, and starts the others of those.
func (f *feed) setSteps(names []string) (err error) {
	for _, name := range slices.Clone(f.at.Steps) {
		if !slices.Contains(names, name) && err == nil {
			err = f.close(&f.at.Steps, name, object{"type": "STEP_FINISHED", "stepName": name})
		}
	}
	for _, name := range names {
		if !slices.Contains(f.at.Steps, name) && len(f.at.Steps) < mostSteps && err == nil {
			f.at.Steps = append(f.at.Steps, name)
			err = f.add(object{"type": "STEP_STARTED", "stepName": name})
		}
	}
	return err
}

// settle ends all texts and steps, so that the run may end.
func (f *feed) settle() (err error) {
	for _, id := range slices.Clone(f.at.Texts) {
		if err == nil {
			err = f.say(id, "", true, 0)
		}
	}
	if err == nil {
		err = f.setSteps(nil)
	}
	return err
}
