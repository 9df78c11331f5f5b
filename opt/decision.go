package opt

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"longhaul/a2a"
)

// OwnNames is the prefix of names that stand in place of a principal. No caller may
// have one.
const OwnNames = "longhaul:"

// ByTimer is in [Decision.DecidedBy] in place of a principal when the time of a gate
// was over. Such a decision has no MessageID.
const ByTimer = OwnNames + "timer"

// ByChecks is in [Decision.DecidedBy] in place of a principal when tasks that check an object have
// decided about it. Such a decision has no MessageID; it has the findings instead.
const ByChecks = OwnNames + "checks"

// ByStanding is in [Decision.DecidedBy] in place of a principal when a standing decision has decided at
// a gate, at which no one was asked. Such a decision has no MessageID; it has the use instead.
const ByStanding = OwnNames + "standing"

// ByOriginal is in [Decision.DecidedBy] in place of a principal when the decision about the same object in
// the original of a fork has decided at a gate, at which no one was asked. Such a decision has no
// MessageID; it has the decision there instead.
const ByOriginal = OwnNames + "original"

// A StandingUse is one use of a standing decision: what it says about a gate that is about to open. The
// zero value says that none decides.
type StandingUse struct {
	ID       string `json:"id"`
	Use      int    `json:"use"`  // 1, 2, 3 …
	Rule     string `json:"rule"` // digest of what its people have agreed to
	Action   Action `json:"action"`
	Feedback string `json:"feedback,omitempty"`
	By       []Vote `json:"by"` // the people behind it, each with the action

	ObjectDigest string `json:"objectDigest,omitempty"` // of the object for which its rule holds
}

// A StandingQuestion asks for a standing decision about a gate that is about to open.
type StandingQuestion struct {
	Tenant      string   `json:"tenant"`
	ContextID   string   `json:"contextId,omitempty"`
	ObjectiveID string   `json:"objectiveId"`
	Gate        Gate     `json:"gate"`
	Requesters  []string `json:"requesters,omitempty"` // all who shaped the work
	Counts      bool     `json:"counts,omitempty"`     // the gate waits while a quota of questions is used up, if there is no decision
}

// A Decision is the record of one reply to a gate, accepted or refused, or of a gate
// that expired. The decisions of one attempt at a plan form a chain: each has the hash
// of the one before it, so none can be changed, removed or added later without
// changing all hashes after it.
type Decision struct {
	N           int64    `json:"n"` // 1, 2, 3 … in the chain
	ObjectiveID string   `json:"objectiveId"`
	PlanID      string   `json:"planId"`
	Attempt     int      `json:"attempt"`         // at the plan; each has its own chain
	Epoch       int      `json:"epoch,omitempty"` // of the plan: each has its own chain, too; 0 for the first
	TaskID      string   `json:"taskId"`          // of the A2A task that waits
	GateID      string   `json:"interruptId"`
	Kind        GateKind `json:"kind,omitempty"`   // of the gate, if it was open
	Action      Action   `json:"action,omitempty"` // of an approval
	Verdict     Verdict  `json:"verdict"`
	Closed      bool     `json:"closed,omitempty"` // the gate was closed by this decision
	DecidedBy   string   `json:"decidedBy"`
	Groups      []string `json:"groups,omitempty"` // of DecidedBy, or of For, that may decide
	For         *Seat    `json:"for,omitempty"`    // in whose place DecidedBy has decided; nil for its own
	DecidedAt   a2a.Time `json:"decidedAt"`
	MessageID   string   `json:"messageId,omitempty"`
	ByHand      bool     `json:"byHand,omitempty"` // DecidedBy has moved or canceled the task, in place of a reply

	ObjectDigest string `json:"objectDigest,omitempty"` // of the object of the gate
	SeenDigest   string `json:"seenDigest,omitempty"`   // of the object that the sender has seen, as the reply says
	ReplyDigest  string `json:"replyDigest,omitempty"`  // of the parts of the message, made as [Gate.Digest] is

	Checks   []Finding    `json:"checks,omitempty"`   // of a decision [ByChecks], or from before one [ByStanding] or [ByOriginal]
	Standing *StandingUse `json:"standing,omitempty"` // of a decision [ByStanding]
	Kept     *Original    `json:"original,omitempty"` // of a decision [ByOriginal]: where people have really decided

	Previous string `json:"previous"` // the Hash before it; "" for the first
	Hash     string `json:"hash"`
}

