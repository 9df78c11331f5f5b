package shown_test

import (
	"strings"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

func TestProgressOf(t *testing.T) {
	plan := func(name string, status opt.PlanStatus, states ...opt.TaskState) *opt.Plan {
		p := &opt.Plan{Name: name, Status: status}
		for _, s := range states {
			p.Tasks = append(p.Tasks, &opt.Task{State: s})
		}
		return p
	}
	const pending, working, waiting, done, canceled = opt.TaskPending, opt.TaskWorking, opt.TaskInputRequired, opt.TaskCompleted, opt.TaskCanceled
	saying := func(text string) *opt.Plan {
		p := plan("A", opt.PlanWorking, working, pending)
		p.Tasks[0].Said = text
		return p
	}
	part := func(states ...opt.TaskState) *opt.Plan {
		p := plan("A", opt.PlanWorking, states...)
		for _, t := range p.Tasks {
			t.Percent = 100
		}
		return p
	}
	second := plan("A", opt.PlanWorking, working, working)
	second.Tasks[0].Name, second.Tasks[0].Said = "Words", "page 4"
	tests := []struct {
		name  string
		plans []*opt.Plan
		want  *shown.Progress
	}{
		{"no plans", nil, nil},
		{"no tasks", []*opt.Plan{plan("A", opt.PlanWorking)}, nil},
		{"nothing has begun", []*opt.Plan{plan("A", opt.PlanPending, pending)}, &shown.Progress{}},
		{"the first", []*opt.Plan{plan("A", opt.PlanWorking, working, pending), plan("B", opt.PlanPending, pending)}, &shown.Progress{Text: "A, task 1 of 2", Steps: 1}},
		{"the second", []*opt.Plan{plan("A", opt.PlanWorking, done, waiting), plan("B", opt.PlanPending, pending)}, &shown.Progress{Text: "A, task 2 of 2", Percent: 33, Steps: 3}},
		{"a text", []*opt.Plan{saying("Half\nof it.")}, &shown.Progress{Text: "A, task 1 of 2", Said: "Half of it.", Steps: 1}},
		{"a long text", []*opt.Plan{saying(strings.Repeat("é", 300))}, &shown.Progress{Text: "A, task 1 of 2", Said: strings.Repeat("é", 199) + "…", Steps: 1}},
		{"a text of one of two", []*opt.Plan{second}, &shown.Progress{Text: "A, task 2 of 2", Said: "Words: page 4", Steps: 2}},
		{"parts of tasks", []*opt.Plan{part(done, working, pending, waiting)}, &shown.Progress{Text: "A, task 3 of 4", Percent: 50, Steps: 4}},
		{"between two plans", []*opt.Plan{plan("A", opt.PlanCompleted, done, done), plan("B", opt.PlanWorking, pending)}, &shown.Progress{Text: "A, task 2 of 2", Percent: 66, Steps: 4}},
		{"two at a time", []*opt.Plan{plan("A", opt.PlanCompleted, done), plan("B", opt.PlanWorking, working, working, pending), plan("C", opt.PlanWorking, working)}, &shown.Progress{Text: "B, task 2 of 3", Percent: 20, Steps: 5}},
		{"the later one works", []*opt.Plan{plan("A", opt.PlanWorking, done, pending), plan("B", opt.PlanWorking, working, pending)}, &shown.Progress{Text: "B, task 1 of 2", Percent: 25, Steps: 3}},
		{"skipped plans do not count", []*opt.Plan{plan("A", opt.PlanSkipped, canceled, canceled), plan("B", opt.PlanWorking, working, pending)}, &shown.Progress{Text: "B, task 1 of 2", Steps: 1}},
		{"a plan that a client has ended", []*opt.Plan{plan("A", opt.PlanCompleted, done, pending), plan("B", opt.PlanWorking, working, pending)}, &shown.Progress{Text: "B, task 1 of 2", Percent: 50, Steps: 4}},
	}
	for _, tt := range tests {
		test.Equal(t, tt.name+":", tt.want, shown.ProgressOf(tt.plans))
	}
}
