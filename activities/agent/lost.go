package agent

import (
	"errors"
	"slices"

	"longhaul/opt"
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

const (
	maxResends = 5  // without a question to a person: a task that ends its agent would begin for ever
	maxAsks    = 20 // questions that are kept, the last ones
)

// What a person may have done about a lost task.
const (
	sendAgain = "send again"
	stopIt    = "stop"
)

// untouched reports whether the agent has shown nothing of its work, so that it may begin again
// without a question to a person. Tasks of older programs have no Returned and no Asks.
func (m *memo) untouched() bool {
	return !m.Returned && len(m.Seen) == 0 && len(m.Asks) == 0 && m.Asked == nil && m.Answered == "" && m.Resends < maxResends
}

// forget forgets the remote task, so that the next leg starts another one. That gets the notes
// again, too.
func (m *memo) forget() {
	*m = memo{ContextID: m.ContextID, Sends: m.Sends, Resends: m.Resends + 1, Asks: m.Asks, Seen: m.Seen, Returned: m.Returned}
}

// An ask is a question that the agent has asked and a person has answered.
type ask struct {
	GateID string `json:"gateId"`
	Text   string `json:"text"`
}

// noteSeen records the digest of an artifact that the task has.
func (m *memo) noteSeen(id, known string) {
	if m.Seen == nil {
		m.Seen = map[string]string{}
	}
	m.Seen[id] = known
}

// noteAsk keeps a question for an agent that forgets the task.
func (m *memo) noteAsk(gateID, text string) {
	m.Asks = append(m.Asks, ask{gateID, truncate(text, maxLine)})
	m.Asks = m.Asks[max(0, len(m.Asks)-maxAsks):]
}

// replyTo returns the reply to a gate.
func replyTo(replies []opt.Reply, gateID string) (opt.Reply, bool) {
	i := slices.IndexFunc(replies, func(r opt.Reply) bool { return r.GateID == gateID })
	if i < 0 {
		return opt.Reply{}, false
	}
	return replies[i], true
}
