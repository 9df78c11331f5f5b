package machine_test

import (
	"testing"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// spends has the task of a new plan do legs that each use 5 tokens, and returns the machine and the
// usage that its events have.
func spends(t *testing.T, rules int, ends ...machine.Ended) (m *machine.Plan, used []int64) {
	t.Helper()
	p := opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Status: opt.PlanPending, Tasks: []*opt.Task{{ID: task(1, 0), State: opt.TaskPending}}}
	m = &machine.Plan{State: machine.PlanState{Rules: rules, Plan: p, ContextID: "c", RootID: objectiveID, First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true}}}}
	now := a2a.AtMillis(10)
	m.Handle(now, machine.Opened{})
	m.Handle(now, machine.Begin{})
	for _, in := range ends {
		if in.Key = m.Wants().Activities[0].Key; in.Failed == nil {
			in.Outcome.Usage = &opt.Usage{Input: 5, Model: "main"}
		}
		for range 2 { // the second is of a worker that was taken for lost
			for _, e := range m.Handle(now, in) {
				if e.Kind == opt.UsageAdded {
					used = append(used, e.Usage.Input)
					if e.TaskID != task(1, 0) || e.Attempt == 0 || e.Usage.Model != "main" {
						t.Errorf("event %+v", e)
					}
				}
			}
		}
		for _, timer := range m.Wants().Timers {
			m.Handle(now, machine.Elapsed{Key: timer.Key})
		}
		m.Handle(now, machine.Begin{})
	}
	return m, used
}

// Each leg that returns is counted once, also one before an attempt that fails, and in the report.
func TestPlan_Handle_usage(t *testing.T) {
	leg := machine.Ended{Outcome: opt.Outcome{State: opt.TaskWorking, Park: &opt.Park{}}}
	fails := machine.Ended{Failed: &machine.Failure{Code: "error"}}
	done := machine.Ended{Outcome: opt.Outcome{State: opt.TaskCompleted}}
	m, used := spends(t, machine.Rules, leg, fails, leg, done)
	if len(used) != 3 || m.State.Report.Spent.Input != 15 || !m.State.Plan.Settled() {
		t.Errorf("events with %v, report of %+v, the plan is %s", used, m.State.Report.Spent, m.State.Plan.Status)
	}
	if m, used = spends(t, 6, leg, done); len(used) != 0 || m.State.Report.Spent.Input != 10 {
		t.Errorf("under earlier rules: events with %v, report of %+v", used, m.State.Report.Spent)
	}
}
