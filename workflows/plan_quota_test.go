package workflows_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"longhaul/activities"
	"longhaul/activities/human"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/workflows"
)

// A step and a human task that a quota holds back say so, wait for hours, and fail neither; the look for room is
// repeated by the plan.
func TestPlan_quota(t *testing.T) {
	env, log := newPlanEnv(t)
	ask := test.Value(human.Form{Approve: "Go on?"}.Gate())(t)
	spec := planOf("say {}", "")
	spec.Tasks[1].Ask = ask
	back := func(text string) error {
		return temporal.NewApplicationError("The quota is used up.", activities.QuotaError, 0, text)
	}
	room := began.Add(3 * time.Hour)
	ran, looked := 0, 0
	env.OnActivity("Run", anyArg, anyArg).Return(func(_ context.Context, in activities.RunInput) (activities.Outcome, error) {
		if ran++; env.Now().Before(room) {
			return activities.Outcome{}, back("Waits for calls.")
		}
		if !in.Held {
			t.Error("the step does not know that it was held")
		}
		return activities.Completed(), nil
	})
	env.OnActivity("LookUp", anyArg, anyArg).Return(func(_ context.Context, q opt.StandingQuestion) (opt.StandingUse, error) {
		if looked++; looked < 4 {
			return opt.StandingUse{}, back("Waits for questions.")
		}
		return opt.StandingUse{}, nil
	})
	reply(env, 10*time.Hour, "r1", opt.Reply{GateID: opt.GateID(opt.TaskID(planID, 1), 1), Action: opt.Accept})
	in := planInput(t, spec)
	in.State.Plan.Limits.CountsQuestions = true
	env.ExecuteWorkflow(workflows.Plan, in)
	if report := result(t, env, log); report.Status != opt.PlanCompleted || ran < 10 || looked != 4 {
		t.Errorf("the report is %+v, after %d runs and %d looks", report, ran, looked)
	}
	said := 0
	for _, e := range log.events {
		if e.Reason == opt.HeldByQuota {
			said++
		}
		if e.Kind == opt.UsageAdded {
			t.Errorf("the wait counts as time: %+v", e.Usage)
		}
	}
	test.Is(t, "it says so times", 2, said)
}

// How long attempts ran is counted, also of one that has failed, as their workers say.
func TestPlan_ran(t *testing.T) {
	env, log := newPlanEnv(t)
	runs := 0
	env.OnActivity("Run", anyArg, anyArg).Return(func(ctx context.Context, in activities.RunInput) (activities.Outcome, error) {
		test.OK(t, log.Record(ctx, in.Ride...))
		if runs++; runs == 1 {
			return activities.Outcome{}, temporal.NewNonRetryableApplicationError("No.", activities.ExecutorError, nil, 5400)
		}
		out := activities.Completed()
		out.Ran = 2700
		return out, nil
	})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("x")))
	result(t, env, log)
	var ran []int64
	for _, e := range log.events {
		if e.Kind == opt.UsageAdded {
			ran = append(ran, e.Usage.Ran)
		}
	}
	if !slices.Equal(ran, []int64{5, 3}) {
		t.Errorf("events count %d seconds", ran)
	}
}
