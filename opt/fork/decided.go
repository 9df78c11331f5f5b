package fork

import (
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// decisions are the decisions at the gates of an objective. Forks show the latest one about an object, and
// may keep it if its chain had it at the event from which they continue.
type decisions struct {
	of    map[string][]opt.Original // by the ids of tasks, oldest first
	gates map[string]opt.Gate       // as they were shown last, by id
	votes map[string][]opt.Decision // that have accepted, by gate
	chain opt.Chains
}

// add adds an event. later is whether it comes after the one from which the forks continue.
func (s *decisions) add(e opt.Event, later bool) {
	switch {
	case e.Kind == opt.SourceRewound:
		s.setBack(e.PlanID)
	case e.Kind == opt.TaskMoved && e.Gate != nil:
		s.gates[e.Gate.ID] = *e.Gate
	}
	d := e.Decision
	if d == nil {
		return
	}
	recorded := s.chain.Add(a2a.DataPart(*d).Data) == nil // no decision before it was changed, too
	if d.Kind != opt.Approval || d.ObjectDigest == "" {
		return
	}
	if d.Verdict == opt.Accepted && d.Action == opt.Accept {
		s.votes[d.GateID] = append(s.votes[d.GateID], *d)
	}
	if !d.Closed {
		return
	}
	o := d.Original()
	switch {
	case o == nil:
		o = &opt.Original{ObjectDigest: d.ObjectDigest, DecidedBy: opt.OwnNames}
	case d.Kept == nil && d.Action == opt.Accept && !later && recorded:
		s.keep(o, *d)
	}
	ref, _ := opt.ParseID(d.TaskID)
	s.of[ref.TaskID] = append(s.of[ref.TaskID], *o)
}

// keep adds to o what a fork needs to keep d, the last one of the votes that have closed its gate. If there
// were notes, all votes name the digest that covers them: others have accepted without these. A deputy has
// decided for one who is absent then, and no fork keeps that.
func (s *decisions) keep(o *opt.Original, d opt.Decision) {
	gate, shown := s.gates[d.GateID]
	var by []opt.Vote
	for _, v := range s.votes[d.GateID] {
		seen := v.SeenDigest == d.ObjectDigest || gate.Digest() == d.ObjectDigest
		if !shown || !seen || v.For != nil {
			return
		}
		by = append(by, opt.Vote{Action: v.Action, DecidedBy: v.DecidedBy, Groups: v.Groups, ObjectDigest: v.SeenDigest})
	}
	o.By, o.Terms = by, gate.Terms()
	o.Head = &opt.ChainHead{PlanID: d.PlanID, Attempt: d.Attempt, Epoch: d.Epoch, Chain: opt.Chain{N: d.N, Hash: d.Hash}}
}

// setBack has no fork keep a decision in a plan, or in all for "", of which a reset may have taken it back.
func (s *decisions) setBack(planID string) {
	for task, list := range s.of {
		if ref, _ := opt.ParseID(task); planID == "" || ref.PlanID == planID {
			unkept(list, func(opt.Original) bool { return true })
		}
	}
}

// unkept has no fork keep such decisions.
func unkept(list []opt.Original, such func(opt.Original) bool) {
	for i := range list {
		if such(list[i]) {
			list[i].Head = nil
		}
	}
}

// before returns the decisions at the gates of t, which may be those in its own original. One without a
// person leaves none before it about its object.
func (s *decisions) before(t *opt.Task) (out []opt.Original) {
	for _, o := range slices.Concat(t.Earlier, s.of[t.ID]) {
		if strings.HasPrefix(o.DecidedBy, opt.OwnNames) {
			unkept(out, func(earlier opt.Original) bool { return earlier.ObjectDigest == o.ObjectDigest })
			continue
		}
		out = append(out, o)
	}
	return out
}
