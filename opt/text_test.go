package opt_test

import (
	"fmt"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
)

// Values print on one line, as pointers too.
func TestString(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  string
	}{
		{opt.Objective{ID: "obj-a", Name: "Tea", Status: opt.ObjectiveBlocked, Reason: opt.BlockedByInput}, "objective obj-a Tea: blocked (input)"},
		{&opt.Objective{ID: "obj-a", Status: opt.ObjectiveWorking}, "objective obj-a: working"},
		{&opt.Plan{ID: "plan-a-1", Name: "Two\nlines", Status: opt.PlanWorking}, "plan plan-a-1 Two lines: working"},
		{&opt.Task{ID: "plan-a-1-0", Name: "Write", State: opt.TaskFailed, Reason: "exit"}, "task plan-a-1-0 Write: failed (exit)"},
		{&opt.Gate{ID: "task-a-1-0:1", Kind: opt.Approval, Title: "Ship it?", Description: "It is\nfor tea"}, "approval gate task-a-1-0:1: Ship it? It is for tea"},
		{opt.Event{N: 3, Kind: opt.TaskMoved, PlanID: "plan-a-1", TaskID: "task-a-1-0", To: "failed", Reason: "exit"}, "3 task-moved task-a-1-0: failed (exit)"},
		{opt.Event{N: 1, Kind: opt.ObjectiveOpened}, "1 objective-opened"},
		{opt.Command{Kind: opt.UpdatePlan, ObjectiveID: "obj-a", PlanID: "plan-a-1", Status: "working"}, fmt.Sprint(opt.UpdatePlan, " plan-a-1: working")},
	} {
		test.Is(t, "printed", tt.want, fmt.Sprint(tt.value))
	}
}
