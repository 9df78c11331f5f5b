package opt_test

import (
	"errors"
	"fmt"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
)

// The id of an A2A task is never reused, whichever command began the earlier
// attempts.
func TestPlan_NextRun(t *testing.T) {
	p := planOf(t, "completed failed canceled")
	p.Status = opt.PlanFailed
	for _, step := range []struct{ objective, want int }{{1, 2}, {2, 3}, {2, 4}, {9, 9}, {3, 10}} {
		n := p.NextRun(step.objective)
		if err := p.Apply(opt.Event{Kind: opt.PlanRetried, Attempt: n}); err != nil || n != step.want || p.Run != n {
			t.Fatalf("attempt %d, want %d: %v", n, step.want, err)
		}
		test.Is(t, "tasks are known by", fmt.Sprintf("%s %s~%d", task(1, 0), task(1, 1), n), p.Tasks[0].A2AID()+" "+p.Tasks[1].A2AID())
		p.Status = opt.PlanFailed
	}
	p.Run = 0 // its tasks are from a later attempt than its own
	test.Is(t, "attempt after the tenth", 11, p.NextRun(1))
}

// A retried plan waits for its turn, even if all of its tasks are completed.
func TestPlan_Apply_retryWaits(t *testing.T) {
	p := planOf(t, "completed completed")
	p.Status, p.Started, p.Paused, p.ObjectivePaused, p.Stopping = opt.PlanFailed, true, true, true, "canceled"
	test.OK(t, p.Apply(opt.Event{Kind: opt.PlanRetried, Attempt: 2}))
	if next := p.Next(p.UpdatedAt); next != nil || p.Status != opt.PlanPending || p.Started || p.OnHold() {
		t.Errorf("the plan is %s, started %v, on hold %v, and then %+v", p.Status, p.Started, p.OnHold(), next)
	}
}

// A plan that failed or was skipped may be retried; one that is open or completed
// may not.
func TestObjective_Apply_planRetried(t *testing.T) {
	for _, tt := range []struct {
		plans   string
		set     func(*opt.Objective)
		refused bool
		start   string // what may start then
		next    string // the next status of the objective
	}{
		{plans: "failed?!/timeout working!", next: "working"},
		{plans: "failed?!/timeout pending", start: "0", next: "working"},
		{plans: "failed?!/timeout pending: pending:0", start: "0 1", next: "working"},
		{plans: "failed?!/timeout blocked!/input", set: func(o *opt.Objective) { o.Status, o.Reason = opt.ObjectiveBlocked, "input" }, next: "blocked"},
		{plans: "failed?!/timeout pending", set: paused, next: "blocked"},
		{plans: "failed?!/timeout pending", set: unstarted, next: "submitted"},
		{plans: "completed?! working!", refused: true},
		{plans: "skipped working!", next: "working"},
		{plans: "blocked?!/input working!", refused: true},
		{plans: "working?!", refused: true},
	} {
		o := objectiveOf(t, tt.plans)
		o.Plans[0].Report = &opt.Report{N: 7, Status: opt.PlanFailed}
		if tt.set != nil {
			tt.set(o)
		}
		err := o.Apply(opt.Event{Kind: opt.PlanRetried, PlanID: plan(1), Attempt: 2})
		if tt.refused {
			if !errors.Is(err, opt.ErrMove) || o.Plans[0].Run != 0 {
				t.Errorf("%s: %v", tt.plans, err)
			}
			continue
		}
		p := o.Plans[0]
		if err != nil || p.Status != opt.PlanPending || p.Reason != "" || p.Started || p.Report != nil || p.Run != 2 {
			t.Errorf("%s: %v, plan %+v", tt.plans, err, p)
		}
		test.Is(t, tt.plans+": startable are", tt.start, places(o, o.Startable()))
		if come(t, o); string(o.Status) != tt.next {
			t.Errorf("%s: the objective is %s", tt.plans, o.Status)
		}
	}
	o := objectiveOf(t, "failed?!")
	test.Error(t, "no plan", opt.ErrUnknown, o.Apply(opt.Event{Kind: opt.PlanRetried, PlanID: plan(9), Attempt: 2}))
}

// A plan that others have replaced in an earlier attempt does not begin the next one.
func TestObjective_Next_replacedPlan(t *testing.T) {
	o := objectiveOf(t, "skipped/replanned pending")
	o.Status, o.Root, o.Started = opt.ObjectiveCanceled, opt.TaskCanceled, true
	test.OK(t, o.Apply(opt.Event{Kind: opt.ObjectiveRetried, From: "canceled", To: "submitted", Attempt: 2, TaskID: opt.RootID(o.ID, 2)}))
	if next := o.Next(o.UpdatedAt); next != nil {
		t.Errorf("the new attempt continues with %+v", next)
	}
}
