package opt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"longhaul/a2a"
)

// ByChecks is in [Decision.DecidedBy] in place of a principal when tasks that check an object have
// decided about it. Such a decision has no MessageID; it has the findings instead.
const ByChecks = OwnNames + "checks"

// Checks say which tasks check the object of an approval before people are asked. Their results are
// findings. If each group accepts, no one is asked; if one rejects, the object goes back to those who
// made it, for some rounds; in all other cases people decide.
type Checks struct {
	Groups []CheckGroup `json:"groups"`
	Rounds int          `json:"rounds,omitempty"` // how often a rejection sends the object back; 0 for never
}

// A CheckGroup is a number of checks that vote.
type CheckGroup struct {
	Tasks []string `json:"tasks"` // as in [Piece.Results]
	Need  int      `json:"need"`  // how many of them must accept, and how many must reject to reject
}

// A Finding is what a check says about an object.
type Finding struct {
	Check   string `json:"check"` // the name of the task
	TaskID  string `json:"taskId"`
	Verdict Action `json:"verdict"`          // accept or reject; ask: people should decide
	Reason  string `json:"reason,omitempty"` // in words
	Asked   string `json:"asked,omitempty"`  // digest of the executor and the input of the check
	Digest  string `json:"digest,omitempty"` // of all that the check has returned, made as [Gate.Digest] is
}

// String returns f on one line, for people.
func (f Finding) String() string {
	text := f.Check + ": " + string(f.Verdict)
	if f.Reason != "" {
		text += ", " + f.Reason
	}
	return text
}

// maxReason bounds the reason in a finding, in bytes.
const maxReason = 500

// Finding returns what t, which checks an object, has found. A task that has not checked it by
// itself has found nothing, so that people decide: it has failed, or a client has ended or linked it.
func (t *Task) Finding() Finding {
	f := Finding{Check: t.Name, TaskID: t.A2AID(), Verdict: Ask, Asked: digestOf([]any{t.Executor, t.Input})}
	if t.State != TaskCompleted || t.ByHand || t.Link != "" {
		f.Reason = strings.TrimSpace("It has not been checked. " + t.Failure)
		return f
	}
	var parts []a2a.Part
	for _, a := range t.Artifacts {
		parts = append(parts, a.Parts...)
	}
	f.Digest, f.Reason = PartsDigest(parts), "The check has returned no verdict."
	for _, p := range parts {
		if f.read(p) {
			break
		}
	}
	return f
}

// read reads a verdict from a part of a result: JSON as data or as a text.
func (f *Finding) read(p a2a.Part) bool {
	raw := []byte(p.Data)
	if p.Text != nil {
		raw = []byte(*p.Text)
	}
	var said struct {
		Verdict Action `json:"verdict"`
		Reason  string `json:"reason"`
	}
	if json.Unmarshal(raw, &said) != nil || !slices.Contains([]Action{Accept, Reject, Ask}, said.Verdict) {
		return false
	}
	f.Verdict, f.Reason = said.Verdict, strings.ToValidUTF8(said.Reason[:min(len(said.Reason), maxReason)], "")
	return true
}

// Decide returns what follows from findings, by the ids of their tasks: accept, reject, or ask.
func (c *Checks) Decide(found func(place string) Finding) Action {
	result := Accept
	for _, g := range c.Groups {
		count := map[Action]int{}
		for _, place := range g.Tasks {
			count[found(place).Verdict]++
		}
		switch {
		case count[Accept] >= g.Need:
		case count[Reject] >= g.Need:
			result = Reject
		default:
			return Ask
		}
	}
	return result
}

// Places lists the tasks of c.
func (c *Checks) Places() (list []string) {
	if c == nil {
		return nil
	}
	for _, g := range c.Groups {
		list = append(list, g.Tasks...)
	}
	return list
}

// Valid returns why c cannot be, nil if it can.
func (c *Checks) Valid() error {
	for _, g := range c.Groups {
		if n := len(g.Tasks); n == 0 || g.Need < 1 || g.Need > n || 2*g.Need <= n {
			return fmt.Errorf("of %d checks more than half must agree, and at most all: not %d", len(g.Tasks), g.Need)
		}
	}
	return nil
}
