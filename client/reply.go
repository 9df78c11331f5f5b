package client

import (
	"encoding/json"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Reply is a person's answer at a gate: an Action at an approval, or Answers to
// questions.
type Reply struct {
	Action   opt.Action      `json:"action,omitempty"`
	Feedback string          `json:"feedback,omitempty"`
	Refine   *Refinement     `json:"refineFeedback,omitempty"`     // of the action refine
	Edited   json.RawMessage `json:"editedArtifactData,omitempty"` // of the action edit-accept: JSON in place of the artifact
	Question string          `json:"question,omitempty"`           // of the action ask
	Answers  []opt.Answer    `json:"answers,omitempty"`
	Digest   string          `json:"objectDigest,omitempty"` // of the object that was seen, as the gate has it; a decision about another one is refused
	GateID   string          `json:"interruptId,omitempty"`  // may be "" if the task has only one open gate
}

// A Refinement says what to make better.
type Refinement struct {
	Scope string `json:"scope"` // whole, section or items
	Text  string `json:"text,omitempty"`
}

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
