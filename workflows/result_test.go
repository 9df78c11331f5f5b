package workflows_test

import (
	"errors"
	"testing"

	"go.temporal.io/sdk/temporal"

	"longhaul/opt"
	"longhaul/workflows"
)

// The workflow of a plan ends as the plan did, and its objective gets the report in
// each case.
func TestPlan_endsAsItsPlan(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		cancel bool
		want   func(error) bool
	}{
		"completed": {"say one", false, func(err error) bool { return err == nil }},
		"failed": {"fail", false, func(err error) bool {
			var app *temporal.ApplicationError
			return errors.As(err, &app) && app.Type() == workflows.PlanFailed && app.Message() != ""
		}},
		"canceled": {"work 1h", true, temporal.IsCanceledError},
	} {
		t.Run(name, func(t *testing.T) {
			env, log := newPlanEnv(t)
			if tt.cancel {
				onActivity(env, "Run", env.CancelWorkflow)
			}
			env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf(tt.script)))
			if err := env.GetWorkflowError(); !tt.want(err) {
				t.Errorf("the workflow ended with %v", err)
			}
			if got := result(t, env, log); !got.Status.Ended() || (got.Status == opt.PlanCompleted) != (name == "completed") {
				t.Errorf("the report says %s", got.Status)
			}
		})
	}
}
