package commands

import (
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/client"
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
	if got, want := out.String(), "Write / Look up: failed (exit-3)\nWrite: completed\nShip: canceled\nBill: failed (timeout)\n"; got != want {
		t.Errorf("the printer says\n%swant\n%s", got, want)
	}
	drawn := strings.Join(tree{columns: 60, rows: 50, paint: p.paint}.lines(o), "\n")
	for _, want := range []string{"failed          (exit-3)", "– Ship", "canceled", "failed          (timeout)"} {
		if !strings.Contains(drawn, want) {
			t.Errorf("the tree has no %q:\n%s", want, drawn)
		}
	}
	if strings.Contains(drawn, "(canceled)") {
		t.Errorf("the tree says twice that a plan was canceled:\n%s", drawn)
	}
}
