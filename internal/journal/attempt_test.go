package journal_test

import (
	"fmt"
	"testing"

	"longhaul/internal/journal"
	"longhaul/opt"
)

// The latest attempt is shown. An event from an earlier attempt, or after the end
// of the task, is left out, though it counts as recorded. Rounds, attempts and
// tries are all compared.
func TestTask_attempts(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		try := func(round, attempt, try int) {
			t.Helper()
			source := s.as(fmt.Sprintf("%s#%d.%d.%d", s.task(0, 0), round, attempt, try), s.j)
			e := opt.Event{Kind: opt.TaskTried, PlanID: s.plan(0), TaskID: s.task(0, 0), From: "working", To: "working"}
			piece := s.piece(0, 0, "a", "text", false)
			for _, e := range []opt.Event{e, piece} { // the second would be refused as a gap if the first did not count
				e.Round, e.Attempt, e.Try = round, attempt, try
				source.record(e)
			}
		}
		events := 0
		check := func(when string, state opt.TaskState, attempt, more int) {
			t.Helper()
			events += more
			v := s.view(s.task(0, 0))
			if v.State != state || v.Attempt != attempt || len(s.events()) != events || v.Seq != int64(events) {
				t.Errorf("%s: %s in attempt %d at %d of %d events; want %s in %d, %d", when, v.State, v.Attempt, v.Seq, len(s.events()), state, attempt, events)
			}
		}
		working := s.moved(0, 0, opt.TaskWorking)
		working.Round, working.Attempt = 1, 1
		s.record(planAdded(s.objective, 0, 1), working)
		check("at first", opt.TaskWorking, 1, 3)
		try(1, 3, 0)
		check("the third runs", opt.TaskWorking, 3, 2)
		if since := s.view(s.task(0, 0)).Task.Status.At; !since.Equal(at(3)) {
			t.Errorf("it works since %v, want %v: when its first attempt began", since, at(3))
		}
		try(1, 3, 2)
		check("its worker was lost", opt.TaskWorking, 3, 2)
		try(1, 3, 1)
		check("the lost worker goes on", opt.TaskWorking, 3, 0)
		try(1, 2, 9)
		check("the second comes late", opt.TaskWorking, 3, 0)
		s.record(s.waits(0, 0, gate(s.task(0, 0), opt.Approval, 1)))
		check("it waits", opt.TaskInputRequired, 0, 1)
		working = s.moved(0, 0, opt.TaskWorking)
		working.Round, working.Attempt = 2, 1
		s.record(working)
		try(1, 4, 0)
		check("the next round has begun", opt.TaskWorking, 1, 1)
		try(2, 2, 0)
		check("the next round is retried", opt.TaskWorking, 2, 2)
		s.record(s.moved(0, 0, opt.TaskFailed))
		try(2, 3, 0)
		check("it has failed", opt.TaskFailed, 0, 1)
	})
}
