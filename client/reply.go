package client

import (
	"encoding/json"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Reply is a person's answer at a gate: an Action where an approval is asked
// for, or Answers to its questions.
type Reply struct {
	Action   opt.Action   `json:"action,omitempty"`
	Feedback string       `json:"feedback,omitempty"`
	Answers  []opt.Answer `json:"answers,omitempty"`
	GateID   string       `json:"interruptId,omitempty"` // "" leaves it to the agent which gate is meant, if only one is open
}

// Message returns the message that brings r to a waiting task. It panics if an
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
