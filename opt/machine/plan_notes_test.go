package machine_test

import (
	"testing"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A task that is retried keeps its notes, so that one of them which comes again changes nothing.
// Another author may use the same id.
func TestPlan_Handle_noteAgain(t *testing.T) {
	note := func(author string) opt.Letter {
		return opt.Letter{TaskID: task(1, 0), Message: a2a.Message{MessageID: "m", Parts: []a2a.Part{a2a.TextPart("hurry")}}, Principal: author}
	}
	kept := note("ann").Message
	kept.Metadata = kept.Metadata.With(opt.KeyAuthor, "ann")
	p := opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Run: 2, Status: opt.PlanPending, Tasks: []*opt.Task{
		{ID: task(1, 0), Run: 2, State: opt.TaskPending, Notes: []a2a.Message{kept}},
	}}
	m := &machine.Plan{State: machine.PlanState{Rules: machine.Rules, Plan: p}}
	now := a2a.AtMillis(1)
	m.Handle(now, machine.Opened{})
	for n, author := range []string{"ann", "bo"} {
		m.Handle(now, machine.Letter{Letter: note(author)})
		if got := m.State.Plan.Tasks[0].Notes; len(got) != n+1 {
			t.Errorf("with the note of %s again its task has %d notes, want %d", author, len(got), n+1)
		}
	}
}
