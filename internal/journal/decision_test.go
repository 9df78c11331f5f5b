package journal_test

import (
	"fmt"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// decided returns the event that records a reply of a principal to the gate of the
// m-th task of the n-th plan, as the next decision of a chain.
func (s *scribe) decided(chain *opt.Chain, n, m int, by string, v opt.Verdict) opt.Event {
	e := said(s.task(n, m), "", fmt.Sprintf("m-%s-%d", by, chain.N), v)
	e.Reply = &opt.Reply{GateID: opt.GateID(s.task(n, m), 1), MessageID: e.Message.MessageID, Action: opt.Accept, DecidedBy: by, At: at(7), Feedback: "fine"}
	e.Decision = chain.Add(opt.Decision{
		ObjectiveID: s.objective.ID, PlanID: s.plan(n), Attempt: 1, TaskID: s.task(n, m), GateID: e.Reply.GateID, Kind: opt.Approval,
		Action: opt.Accept, Verdict: v, Closed: v == opt.Accepted, DecidedBy: by, DecidedAt: at(7), MessageID: e.Message.MessageID,
	})
	return e
}

// ledger records an objective with two plans, and five decisions in their chains.
func ledger(t *testing.T, j *journal.Journal) (s *scribe, want []opt.Decision, head opt.DecisionHead) {
	s = begin(t, j, newObjective())
	s.record(planAdded(s.objective, 0, 1), planAdded(s.objective, 1, 1), s.waits(0, 0, gate(s.task(0, 0), opt.Approval, 1)))
	var first, second opt.Chain
	for _, e := range []opt.Event{
		s.decided(&first, 0, 0, "eve", opt.NotAllowed), s.decided(&second, 1, 0, "bob", opt.NotWaiting), s.decided(&first, 0, 0, "mallory", opt.NotAllowed),
		s.decided(&first, 0, 0, "ann", opt.Accepted), s.decided(&first, 0, 0, "bob", opt.NotWaiting),
	} {
		s.record(e)
		want = append(want, *e.Decision)
	}
	return s, want, opt.DecisionHead{ObjectiveID: s.objective.ID, Count: 5, Chains: []opt.ChainHead{
		{PlanID: s.plan(0), Attempt: 1, Chain: first}, {PlanID: s.plan(1), Attempt: 1, Chain: second},
	}}
}

func TestDecisions(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s, want, head := ledger(t, open())
		var got []opt.Decision
		var chains opt.Chains
		for after, more := shown.DecisionCursor(0), true; more; {
			p := test.Value(s.j.Decisions(t.Context(), tenant, s.objective.ID, after, 2))(t)
			test.Equal(t, fmt.Sprintf("head after %d", after), head, p.Head)
			if len(p.Decisions) > 2 || len(p.Decisions) == 0 {
				t.Fatalf("%d on a page", len(p.Decisions))
			}
			for _, d := range p.Decisions {
				got = append(got, d)
				test.Error(t, "the call", nil, chains.Add(a2a.DataPart(d).Data))
			}
			after, more = p.Last, p.More
		}
		test.Equal(t, "decisions", want, got)
		test.Error(t, "the call", nil, chains.End(head))
		if p, err := s.j.Decisions(t.Context(), tenant, s.objective.ID, 1000, 2); err != nil || len(p.Decisions) > 0 || p.More || p.Last != 1000 {
			t.Errorf("after the last one: %+v, %v", p, err)
		}
	})
}

func TestDecisions_none(t *testing.T) {
	t.Parallel()
	none := begin(t, openFile(t, ""), newObjective())
	want := shown.DecisionPage{Head: opt.DecisionHead{ObjectiveID: none.objective.ID}}
	test.Equal(t, "without decisions", want, test.Value(none.j.Decisions(t.Context(), tenant, none.objective.ID, 0, 10))(t))
}

// How a gate was closed is shown at its task and at the root task. Replies that close
// no gate are not.
func TestTask_decided(t *testing.T) {
	t.Parallel()
	j := openFile(t, "")
	s, _, _ := ledger(t, j)
	want := &opt.Decided{GateID: opt.GateID(s.task(0, 0), 1), Action: opt.Accept, DecidedBy: "ann", At: at(7), Feedback: "fine"}
	for id, want := range map[string]*opt.Decided{s.objective.ID: want, s.task(0, 0): want, s.task(1, 0): nil} {
		test.Equal(t, id, want, s.view(id).Decided)
	}
}
