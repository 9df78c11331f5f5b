package workflows_test

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/human"
	"longhaul/opt"
	"longhaul/workflows"
)

const otherID = "task-bbbbbbbbbbbbbbbbbbbbbbbbbb-1-0"

// linkedPlan returns a started plan whose first task is linked to one of ours, and
// an environment in which that comes to one thing after another.
func linkedPlan(t *testing.T, comes ...activities.Followed) (*testsuite.TestWorkflowEnvironment, *recording, workflows.PlanInput) {
	t.Helper()
	env, log := newPlanEnv(t)
	in := planWith(t, human.Form{Approve: "Never asked"})
	in.Tenant = "t"
	in.Plan.Tasks[0].Link, in.Plan.Tasks[0].Follow = otherID, true
	env.OnActivity("Follow", anyArg, anyArg).Return(func(_ context.Context, l activities.Link) (activities.Followed, error) {
		if want := (activities.Link{Tenant: "t", TaskID: otherID, For: opt.TaskID(planID, 0)}); l != want {
			t.Errorf("follows %+v, want %+v", l, want)
		}
		out := comes[0]
		comes = comes[min(1, len(comes)-1):]
		return out, nil
	})
	return env, log, in
}

// onFollow calls f when the other task is followed for the first time.
func onFollow(env *testsuite.TestWorkflowEnvironment, f func()) {
	times := 0
	env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if times++; info.ActivityType.Name == "Follow" && f != nil {
			f()
			f = nil
		}
	})
}

// A task ends as the task does that stands in for it, whenever that is.
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
		"rejected": {activities.Followed{State: opt.TaskRejected, Message: "So it is."}, []string{
			"task-a-1-0 rejected linked", "task-a-1-1 canceled rejected", "plan-a-1 failed rejected",
		}, "So it is."},
		"canceled": {activities.Followed{State: opt.TaskCanceled}, []string{
			"task-a-1-0 canceled linked", "task-a-1-1 canceled linked", "plan-a-1 failed linked",
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			env, log, in := linkedPlan(t, activities.Followed{}, activities.Followed{}, tt.comes)
			env.ExecuteWorkflow(workflows.Plan, in)
			finished(t, env)
			log.want(t, planID, append([]string{"plan-a-1 working", "task-a-1-0 working"}, tt.want...)...)
			var report opt.Report
			if err := env.GetWorkflowResult(&report); err != nil || report.Failure != tt.text {
				t.Errorf("clients are told %q, want %q: %v", report.Failure, tt.text, err)
			}
		})
	}
}

// Following ends when the task is canceled, or when a client moves it.
func TestPlan_followsNoMore(t *testing.T) {
	for name, tt := range map[string]struct {
		update string
		arg    any
		want   string
	}{
		"canceled": {workflows.CancelTaskUpdate, workflows.CancelTask{TaskID: opt.TaskID(planID, 0)}, "task-a-1-0 canceled canceled"},
		"by hand":  {workflows.MoveTaskUpdate, workflows.MoveTask{TaskID: opt.TaskID(planID, 0), State: opt.TaskCompleted}, "task-a-1-0 completed by-hand"},
	} {
		t.Run(name, func(t *testing.T) {
			env, log, in := linkedPlan(t, activities.Followed{})
			a := &answer{}
			onFollow(env, func() { env.UpdateWorkflow(tt.update, name, a, tt.arg) })
			env.ExecuteWorkflow(workflows.Plan, in)
			finished(t, env)
			wantDone(t, a)
			if !log.has(tt.want) {
				t.Errorf("%q is missing in\n%v", tt.want, log.lines)
			}
		})
	}
}

// A plan that follows a task continues as new between two waits, and follows on.
func TestPlan_continuesAsNewWhileItFollows(t *testing.T) {
	env, _, in := linkedPlan(t, activities.Followed{})
	onFollow(env, func() { env.SetContinueAsNewSuggested(true) })
	env.ExecuteWorkflow(workflows.Plan, in)
	next := continued[workflows.PlanInput](t, env)

	env, log, _ := linkedPlan(t, activities.Followed{}, activities.Followed{State: opt.TaskCompleted})
	log.numbers[planID] = next.State.Recorded
	env.ExecuteWorkflow(workflows.Plan, next)
	finished(t, env)
	log.want(t, planID, "task-a-1-0 completed", "task-a-1-1 working", "task-a-1-1 made 1-1-echo", "task-a-1-1 completed", "plan-a-1 completed")
}

// What stands in for a task of a leaf plan makes what the root task shows.
func TestObjective_showsWhatALinkedTaskMade(t *testing.T) {
	env, log := newEnv(t)
	env.OnActivity("Follow", anyArg, anyArg).Return(activities.Followed{
		State: opt.TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: "1-0-theirs", Parts: []a2a.Part{a2a.TextPart("theirs")}}},
	}, nil)
	answers := []*answer{
		update(t, env, time.Hour, objectiveID, workflows.AddPlanUpdate, workflows.AddPlan{Spec: planOf("say never")}),
		update(t, env, 2*time.Hour, planID, workflows.LinkTaskUpdate, workflows.LinkTask{TaskID: opt.TaskID(planID, 0), Link: otherID, Follow: true}),
		moveObjective(t, env, 3*time.Hour, opt.ObjectiveWorking),
	}
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: unplanned()})
	finished(t, env)
	wantDone(t, answers...)
	log.want(t, planID, "task-linked", "plan-a-1 working", "task-a-1-0 working", "task-a-1-0 made 1-0-theirs", "task-a-1-0 completed", "plan-a-1 completed")
	for _, e := range log.events {
		switch {
		case e.Kind == opt.ArtifactAdded && e.RootID != objectiveID:
			t.Errorf("it is not shown: %+v", e)
		case e.Kind == opt.TaskLinked && (e.Link != otherID || !e.Follow):
			t.Errorf("linked by %+v", e)
		}
	}
}

// A client that moves a linked task before it is dispatched moves it to the end.
func TestPlan_doesNotFollowByHand(t *testing.T) {
	env, _, in := linkedPlan(t, activities.Followed{State: opt.TaskFailed})
	in.Order = nil
	onFollow(env, func() { t.Error("the other task is followed") })
	answers := []*answer{
		moveTask(t, env, time.Hour, 1, 0, opt.TaskWorking), moveTask(t, env, 2*time.Hour, 1, 0, opt.TaskCompleted),
		moveTask(t, env, 3*time.Hour, 1, 1, opt.TaskCompleted),
	}
	env.ExecuteWorkflow(workflows.Plan, in)
	finished(t, env)
	wantDone(t, answers...)
}
