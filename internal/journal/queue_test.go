package journal_test

import (
	"testing"

	"longhaul/a2a"
	"longhaul/internal/journal"
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
		want := func(waiting int, last a2a.Time, busy ...*scribe) {
			t.Helper()
			wanted := shown.Queue{Waiting: waiting, Last: last}
			for _, s := range busy {
				wanted.Busy = append(wanted.Busy, s.objective.ID)
			}
			equal(t, "queue", wanted, value(j.Queue(t.Context(), tenant, "ctx"))(t))
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

		want(3, at(30), first) // an objective that waits to be started blocks no other
		positions(0, 2, 1, 3, 1)
		first.record(opt.Event{Kind: opt.ObjectiveMoved, To: "working"})
		want(3, at(30), first)
		third.record(opt.Event{Kind: opt.ObjectiveStopping, Reason: "canceled"}, opt.Event{Kind: opt.ObjectiveMoved, To: "canceled"})
		want(2, at(30), first)
		positions(0, 1, 0, 2, 1)
		first.record(opt.Event{Kind: opt.ObjectiveMoved, To: "blocked", Reason: "input"})
		second.record(opt.Event{Kind: opt.ObjectiveMoved, To: "planning"})
		want(1, at(30), first, second)
		first.record(opt.Event{Kind: opt.ObjectiveMoved, To: "working"}, opt.Event{Kind: opt.ObjectiveMoved, To: "failed"})
		fourth.record(opt.Event{Kind: opt.ObjectiveMoved, To: "working"})
		want(0, a2a.Time{}, second, fourth)
		positions(0, 0, 0, 0, 1)

		first.as(opt.RootID(first.objective.ID, 2), j).record(
			opt.Event{Kind: opt.ObjectiveRetried, From: "failed", To: "planning", Attempt: 2},
			opt.Event{Kind: opt.ObjectiveQueued, QueuedAt: at(50)})
		want(1, at(50), second, fourth)
		if v := first.view(opt.RootID(first.objective.ID, 2)); v.Position != 1 || !v.QueuedAt.Equal(at(50)) {
			t.Errorf("the second attempt is at place %d since %s, want the first since 50 ms", v.Position, v.QueuedAt)
		}
		o, err := j.Objective(t.Context(), tenant, first.objective.ID)
		if err != nil || !o.QueuedAt.Equal(at(50)) {
			t.Errorf("the objective waits since %s, %v, want 50 ms", o.QueuedAt, err)
		}

		if q, err := j.Queue(t.Context(), "globex", "ctx"); err != nil || !q.Idle() {
			t.Errorf("another tenant sees %+v, %v, want nothing", q, err)
		}
	})
}
