package commands

import (
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A plan that was canceled is shown as canceled, and tasks that failed with their reason,
// also those that the plan can do without.
func TestPrinter_reasons(t *testing.T) {
	why := func(reason string) a2a.Metadata { return a2a.Metadata{}.With(opt.KeyFailureReason, reason) }
	o := &client.Objective{Plans: []client.Plan{
		{ID: "p1", Name: "Write", Status: opt.PlanCompleted, Tasks: []client.PlanTask{{ID: "t1", Name: "Look up", Status: opt.TaskFailed, Metadata: why("exit-3")}}},
		{ID: "p2", Name: "Ship", Status: opt.PlanFailed, Metadata: why("canceled")},
		{ID: "p3", Name: "Bill", Status: opt.PlanFailed, Metadata: why("timeout")},
	}}
	var out strings.Builder
	p := &printer{out: &out, seen: map[string]string{}}
	p.progress(o)
	test.Is(t, "the printer says", "Write / Look up: failed (exit-3)\nWrite: completed\nShip: canceled\nBill: failed (no answer came in time)\n", out.String())
	drawn := strings.Join(tree{columns: 60, rows: 50, paint: p.paint}.lines(o), "\n")
	for _, want := range []string{"failed          (exit-3)", "– Ship", "canceled", "failed          (no answer came in time)"} {
		test.Contains(t, "the tree", want, drawn)
	}
	if strings.Contains(drawn, "(canceled)") {
		t.Errorf("the tree says twice that a plan was canceled:\n%s", drawn)
	}
}

// Artifacts of two tasks with the same name have the names of their tasks in the heading.
func TestPrinter_sameNames(t *testing.T) {
	var out strings.Builder
	p := &printer{out: &out, seen: map[string]string{}, shown: map[string]string{}, objective: objectiveOf(t, wireSteps("working", "working", "working", "pending", "pending"))}
	for _, id := range []string{"1-0-01a2", "1-1-01a2", "1-0-01a2"} {
		p.artifact(a2a.Artifact{ArtifactID: id, Name: "counts", Parts: []a2a.Part{a2a.TextPart(id + "\n")}}, true)
	}
	if got := out.String(); !strings.HasPrefix(got, "[counts]\n1-0-01a2\n") || !strings.Contains(got, "\n[Approve: counts]\n1-1-01a2\n\n[Search") || !strings.Contains(got, "patience: counts]\n1-0-01a2\n") {
		t.Errorf("it prints\n%s", got)
	}
}

// What an agent says and how much is done is printed while the task works, also after the first
// piece of a result, and a state that says nothing more is not.
func TestPrinter_done(t *testing.T) {
	var out strings.Builder
	p := &printer{out: &out, seen: map[string]string{}, shown: map[string]string{}}
	says := func(state a2a.TaskState, text string, m a2a.Metadata) {
		u := &a2a.StatusUpdate{TaskID: "t", Status: a2a.TaskStatus{State: state}, Metadata: m}
		if text != "" {
			u.Status.Message = a2a.AgentMessage("c", "t", "", text)
		}
		p.event(client.Event{Event: a2a.Event{Status: u}})
	}
	done := func(percent int) a2a.Metadata { return a2a.Metadata{}.With(opt.KeyProgress, percent) }
	says(a2a.Working, "", nil)
	says(a2a.Working, "Report, task 1 of 1", done(0))
	says(a2a.Working, "Report, task 1 of 1: page 1", done(25))
	p.artifact(a2a.Artifact{ArtifactID: "a", Name: "report", Parts: []a2a.Part{a2a.TextPart("Tea")}}, false)
	says(a2a.Working, "Report, task 1 of 1: page 2", done(50))
	says(a2a.Working, "Report, task 1 of 1: page 2", done(50))
	says(a2a.Working, "", nil)
	says(a2a.Working, "Report, task 1 of 1: page 3", done(0))
	says(a2a.Working, "Report, task 1 of 1: the end", done(100))
	says(a2a.Working, "Report, task 1 of 1", done(100))
	says(a2a.Completed, "", nil)
	want := `Working.
Working. Report, task 1 of 1
Working. Report, task 1 of 1: page 1 (25 %)

[report]
Tea

Working. Report, task 1 of 1: page 2 (50 %)
Working. Report, task 1 of 1: page 3
Working. Report, task 1 of 1: the end (100 %)
Completed.
`
	test.Equal(t, "printed", want, out.String())
}
