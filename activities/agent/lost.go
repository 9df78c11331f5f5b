package agent

import (
	"errors"
	"slices"
)

// An OnLost says what happens when an agent does not know a task any more, such as one that keeps
// its tasks in memory and was started again.
type OnLost string

const (
	Resend OnLost = "resend" // the agent gets the task again; after an artifact or a question a person is asked
	Ask    OnLost = "ask"    // a person is asked
	Fail   OnLost = "fail"
)

// UnmarshalText implements [encoding.TextUnmarshaler].
func (l *OnLost) UnmarshalText(text []byte) error {
	if *l = OnLost(text); !slices.Contains([]OnLost{Resend, Ask, Fail}, *l) {
		return errors.New("must be resend, ask or fail")
	}
	return nil
}

// maxResends is how often a task is sent again without a question to a person. An agent that is
// ended by the task itself would get it for ever otherwise.
const maxResends = 5

// untouched reports whether the agent has shown nothing of its work, so that it may begin again
// without a question to a person.
func (m *memo) untouched() bool { return !m.Returned && len(m.Asks) == 0 && m.Resends < maxResends }

// forget forgets the remote task, so that the next leg starts another one.
func (m *memo) forget() {
	*m = memo{ContextID: m.ContextID, Sends: m.Sends, Resends: m.Resends + 1, Asks: m.Asks, Passed: m.Passed, Seen: m.Seen, Returned: m.Returned}
}

// An ask is a question that the agent has asked and a person has answered.
type ask struct {
	GateID string `json:"gateId"`
	Text   string `json:"text"`
}
