package stream

import (
	"testing"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// Tasks keep their names while events without names move them, so that progress names the task whose
// text it has.
func TestPlanStates_names(t *testing.T) {
	plan := opt.PlanID("obj-aaaaaaaaaaaaaaaaaaaaaaaaaa", 1)
	words, count := opt.TaskID(plan, 0), opt.TaskID(plan, 1)
	w := newWork([]*opt.Plan{{ID: plan, Name: "Count", Tasks: []*opt.Task{{ID: words, Name: "Words"}, {ID: count, Name: "Lines"}}}})
	for _, e := range []opt.Event{
		{Kind: opt.TaskMoved, PlanID: plan, TaskID: words, To: string(opt.TaskWorking)},
		{Kind: opt.TaskMoved, PlanID: plan, TaskID: count, To: string(opt.TaskWorking)},
		{Kind: opt.TaskProgressed, PlanID: plan, TaskID: words, To: string(opt.TaskWorking), Status: a2a.AgentMessage("", words, ":progress-1", "page 4")},
	} {
		w = w.after(e)
	}
	if p := shown.ProgressOf(w); p.Text != "Count, task 2 of 2" || p.Said != "Words: page 4" {
		t.Errorf("it shows %+v", p)
	}
}
