package workflows_test

import (
	"context"
	"errors"
	"testing"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/workflows"
)

const otherID = "task-bbbbbbbbbbbbbbbbbbbbbbbbbb-1-0"

// linked returns the input of a plan whose first task is linked to another task,
// and an environment in which Follow returns the given results in turn.
func linked(t *testing.T, comes ...activities.Followed) (*testsuite.TestWorkflowEnvironment, *recording, workflows.PlanInput) {
	t.Helper()
	env, log := newPlanEnv(t)
	in := planInput(t, planOf("say never", "say after"))
	in.State.Plan.Tasks[0].Link, in.State.Plan.Tasks[0].Follow = otherID, true
	env.OnActivity("Follow", anyArg, anyArg).Return(func(_ context.Context, l activities.Link) (activities.Followed, error) {
		test.Is(t, "follows", (activities.Link{Tenant: "t", TaskID: otherID, For: taskID}), l)
		out := comes[0]
		comes = comes[min(1, len(comes)-1):]
		return out, nil
	})
	return env, log, in
}

// A task ends in the same state as its linked task.
func TestPlan_followsALinkedTask(t *testing.T) {
	made := a2a.Artifact{ArtifactID: "1-0-1-0-echo", Parts: []a2a.Part{a2a.TextPart("theirs")}}
	for name, tt := range map[string]struct {
		comes activities.Followed
		want  []string
		text  string
	}{
		"completed": {activities.Followed{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{made}}, []string{
			"task-a-1-0 made 1-0-1-0-echo", "task-a-1-0 completed", "task-a-1-1 working", "task-a-1-1 made 1-1-echo", "task-a-1-1 completed", "plan-a-1 completed",
		}, ""},
		"failed": {activities.Followed{State: opt.TaskFailed, Message: "So it is."}, []string{
			"task-a-1-0 failed linked", "task-a-1-1 canceled linked", "plan-a-1 failed linked",
		}, "So it is."},
		"in a cycle": {activities.Followed{State: opt.TaskFailed, Code: activities.ReasonLinkCycle, Message: "It is a cycle."}, []string{
			"task-a-1-0 failed link-cycle", "task-a-1-1 canceled link-cycle", "plan-a-1 failed link-cycle",
		}, "It is a cycle."},
		"canceled": {activities.Followed{State: opt.TaskCanceled}, []string{
			"task-a-1-0 canceled linked", "task-a-1-1 canceled linked", "plan-a-1 failed linked",
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			env, log, in := linked(t, activities.Followed{}, activities.Followed{}, tt.comes)
			env.ExecuteWorkflow(workflows.Plan, in)
			test.Is(t, "clients see", tt.text, result(t, env, log).Failure)
			log.want(t, planID, append([]string{"plan-started", "plan-a-1 working", "task-a-1-0 working"}, tt.want...)...)
		})
	}
}

// A plan that follows a task continues as new between two waits, and then follows
// the task further.
func TestPlan_continuesAsNewWhileItFollows(t *testing.T) {
	env, log, in := linked(t, activities.Followed{})
	onActivity(env, "Follow", func() { env.SetContinueAsNewSuggested(true) })
	env.ExecuteWorkflow(workflows.Plan, in)
	next := continued[workflows.PlanInput](t, env)

	env, after, _ := linked(t, activities.Followed{}, activities.Followed{State: opt.TaskCompleted})
	after.numbers = log.numbers
	env.ExecuteWorkflow(workflows.Plan, next)
	result(t, env, after)
	after.want(t, planID, "task-a-1-0 completed", "task-a-1-1 working", "task-a-1-1 made 1-1-echo", "task-a-1-1 completed", "plan-a-1 completed")
}

// A worker that is lost while it follows does not affect the task; a panic fails
// it.
func TestPlan_followsAfterALostWorker(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"lost":       {timeout(heartbeat), "task-a-1-0 completed"},
		"no journal": {errors.New("the journal is away"), "task-a-1-0 completed"},
		"panic":      {temporal.NewNonRetryableApplicationError("The task stopped unexpectedly.", activities.PanicError, nil), "task-a-1-0 failed failed"},
	} {
		t.Run(name, func(t *testing.T) {
			env, log := newPlanEnv(t)
			in := planInput(t, planOf("say never"))
			in.State.Plan.Tasks[0].Link, in.State.Plan.Tasks[0].Follow = otherID, true
			runs := 0
			env.OnActivity("Follow", anyArg, anyArg).Return(func(context.Context, activities.Link) (activities.Followed, error) {
				if runs++; runs < 9 { // the environment stops after 10
					return activities.Followed{}, tt.err
				}
				return activities.Followed{State: opt.TaskCompleted}, nil
			})
			env.ExecuteWorkflow(workflows.Plan, in)
			result(t, env, log)
			log.wantHas(t, tt.want)
		})
	}
}
