package client

import (
	"encoding/json"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/wire"
)

// A Reply is a person's answer at a gate: an Action at an approval, or Answers to
// questions.
type Reply wire.Reply

// A Refinement says what to make better.
type Refinement = opt.Refinement

// Message returns the message that sends r to a waiting task. It panics if an
// answer is not JSON.
func (r Reply) Message(taskID string) a2a.Message {
	return a2a.Message{MessageID: NewMessageID(), TaskID: taskID, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.DataPart(r)}}
}

// TextAnswer returns the answer to a question in plain words.
func TextAnswer(questionID, text string) opt.Answer {
	raw, err := json.Marshal(text)
	if err != nil {
		panic("client: text without a JSON form: " + err.Error())
	}
	return opt.Answer{ID: questionID, Answer: raw}
}
