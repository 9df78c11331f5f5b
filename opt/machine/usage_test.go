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

// lastUsage handles inputs and returns what planners have used by their events, and the sum at the last end
// of the root task.
func lastUsage(m *machine.Objective, inputs ...machine.Input) (planners []opt.Usage, end *opt.Usage) {
	for i, in := range inputs {
		for _, e := range m.Handle(a2a.AtMillis(int64(i+1)), in) {
			switch {
			case e.Kind == opt.UsageAdded:
				planners = append(planners, *e.Usage)
			case e.Kind == opt.TaskMoved && opt.TaskState(e.To).Ended():
				end = e.Usage
			}
		}
	}
	return planners, end
}

// The end of an objective says what planners and plans have used, those of earlier attempts included.
func TestObjective_Handle_usage(t *testing.T) {
	spent := func(attempt int, status opt.PlanStatus) machine.Reported {
		return machine.Reported{PlanID: plan(1), Report: opt.Report{N: 5, Attempt: attempt, Directive: 1, Status: status, Started: true, Spent: opt.Usage{Input: 4, Cost: 2}}}
	}
	for rules, counts := range map[int]bool{machine.Rules: true, 6: false} {
		m := machine.NewObjective(opt.Opening{
			Objective: opt.Objective{ID: objectiveID, ContextID: "c", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Attempt: 1}, Message: &a2a.Message{MessageID: "m"},
		}, 0, rules)
		lastUsage(m, machine.Opened{})
		made := machine.Made{Key: m.State.Making.Key, Plans: []opt.PlanSpec{{Name: "p", Tasks: []opt.TaskSpec{{Name: "t"}}}}, Usage: &opt.Usage{Input: 3, Cost: 1, Model: "main"}}
		planners, end := lastUsage(m, made, machine.ChildStarted{PlanID: plan(1), N: 1}, spent(0, opt.PlanCompleted))
		switch {
		case m.State.Objective.Status != opt.ObjectiveCompleted:
			t.Errorf("rules %d: it is %s", rules, m.State.Objective.Status)
		case !counts && (planners != nil || end != nil):
			t.Errorf("rules %d: planners %v, the end %+v", rules, planners, end)
		case counts && (len(planners) != 1 || planners[0] != *made.Usage || end == nil || *end != opt.Usage{Input: 7, Cost: 3}):
			t.Errorf("rules %d: planners %v, the end %+v", rules, planners, end)
		}
	}

	kept := opt.Kept{Objective: *objective("failed"), Used: opt.Usage{Input: 10}}
	kept.Objective.Status, kept.Objective.Root = opt.ObjectiveFailed, opt.TaskFailed
	m := machine.RestoreObjective(kept, 0, machine.Rules)
	change := func(id, status string) machine.Command {
		return machine.Command{Command: opt.Command{ID: id, Kind: opt.UpdateObjective, Status: status}}
	}
	lastUsage(m, change("c", "submitted"), change("d", "working"))
	run := m.State.Objective.Plan(plan(1)).Run
	end := spent(run, opt.PlanCompleted)
	end.Report.Directive = m.State.Links[0].Directive.N
	if _, sum := lastUsage(m, machine.ChildStarted{PlanID: plan(1), Attempt: run, N: 1}, end); sum == nil || *sum != (opt.Usage{Input: 14, Cost: 2}) {
		t.Errorf("after a retry: %+v, the objective is %s", sum, m.State.Objective.Status)
	}
}
