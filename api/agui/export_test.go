package agui

import (
	"encoding/json"

	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/opt"
)

// Joined returns the messages of a thread with those of a client.
func Joined(own []byte, thread ...string) ([]byte, error) {
	var list []entry
	for _, id := range thread {
		role := "assistant"
		if id[0] == 'u' {
			role = "user"
		}
		list = append(list, entry{ID: id, Role: role})
	}
	var messages []sent
	if err := json.Unmarshal(own, &messages); err != nil {
		return nil, err
	}
	return json.Marshal(joined(messages, list))
}

// A Feed is a feed of a client that has the events up to an id, "" for none.
type Feed struct{ feed }

// NewFeed returns a feed, and whether the id is that of a position.
func NewFeed(id string) (*Feed, bool) {
	at, ok := parsePosition(id)
	return &Feed{feed{at: at}}, ok
}

func (f *Feed) Seq() int64                                { return f.at.Seq }
func (f *Feed) Take() (string, error)                     { return f.take() }
func (f *Feed) Say(id, text string, last bool, seq int64) { f.say(id, text, last, seq) }
func (f *Feed) SetSteps(names ...string)                  { f.setSteps(names) }
func (f *Feed) Settle()                                   { f.settle() }

// Answer returns what a client answers at a gate with a member of resume.
func Answer(g *opt.Gate, resume string) (gate.AnswerParams, error) {
	in, err := ReadInput([]byte(`{"threadId":"t","runId":"r","resume":[` + resume + `]}`))
	if err != nil {
		return gate.AnswerParams{}, err
	}
	return in.Resume[0].answer(&call.Call{}, g)
}

// Schema returns the schema of the answers at a gate with questions.
func Schema(g *opt.Gate) ([]byte, error) { return json.Marshal(questionsSchema(g)) }
