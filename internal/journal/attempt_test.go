package journal_test

import (
	"fmt"
	"slices"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
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
			taken := opt.Event{Kind: opt.TaskTaken, PlanID: s.plan(0), TaskID: s.task(0, 0), Waited: 2000}
			for _, e := range []opt.Event{e, piece, taken} { // the second would be refused as a gap if the first did not count
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
		check("the third runs", opt.TaskWorking, 3, 3)
		if since := s.view(s.task(0, 0)).Task.Status.At; !since.Equal(at(3)) {
			t.Errorf("it works since %v, want %v: when its first attempt began", since, at(3))
		}
		try(1, 3, 2)
		check("its worker was lost", opt.TaskWorking, 3, 3)
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
		check("the next round is retried", opt.TaskWorking, 2, 3)
		s.record(s.moved(0, 0, opt.TaskFailed))
		try(2, 3, 0)
		check("it has failed", opt.TaskFailed, 0, 1)
	})
}

// The progress of an attempt is the status of its task, and those before it are its history. It stays
// while later attempts say nothing, and changes nothing where it comes late or the task waits.
func TestTask_progress(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		say := func(text string, percent, attempt, try int) {
			t.Helper()
			e := opt.Event{Kind: opt.TaskProgressed, PlanID: s.plan(0), TaskID: s.task(0, 0), From: "working", To: "working", Round: 1, Attempt: attempt, Try: try}
			e.Status = a2a.AgentMessage("", s.task(0, 0), ":progress-"+text, text)
			e.Status.Metadata = e.Status.Metadata.With(opt.KeyProgress, percent)
			s.as(fmt.Sprintf("%s#1.%d.%d-%s", s.task(0, 0), attempt, try, text), s.j).record(e)
		}
		check := func(want string, percent int, history ...string) {
			t.Helper()
			v := test.Value(s.j.Task(t.Context(), s.objective.Tenant, s.task(0, 0), shown.TaskWant{History: -1}))(t)
			var before []string
			for _, m := range v.Task.History {
				before = append(before, m.Text())
			}
			root := s.view(s.objective.RootID()).Progress
			if m := v.Task.Status.Message; m == nil || m.Text() != want || opt.PercentIn(m) != percent || !slices.Equal(before, history) {
				t.Errorf("the status is %v after %q, want %q, %d %%, after %q", v.Task.Status.Message, before, want, percent, history)
			}
			if v.State == opt.TaskWorking && (root.Said != want || root.Percent != percent) {
				t.Errorf("the root task shows %+v, want %q, %d %%", root, want, percent)
			}
			task := test.Value(s.j.Objective(t.Context(), s.objective.Tenant, s.objective.ID))(t).Plans[0].Tasks[0]
			if v.State == opt.TaskWorking && (task.Said != want || task.Percent != percent) {
				t.Errorf("the objective shows %q, %d %%, want %q, %d %%", task.Said, task.Percent, want, percent)
			}
		}
		working := s.moved(0, 0, opt.TaskWorking)
		working.Round, working.Attempt = 1, 1
		s.record(planAdded(s.objective, 0, 1), s.rootMoved(opt.TaskWorking), working)
		say("one", 10, 1, 1)
		say("two", 20, 1, 1)
		check("two", 20, "one")
		s.as(s.task(0, 0)+"#1.2.1", s.j).record(opt.Event{Kind: opt.TaskTried, PlanID: s.plan(0), TaskID: s.task(0, 0), From: "working", To: "working", Round: 1, Attempt: 2, Try: 1})
		check("two", 20, "one")
		say("late", 30, 1, 2)
		check("two", 20, "one")
		say("three", 30, 2, 1)
		check("three", 30, "one", "two")
		g := gate(s.task(0, 0), opt.Approval, 1)
		s.record(s.waits(0, 0, g))
		say("waits", 40, 2, 1)
		check(g.Message("", "").Text(), 0, "one", "two", "three")
	})
}

// The progress text of one of two tasks has the name of its task.
func TestTask_progressOfTwo(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		first := s.moved(0, 0, opt.TaskWorking)
		first.Status = a2a.AgentMessage("", s.task(0, 0), ":progress-1", "page 4")
		s.record(planAdded(s.objective, 0, 2), s.rootMoved(opt.TaskWorking), first, s.moved(0, 1, opt.TaskWorking))
		if p := s.view(s.objective.RootID()).Progress; p.Text != "Plan 0, task 2 of 2" || p.Said != "Task 0: page 4" {
			t.Errorf("the root task shows %+v", p)
		}
	})
}
