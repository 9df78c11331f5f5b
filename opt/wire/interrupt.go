package wire

import (
	"encoding/json"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// An Interrupt is an open gate with the work that waits at it.
type Interrupt struct {
	opt.Gate
	TaskName      string `json:"taskName,omitempty"`
	ObjectiveID   string `json:"objectiveId"`
	ObjectiveName string `json:"objectiveName,omitempty"`
	ContextID     string `json:"contextId"`
	RequestedBy   string `json:"requestedBy,omitempty"`
	DeputyFor     string `json:"deputyFor,omitempty"` // who is absent and in whose place the caller may answer; only in a list of its own
}

// InterruptOf returns i as clients see it.
func InterruptOf(i shown.Interrupt) Interrupt {
	return Interrupt{*i.Gate.Shown(), i.TaskName, i.ObjectiveID, i.Objective, i.ContextID, i.Principal, i.For}
}

// An InterruptPage is a page of a list of open gates.
type InterruptPage struct {
	Interrupts    []Interrupt `json:"interrupts"`
	NextPageToken string      `json:"nextPageToken"` // empty on the last page
	PageSize      int         `json:"pageSize"`
	TotalSize     int         `json:"totalSize"`
}

// A Reply is a decision at a gate, as a part of a message or a [GateAnswer] has it: an action at an
// approval, or answers to questions.
type Reply struct {
	Action   opt.Action      `json:"action,omitempty"`
	Feedback string          `json:"feedback,omitempty"`
	Refine   *opt.Refinement `json:"refineFeedback,omitempty"`     // of refine, if feedback does not say it: what should be better
	Edited   json.RawMessage `json:"editedArtifactData,omitempty"` // of edit-accept: JSON in place of the object
	Question string          `json:"question,omitempty"`           // of ask
	Answers  []opt.Answer    `json:"answers,omitempty"`
	Digest   string          `json:"objectDigest,omitempty"` // of the object that was seen, as the gate has it; a decision about another one is refused
	GateID   string          `json:"interruptId,omitempty"`  // may be "" in a message to a task with only one open gate, and in an answer
}

// A GateAnswer is an answer to a gate: a decision, or a text.
type GateAnswer struct {
	Reply
	Text      string `json:"text,omitempty"`      // the answer to the only question, or accept or reject; other text at an approval is a comment
	MessageID string `json:"messageId,omitempty"` // of the reply; without one, the same answer of the same caller is the same reply. If it does not count, it is another one after the next step of the gate
}

// An Answered is the result of an answer.
type Answered struct {
	ID      string        `json:"interruptId"`
	TaskID  string        `json:"taskId"`
	State   a2a.TaskState `json:"state"` // in the words of 0.3
	Pending bool          `json:"replyPending,omitempty"`
	Note    string        `json:"note,omitempty"` // why a text at an approval has decided nothing
}

// A DecisionPage is a page of the decisions at the gates of an objective.
type DecisionPage struct {
	ObjectiveID   string           `json:"objectiveId"`
	Decisions     []opt.Decision   `json:"decisions"`
	Head          opt.DecisionHead `json:"head"`          // of all decisions, also those on other pages
	NextPageToken string           `json:"nextPageToken"` // empty on the last page
	PageSize      int              `json:"pageSize"`
	TotalSize     int64            `json:"totalSize"`
}
