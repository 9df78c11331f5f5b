package opt

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"longhaul/a2a"
)

// A DecisionHead says where the chains of an objective end at a time. A copy of it
// proves later that a decision was removed from the end of a chain.
type DecisionHead struct {
	ObjectiveID string      `json:"objectiveId"`
	Count       int64       `json:"count"`  // of decisions, in all chains
	Chains      []ChainHead `json:"chains"` // by plan, attempt and epoch
	At          a2a.Time    `json:"at"`

	// Signature is a JWS of [DecisionHead.Statement]; "" if the server has no key.
	Signature string `json:"signature,omitempty"`
}

// A ChainHead is the end of the chain of one attempt at a plan, in one epoch.
type ChainHead struct {
	PlanID  string `json:"planId"`
	Attempt int    `json:"attempt"`
	Epoch   int    `json:"epoch,omitempty"` // 0 for the first
	Chain
}

// Name returns the name of the chain in messages.
func (h ChainHead) Name() string {
	if h.Epoch > 0 {
		return fmt.Sprintf("%s, attempt %d, epoch %d", h.PlanID, h.Attempt, h.Epoch)
	}
	return fmt.Sprintf("%s, attempt %d", h.PlanID, h.Attempt)
}

// Statement returns the signed bytes: h without its signature, as JSON in the canonical
// form of RFC 8785.
func (h DecisionHead) Statement() []byte {
	h.Signature = ""
	if h.Chains == nil {
		h.Chains = []ChainHead{}
	}
	return a2a.Canonical(a2a.DataPart(h).Data)
}

// A Decided says how a gate was closed, for the metadata of its task.
type Decided struct {
	GateID    string    `json:"interruptId"`
	Action    Action    `json:"action,omitempty"` // of an approval
	DecidedBy string    `json:"decidedBy"`
	For       *Seat     `json:"for,omitempty"` // in whose place; nil for its own
	At        a2a.Time  `json:"decidedAt"`
	Feedback  string    `json:"feedback,omitempty"`
	ByHand    bool      `json:"byHand,omitempty"`   // DecidedBy has moved or canceled the task, in place of a reply
	Standing  string    `json:"standing,omitempty"` // id of the standing decision, of which this is one use
	Kept      *Original `json:"original,omitempty"` // of a fork: the decision there that has decided here, too
	Answers   []Answer  `json:"answers,omitempty"`  // of a clarification; none if they are long
}

// maxDecidedAnswers is the maximum length of Answers as JSON: each status of the work repeats them.
const maxDecidedAnswers = 2 << 10

// Who returns who has closed the gate, for people.
func (d Decided) Who() string {
	return Decision{DecidedBy: d.DecidedBy, For: d.For, Kept: d.Kept}.Who()
}

// An Original is a decision of a person about an object in the original of a fork. A fork may keep one
// with a Head, as [Gate.Keeps] says.
type Original struct {
	ObjectiveID  string   `json:"objectiveId"`
	TaskID       string   `json:"taskId"`       // of the A2A task that has waited
	ObjectDigest string   `json:"objectDigest"` // that the decision covers
	Action       Action   `json:"action"`
	DecidedBy    string   `json:"decidedBy"`
	For          *Seat    `json:"for,omitempty"` // in whose place; nil for its own
	At           a2a.Time `json:"decidedAt"`

	GateID string     `json:"interruptId,omitempty"`
	By     []Vote     `json:"by,omitempty"`    // all who have accepted, the last of whom is DecidedBy
	Terms  string     `json:"terms,omitempty"` // what its gate asked as it was closed: [Gate.Terms]
	Head   *ChainHead `json:"head,omitempty"`  // of the chain of the original, which ends with the decision
}

// who names all who have decided, for people.
func (o *Original) who() string {
	return cmp.Or(namesOf(o.By), o.For.By(cmp.Or(o.DecidedBy, "anonymous")))
}

// String returns o for people, as a sentence; "" for none.
func (o *Original) String() string {
	if o == nil {
		return ""
	}
	d := Decision{Action: o.Action, DecidedBy: cmp.Or(o.DecidedBy, "anonymous"), For: o.For, DecidedAt: o.At}
	return "In the original: " + d.Outcome() + "."
}

// Original returns d for forks, nil if no person has decided about an object with it. That of a fork which
// has kept a decision is where people have made it.
func (d *Decision) Original() *Original {
	switch {
	case d == nil || !d.Closed || d.ByHand || d.Kind != Approval || d.ObjectDigest == "":
		return nil
	case d.Kept != nil:
		return d.Kept
	case strings.HasPrefix(d.DecidedBy, OwnNames):
		return nil
	}
	return &Original{
		ObjectiveID: d.ObjectiveID, TaskID: d.TaskID, ObjectDigest: d.ObjectDigest, Action: d.Action, DecidedBy: d.DecidedBy, For: d.For, At: d.DecidedAt,
		GateID: d.GateID,
	}
}

// Decided returns how e has closed a gate, nil if it has closed none.
func (e Event) Decided() *Decided {
	d := e.Decision
	if d == nil || !d.Closed {
		return nil
	}
	out := &Decided{GateID: d.GateID, Action: d.Action, DecidedBy: d.DecidedBy, For: d.For, At: d.DecidedAt, ByHand: d.ByHand, Kept: d.Kept}
	if d.Standing != nil {
		out.Standing = d.Standing.ID
	}
	switch {
	case e.Reply != nil:
		out.Feedback = e.Reply.Remark()
		if raw, err := json.Marshal(e.Reply.Answers); err == nil && len(raw) <= maxDecidedAnswers {
			out.Answers = e.Reply.Answers
		}
	case e.Step == Expire:
		out.Feedback = ReasonTimeout
	}
	return out
}