// Outcome returns how, by whom and when d has closed its gate, for people: not with which words.
func (d Decision) Outcome() string {
	return d.How() + ": " + d.DecidedAt.Time().UTC().Format("2006-01-02 15:04 MST")
}

// How returns how and by whom d has closed its gate, for people.
func (d Decision) How() string {
	switch {
	case d.ByHand:
		return "Closed by hand by " + d.Who()
	case d.Kept != nil:
		return d.Action.Outcome() + ", as decided in the original by " + d.Kept.who()
	case d.DecidedBy == ByChecks:
		return d.Action.Outcome() + " by checks"
	case d.DecidedBy == ByTimer && d.Action == "":
		return "Closed, since no answer came in time"
	case d.DecidedBy == ByTimer:
		return d.Action.Outcome() + ", since no answer came in time"
	}
	return d.Action.Outcome() + " by " + d.Who()
}

// Who returns who has made d, for people: a deputy with the one that it is for, a standing decision with
// those behind it, and one in the original with those who have made it there.
func (d Decision) Who() string {
	switch {
	case d.Kept != nil:
		return d.Kept.who() + " in the original"
	case d.Standing != nil:
		return "the standing decision " + d.Standing.ID + " of " + namesOf(d.Standing.By)
	}
	return d.For.By(d.DecidedBy)
}

// IsAs reports whether d keeps one of the decisions of the original, which are given by their hashes: about
// the object of d, as d names it, and by those who have accepted there.
func (d Decision) IsAs(recorded map[string]Decision) bool {
	o := d.Kept
	if o == nil || o.Head == nil {
		return false
	}
	of, named := recorded[o.Head.Hash], *o
	then := of.Original()
	named.By, named.Terms, named.Head = nil, "", nil
	if then == nil || digestOf(named) != digestOf(*then) || of.N != o.Head.N || of.PlanID != o.Head.PlanID {
		return false
	}
	votes := slices.Collect(maps.Values(recorded))
	for _, v := range o.By {
		if !slices.ContainsFunc(votes, func(r Decision) bool {
			return r.GateID == o.GateID && r.Verdict == Accepted && r.Action == Accept && r.DecidedBy == v.DecidedBy
		}) {
			return false
		}
	}
	return len(o.By) > 0 && of.Action == Accept && d.Action == Accept && d.ObjectDigest == o.ObjectDigest
}

// namesOf names all who have voted, for people.
func namesOf(votes []Vote) string {
	var names []string
	for _, v := range votes {
		names = append(names, v.For.By(v.DecidedBy))
	}
	return strings.Join(names, ", ")
}

// A Chain is the end of a chain of decisions. The zero value is a chain without any.
type Chain struct {
	N    int64  `json:"n"`
	Hash string `json:"hash"`
}

// Add makes d the next decision of c, and returns it with its number and hash: "sha256:"
// and the SHA-256, in hexadecimal, of d as JSON in the canonical form of RFC 8785,
// without the member hash.
func (c *Chain) Add(d Decision) *Decision {
	d.N, d.Previous, d.Hash = c.N+1, c.Hash, ""
	m, err := members(a2a.DataPart(d).Data)
	if err != nil {
		panic("opt: decision without a JSON form: " + err.Error())
	}
	d.Hash = hashOf(m)
	c.N, c.Hash = d.N, d.Hash
	return &d
}

// hashOf returns the hash of a decision with these members. It ignores the member
// hash.
func hashOf(members map[string]json.RawMessage) string {
	m := maps.Clone(members)
	delete(m, "hash")
	return digestOf(m)
}

// members returns the members of a JSON object.
func members(doc []byte) (m map[string]json.RawMessage, err error) {
	err = json.Unmarshal(doc, &m)
	return m, err
}
