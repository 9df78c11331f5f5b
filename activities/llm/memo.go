package llm

import (
	"fmt"

	"longhaul/activities"
	"longhaul/opt"
)

// A memo holds the progress of a task. It is stored as JSON after each leg: add members,
// never rename one.
type memo struct {
	Said    []message `json:"said,omitempty"`    // after the prompt
	Tools   []tool    `json:"tools,omitempty"`   // that the model may call, as they were listed at the start
	Heard   int       `json:"heard,omitempty"`   // how many messages of clients the model has, without those to the task alone
	HeardTo int       `json:"heardTo,omitempty"` // how many of those

	Open     []call   `json:"open,omitempty"`     // calls of the latest message that have no result yet, the next one first
	Accepted string   `json:"accepted,omitempty"` // digest of the next call, if a person has accepted it
	Edited   bool     `json:"edited,omitempty"`   // a person has changed its arguments
	Calling  *calling `json:"calling,omitempty"`  // the next call may have begun
	Asked    *asked   `json:"asked,omitempty"`    // the open question to a person

	Turns    int     `json:"turns,omitempty"`    // of the model
	Fixes    int     `json:"fixes,omitempty"`    // how often the model was asked for an answer that fits the schema
	Waits    int     `json:"waits,omitempty"`    // since the last step that was done
	Unforced bool    `json:"unforced,omitempty"` // the model's server does not take the schema
	Calls    int     `json:"calls,omitempty"`    // that have a result
	Budget   Budgets `json:"budget,omitzero"`    // that people have raised, in the place of the task's
}

// calling is written before a call that must not be repeated.
type calling struct {
	Digest  string `json:"digest"` // of the call
	Round   int    `json:"round"`  // and so on: the work that makes the call
	Attempt int    `json:"attempt"`
	Leg     int    `json:"leg"`
}

// asked is a question to a person.
type asked struct {
	About  string `json:"about"`  // one of those below
	Digest string `json:"digest"` // of the object that it shows
	Before int    `json:"before"` // replies to earlier gates
}

// Subjects of questions to people.
const (
	aboutCall    = "call"    // whether a call may be made
	aboutUnknown = "unknown" // how to continue after a call that may have been made
	aboutBudget  = "budget"  // whether more may be spent
)

// maxMemo is the maximum size of a memo in bytes. It limits how much each leg adds to
// the history of a task.
const maxMemo = 512 << 10

// withMemo returns o with m, or a failure if m is too large.
func withMemo(o activities.Outcome, m *memo) activities.Outcome {
	o = activities.Keeping(o, m)
	if len(o.Memo) > maxMemo {
		return activities.Failed(CodeTooLong, fmt.Sprintf("The conversation with the model has more than %d bytes.", maxMemo))
	}
	return o
}

// nextLeg returns the outcome of a leg after which the next one begins.
func (m *memo) nextLeg() activities.Outcome {
	o := activities.Continue(nil)
	if len(m.Open) == 0 { // else a call of a tool is next
		o.Park.Needs = turnNeeds
	}
	return withMemo(o, m)
}

// reply returns the reply to the question in m, nil if there is none yet.
func (m *memo) reply(w activities.Work) *opt.Reply {
	if m.Asked == nil || len(w.Replies) <= m.Asked.Before {
		return nil
	}
	return &w.Replies[m.Asked.Before]
}

// answer closes the next call with a result.
func (m *memo) answer(text string, failed bool) {
	m.Said = append(m.Said, message{By: byTool, CallID: m.Open[0].ID, Text: text, Failed: failed})
	m.Open = m.Open[1:]
	m.Calls++
	m.Accepted, m.Edited, m.Calling, m.Asked, m.Waits = "", false, nil, nil, 0
}
