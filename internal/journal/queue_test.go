package journal_test

import (
	"testing"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// TestQueue follows four objectives of one context, and one of another, through
// everything that makes them wait and begin.
func TestQueue(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		created := int64(0)
		add := func(contextID string, queued int64) *scribe {
			o := newObjective()
			created++
			o.ContextID, o.CreatedAt = contextID, at(created)
			if queued != 0 {
				o.QueuedAt = at(queued)
			}
			return begin(t, j, o)
		}
		idle := newObjective()
		idle.ContextID, idle.MessageID = "ctx", ""
		begin(t, j, idle)
		first, second, third, fourth, other := add("ctx", 0), add("ctx", 20), add("ctx", 10), add("ctx", 30), add("else", 40)
		newcomer := func(contextID string) shown.Place {
			p := place(inContext(contextID, a2a.Time{}), 1, 1)
			p.Limit = 100
			return p
		}
		want := func(last int64, busy ...opt.Objective) { // who are before one that comes now
			t.Helper()
			checkPlace(t, j, newcomer("ctx"), last+1, busy...)
			test.OK(t, j.Script(t.Context(), "DELETE FROM places"))
		}
		positions := func(places ...int) {
			t.Helper()
			for i, s := range []*scribe{first, second, third, fourth, other} {
				v := s.view(s.objective.ID)
				if v.Position != places[i] || v.QueuedAt.IsZero() != (places[i] == 0) {
					t.Errorf("objective %d is at place %d since %s, want %d", i+1, v.Position, v.QueuedAt, places[i])
				}
			}
		}

		want(30, first.objective) // an objective that waits to be started blocks no other
		positions(0, 2, 1, 3, 1)
		first.record(opt.Event{Kind: opt.ObjectiveMoved, To: "working"})
		want(30, first.objective)
		third.record(opt.Event{Kind: opt.ObjectiveStopping, Reason: "canceled"}, opt.Event{Kind: opt.ObjectiveMoved, To: "canceled"})
		want(30, first.objective)
		positions(0, 1, 0, 2, 1)
		first.record(opt.Event{Kind: opt.ObjectiveMoved, To: "blocked", Reason: "input"})
		second.record(opt.Event{Kind: opt.ObjectiveMoved, To: "planning"})
		want(30, first.objective, second.objective)
		first.record(opt.Event{Kind: opt.ObjectiveMoved, To: "working"}, opt.Event{Kind: opt.ObjectiveMoved, To: "failed"})
		fourth.record(opt.Event{Kind: opt.ObjectiveMoved, To: "working"})
		want(0, second.objective, fourth.objective)
		positions(0, 0, 0, 0, 1)

		first.as(opt.RootID(first.objective.ID, 2), j).record(
			opt.Event{Kind: opt.ObjectiveRetried, From: "failed", To: "planning", Attempt: 2},
			opt.Event{Kind: opt.ObjectiveQueued, QueuedAt: at(50)})
		want(50, second.objective, fourth.objective)
		if v := first.view(opt.RootID(first.objective.ID, 2)); v.Position != 1 || !v.QueuedAt.Equal(at(50)) {
			t.Errorf("the second attempt is at place %d since %s, want the first since 50 ms", v.Position, v.QueuedAt)
		}
		o, err := j.Objective(t.Context(), tenant, first.objective.ID)
		if err != nil || !o.QueuedAt.Equal(at(50)) {
			t.Errorf("the objective waits since %s, %v, want 50 ms", o.QueuedAt, err)
		}

		of := newcomer("ctx")
		of.Tenant = "globex" // which sees nothing of it
		checkPlace(t, j, of, 0)
	})
}
