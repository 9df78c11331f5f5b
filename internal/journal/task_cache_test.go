package journal_test

import (
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/opt"
	"longhaul/opt/shown"
)

const viewQuery = "SELECT t.id, t.objective_id, t.plan_id"

// A repeated read of a task does not read its rows again until a process records
// an event of its objective.
func TestTask_again(t *testing.T) {
	inFile(t, func(t *testing.T, open func() *journal.Journal) {
		s := rich(t, open(), newObjective())
		id := s.task(0, 1)
		s.record(said(id, "", "m-4", opt.Noted), s.moved(0, 1, opt.TaskWorking), s.piece(0, 1, "a", "one", false), s.waits(0, 1, gate(id, opt.Approval, 1)))
		first := s.view(id)
		first.Task.History[0].MessageID = "mine"
		before := runs(t, s.j, viewQuery)
		for range 10 {
			v := s.view(id)
			if v.Task.History[0].MessageID == "mine" || v.Task.Artifacts[0].ArtifactID == "mine" || v.Task.Status.Message.MessageID == "mine" || v.Gates[0] == nil {
				t.Fatal("a caller changes what others read")
			}
			v.Task.History[0].MessageID, v.Task.Artifacts[0].ArtifactID = "mine", "mine"
			v.Task.Status.Message.MessageID, v.Gates[0] = "mine", nil
		}
		if after := runs(t, s.j, viewQuery); after != before {
			t.Errorf("the rows were read %d more times", after-before)
		}
		fails(t, "another tenant", opt.ErrUnknown)(s.j.Task(t.Context(), "other", id, shown.TaskWant{History: -1, Artifacts: true}))
		if v, err := s.j.Task(t.Context(), tenant, id, shown.TaskWant{}); err != nil || len(v.Task.History) > 0 || len(v.Task.Artifacts) > 0 {
			t.Errorf("more than was wanted: %+v, %v", v.Task, err)
		}
		s.as("elsewhere", open()).record(said(id, "", "m-3", opt.Noted))
		if got := ids(s.view(id).Task.History); got[len(got)-1] != "m-3" {
			t.Errorf("history %v lacks what another process recorded", got)
		}
	})
}

// A task is read again if its objective was removed and recorded again with the
// same number of events.
func TestTask_afterPurge(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j, other := open(), open()
		o := newObjective()
		s := begin(t, j, o).end(opt.ObjectiveCompleted, 10)
		if s.view(o.ID).State != opt.TaskCompleted {
			t.Fatal("not completed")
		}
		purge(t, other, 100, 1)
		begin(t, other, o).end(opt.ObjectiveFailed, 10)
		if v := s.view(o.ID); v.State != opt.TaskFailed {
			t.Errorf("%s, want what came back", v.State)
		}
	})
}

// A large task is read each time, to limit memory.
func TestTask_large(t *testing.T) {
	inFile(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		large := said(s.objective.ID, "", "m-1", opt.Noted)
		large.Message.Parts = []a2a.Part{a2a.TextPart(strings.Repeat("x", 1<<20))}
		s.record(large)
		s.view(s.objective.ID)
		before := runs(t, s.j, viewQuery)
		s.view(s.objective.ID)
		if after := runs(t, s.j, viewQuery); after != before+1 {
			t.Errorf("the rows were read %d more times, want 1", after-before)
		}
	})
}
