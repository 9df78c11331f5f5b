package journal_test

import (
	"testing"

	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
)

// Work that has begun and not ended is counted, in all tenants.
func TestJournal_Depth(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		want := func(when string, want journal.Depth) {
			t.Helper()
			test.Equal(t, when+": depth", want, test.Value(j.Depth(t.Context(), at(100).Time()))(t))
		}
		want("at first", journal.Depth{Tasks: map[string]int64{}})
		queued := newObjective()
		queued.QueuedAt = at(1)
		begin(t, j, queued)
		s := begin(t, j, newObjective())
		want("two objectives", journal.Depth{Queued: 1, Working: 1, Tasks: map[string]int64{}})
		s.record(opt.Event{Kind: opt.ObjectiveMoved, To: "working"}, planAdded(s.objective, 0, 3))
		plan := s.as(s.plan(0), j)
		plan.record(s.moved(0, 0, opt.TaskWorking), s.moved(0, 1, opt.TaskWorking), s.moved(0, 0, opt.TaskInputRequired))
		want("tasks have begun", journal.Depth{Queued: 1, Working: 1, Tasks: map[string]int64{"working": 1, "input-required": 1}})
		plan.record(s.waits(0, 1, gate(s.task(0, 1), opt.Approval, 1)))
		want("one waits with a question", journal.Depth{Queued: 1, Working: 1, Questions: 1, Tasks: map[string]int64{"input-required": 2}})
		test.Is(t, "questions are from before the first event", 0, test.Value(j.Depth(t.Context(), at(1).Time()))(t).Questions)
		test.Error(t, "the call", nil, j.Stuck(t.Context(), s.objective.ID, opt.Stuck{Since: at(5), Reason: "A gap."}))
		want("one is stuck", journal.Depth{Queued: 1, Working: 1, Stuck: 1, Questions: 1, Tasks: map[string]int64{"input-required": 2}})
		s.record(opt.Event{Kind: opt.ObjectiveMoved, To: "failed", Reason: "failed"})
		want("one has ended", journal.Depth{Queued: 1, Questions: 1, Tasks: map[string]int64{"input-required": 2}})
	})
}
