package journal_test

import (
	"testing"

	"longhaul/internal/journal"
	"longhaul/opt"
)

// The number of an attempt shows while it runs. One that was overtaken, or whose
// task does not work any more, is left out, though it counts as recorded.
func TestTask_attempts(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		try := func(attempt int) {
			t.Helper()
			source := s.as(s.task(0, 0)+"#"+string(rune('0'+attempt)), s.j)
			source.record(opt.Event{Kind: opt.TaskTried, PlanID: s.plan(0), TaskID: s.task(0, 0), From: "working", To: "working", Attempt: attempt})
			shown := s.view(s.task(0, 0)).Attempt
			piece := s.piece(0, 0, "a", "text", false)
			piece.Attempt = attempt
			source.record(piece) // refused as a gap if the event before did not count
			if attempt == 3 && shown != 3 {
				t.Errorf("attempt 3 runs, and %d shows", shown)
			}
		}
		check := func(when string, state opt.TaskState, attempt int, events int) {
			t.Helper()
			v := s.view(s.task(0, 0))
			if v.State != state || v.Attempt != attempt || len(s.events()) != events || v.Seq != int64(events) {
				t.Errorf("%s: %s in attempt %d at %d of %d events; want %s in %d, %d", when, v.State, v.Attempt, v.Seq, len(s.events()), state, attempt, events)
			}
		}
		working := s.moved(0, 0, opt.TaskWorking)
		working.Attempt = 1
		s.record(planAdded(s.objective, 0, 1), working)
		check("at first", opt.TaskWorking, 1, 3)
		try(3)
		check("the third runs", opt.TaskWorking, 3, 5)
		if since := s.view(s.task(0, 0)).Task.Status.At; !since.Equal(at(3)) {
			t.Errorf("it works since %v, want %v: when its first attempt began", since, at(3))
		}
		try(2)
		check("the second comes late", opt.TaskWorking, 3, 5)
		s.record(s.waits(0, 0, gate(s.task(0, 0), opt.Approval, 1)))
		try(4)
		check("it waits", opt.TaskInputRequired, 4, 7) // the piece tells
		s.record(s.moved(0, 0, opt.TaskFailed))
		try(5)
		check("it has failed", opt.TaskFailed, 4, 8)
	})
}
