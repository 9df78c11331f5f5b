package workflows_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/testsuite"

	"longhaul/activities/human"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/workflows"
)

// laddered is an approval that is reminded after an hour, escalated after four and
// expires after two days.
var laddered = human.Form{
	Approve: "Go on?", Responders: &opt.Responders{Principals: []string{"p"}}, Ladder: []opt.Step{
		{Kind: opt.Remind, After: 3600}, {Kind: opt.Escalate, After: 4 * 3600, To: &opt.Responders{Groups: []string{"leads"}}}, {Kind: opt.Expire, After: 48 * 3600},
	},
}

// steps lists the steps that the gate of the first task has taken, and when.
func (r *recording) steps() []string {
	var out []string
	for _, e := range r.moves(taskID) {
		if e.Step != "" {
			out = append(out, fmt.Sprintf("%s after %s", e.Step, e.At.Time().Sub(began)))
		}
	}
	return out
}

func wantSteps(t *testing.T, log *recording, want ...string) {
	t.Helper()
	test.Equal(t, "steps", want, log.steps())
}

// timersOf counts the timers that are open.
func timersOf(env *testsuite.TestWorkflowEnvironment) map[string]bool {
	open := map[string]bool{}
	env.SetOnTimerScheduledListener(func(id string, _ time.Duration) { open[id] = true })
	env.SetOnTimerFiredListener(func(id string) { delete(open, id) })
	env.SetOnTimerCanceledListener(func(id string) { delete(open, id) })
	return open
}

// detailsOf returns what Temporal's UI shows as the current details.
func detailsOf(t *testing.T, env *testsuite.TestWorkflowEnvironment) string {
	t.Helper()
	value := test.Value(env.QueryWorkflow("__temporal_workflow_metadata"))(t)
	var shown sdk.WorkflowMetadata
	test.OK(t, value.Get(&shown))
	return shown.GetCurrentDetails()
}

// Each step is taken once, at its time, and the last one fails the task.
func TestPlan_takesTheStepsOfAGate(t *testing.T) {
	env, log := newPlanEnv(t)
	open := timersOf(env)
	at(env, 2*time.Hour, func() {
		test.Is(t, "timers", 1, len(open))
		if got, want := detailsOf(t, env), " · next: escalate at 2026-03-01 13:00 UTC\n"; !strings.Contains(got, want) {
			t.Errorf("Temporal shows %q, want %q in it", got, want)
		}
	})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, asking(t, laddered)))
	report := result(t, env, log)
	if report.Status != opt.PlanFailed || report.Reason != opt.ReasonTimeout || report.Failure != "No answer came within 2 days." {
		t.Errorf("the report is %+v", report)
	}
	wantSteps(t, log, "remind after 1h0m0s", "escalate after 4h0m0s", "expire after 48h0m0s")
	log.wantHas(t, "task-a-1-0 input-required", "task-a-1-0 failed timeout", "task-a-1-1 canceled timeout", "plan-a-1 failed timeout")
}
