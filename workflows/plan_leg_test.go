package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"longhaul/activities"
	"longhaul/activities/elsewhere"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/workflows"
)

// A counter parks for an hour after each leg and counts its legs in the memo, until
// there are as many as its input says.
type counter struct{}

func (counter) Execute(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	var most, legs int
	if err := json.Unmarshal(w.Input, &most); err != nil {
		return activities.Outcome{}, err
	}
	if w.Memo != nil {
		if err := json.Unmarshal(w.Memo, &legs); err != nil {
			return activities.Outcome{}, err
		}
	}
	switch {
	case w.Cancel:
		return activities.Failed("canceled", fmt.Sprintf("The count was stopped at %d.", legs)), nil
	case legs == most:
		return activities.Completed(), nil
	case legs != w.Leg:
		return activities.Outcome{}, errors.New("the memo is not that of the leg before")
	}
	out := activities.ParkFor(time.Hour, legs+1, fmt.Sprintf("Counted to %d.", legs+1))
	out.OnCancel = true
	return out, nil
}

func counting(to string) opt.PlanSpec {
	spec := planOf("count")
	spec.Tasks[0].Executor, spec.Tasks[0].Input = "counter", json.RawMessage(to)
	return spec
}

// A task continues in legs, with durable waits in between and no activity meanwhile.
func TestPlan_legs(t *testing.T) {
	env, log := newPlanEnv(t)
	env.ExecuteWorkflow(workflows.Plan, planInput(t, counting("3")))
	if report := result(t, env, log); report.Status != opt.PlanCompleted || env.Now().Sub(began) != 3*time.Hour {
		t.Errorf("the report is %+v after %v", report, env.Now().Sub(began))
	}
	var said []string
	for _, m := range log.moves(taskID) {
		if m.Status != nil {
			said = append(said, m.Status.Text())
		}
	}
	test.Is(t, "clients saw", "[Counted to 1. Counted to 2. Counted to 3.]", fmt.Sprint(said))
}

// A parked task continues in the next run, at the same time and with its memo.
func TestPlan_continuesAsNewBetweenLegs(t *testing.T) {
	env, log := newPlanEnv(t)
	at(env, 90*time.Minute, func() {
		env.SetContinueAsNewSuggested(true)
		env.SignalWorkflow(workflows.LetterSignal, note("n1"))
	})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, counting("3")))
	next := continued[workflows.PlanInput](t, env)

	env, after := newPlanEnv(t)
	env.SetStartTime(began.Add(90 * time.Minute))
	after.numbers = log.numbers
	env.ExecuteWorkflow(workflows.Plan, next)
	if report := result(t, env, after); report.Status != opt.PlanCompleted || !env.Now().Equal(began.Add(3*time.Hour)) {
		t.Errorf("the report is %+v at %v", report, env.Now())
	}
}

// A callback wakes a parked task; one that has an outcome ends it.
func TestPlan_callbacks(t *testing.T) {
	env, log := newPlanEnv(t)
	callback := func(after time.Duration, c opt.Callback) {
		c.TaskID, c.Round = taskID, 1
		at(env, after, func() { env.SignalWorkflow(workflows.CallbackSignal, c) })
	}
	callback(10*time.Minute, opt.Callback{ID: "c1"})
	callback(20*time.Minute, opt.Callback{ID: "c2", Text: "Nearly done."})
	callback(30*time.Minute, opt.Callback{ID: "c3", Outcome: &opt.Outcome{State: opt.TaskFailed, Code: "broken", Message: "It broke."}})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, counting("9")))
	result(t, env, log)
	moves := log.moves(taskID)
	last := moves[len(moves)-1]
	if last.To != "failed" || last.Reason != "broken" || env.Now().Sub(began) != 30*time.Minute {
		t.Errorf("the task ends %s, %s after %v", last.To, last.Reason, env.Now().Sub(began))
	}
	log.wantHas(t, "task-a-1-0 working", "task-a-1-0 failed broken")
}

// A stopped plan first has the executor cancel its work elsewhere.
func TestPlan_cancelsElsewhere(t *testing.T) {
	env, log := newPlanEnv(t)
	direct(env, 30*time.Minute, machine.Directive{N: 2, Start: true, Stop: "canceled", Leaf: true})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, counting("9")))
	result(t, env, log)
	moves := log.moves(taskID)
	if last := moves[len(moves)-1]; last.To != "canceled" || last.Status == nil || last.Status.Text() != "The count was stopped at 1." {
		t.Errorf("the task ends with %+v", last)
	}
}

// An activity elsewhere gets the work and returns the outcome.
func TestPlan_elsewhere(t *testing.T) {
	for name, tt := range map[string]struct {
		does   func(ctx context.Context, w opt.Work) (any, error)
		state  string
		reason string
	}{
		"text":     {func(_ context.Context, w opt.Work) (any, error) { return "For " + string(w.Input), nil }, "completed", ""},
		"outcome":  {func(context.Context, opt.Work) (any, error) { return activities.Failed("no-paper", "No paper."), nil }, "failed", "no-paper"},
		"nonsense": {func(context.Context, opt.Work) (any, error) { return map[string]any{"state": "great"}, nil }, "failed", "invalid-outcome"},
		"third attempt": {func(ctx context.Context, _ opt.Work) (any, error) {
			if activity.GetInfo(ctx).Attempt < 3 {
				return nil, errors.New("busy")
			}
			return nil, nil
		}, "completed", ""},
		"errors": {func(context.Context, opt.Work) (any, error) { return nil, errors.New("busy") }, "failed", "failed"},
		"exception": {func(context.Context, opt.Work) (any, error) {
			return nil, temporal.NewApplicationError("No.", "bad-input")
		}, "failed", "bad-input"},
		"a type that ours have, too": {func(context.Context, opt.Work) (any, error) {
			return nil, temporal.NewApplicationError("No.", activities.QuotaError)
		}, "failed", "Quota"},
		"another one": {func(context.Context, opt.Work) (any, error) {
			return nil, temporal.NewApplicationError("No.", activities.JournalError)
		}, "failed", "Journal"},
	} {
		t.Run(name, func(t *testing.T) {
			env, log := newPlanEnv(t)
			env.RegisterActivityWithOptions(tt.does, activity.RegisterOptions{Name: "Resize"})
			spec := planOf("")
			spec.Tasks[0].Executor, spec.Tasks[0].Input = elsewhere.Kind, json.RawMessage(`{"queue":"images","activity":"Resize","data":{"width":3}}`)
			spec.Tasks[0].Retry.Except = []string{"bad-input"}
			env.ExecuteWorkflow(workflows.Plan, planInput(t, spec))
			result(t, env, log)
			moves := log.moves(taskID)
			if last := moves[len(moves)-1]; last.To != tt.state || last.Reason != tt.reason {
				t.Errorf("the task ends %s, %q", last.To, last.Reason)
			}
		})
	}
}
