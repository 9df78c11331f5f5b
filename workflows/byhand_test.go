package workflows_test

import (
	"testing"
	"time"

	"longhaul/opt"
	"longhaul/workflows"
)

// A task that a client lets wait before the start starts nothing else, and the
// root task waits with it for as long as it does.
func TestObjective_aTaskWaitsByHandBeforeTheStart(t *testing.T) {
	env, log := newEnv(t)
	answers := []*answer{
		update(t, env, time.Hour, objectiveID, workflows.AddPlanUpdate, workflows.AddPlan{Spec: planOf("say one")}),
		update(t, env, time.Hour+time.Second, objectiveID, workflows.AddPlanUpdate, workflows.AddPlan{Spec: planOf("say two", "say three")}),
		moveTask(t, env, 2*time.Hour, 2, 0, opt.TaskWorking),
		moveTask(t, env, 3*time.Hour, 2, 0, opt.TaskInputRequired),
		moveTask(t, env, 4*time.Hour, 2, 0, opt.TaskWorking),
		moveTask(t, env, 5*time.Hour, 2, 0, opt.TaskAuthRequired),
		update(t, env, 6*time.Hour, objectiveID, workflows.ChangeObjectiveUpdate, workflows.ChangeObjective{Status: opt.ObjectiveWorking}),
		moveTask(t, env, 7*time.Hour, 2, 0, opt.TaskCompleted),
	}
	at(env, 5*time.Hour+time.Minute, func() {
		if log.has("plan-a-1 working") || log.has("task-a-2-1 working") {
			t.Errorf("it was started:\n%v", log.lines)
		}
	})
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: unplanned()})
	finished(t, env)
	wantDone(t, answers...)
	log.want(t, objectiveID,
		"opened", "added plan-a-1", "objective-changed", "added plan-a-2", "objective-changed",
		"objective working by-hand", "obj-a working by-hand",
		"obj-a input-required by-hand", "obj-a working by-hand", "obj-a auth-required by-hand",
		"objective working", "objective-changed",
		"objective blocked auth", "objective working", "obj-a working",
		"objective completed", "obj-a completed",
	)
	log.want(t, planID, "plan-a-1 working", "task-a-1-0 working", "task-a-1-0 made 1-0-echo", "task-a-1-0 completed", "plan-a-1 completed")
}

// The root task waits as soon as any task does, though its plan goes on with
// another (D15).
func TestObjective_aTaskWaitsByHandBesideAnother(t *testing.T) {
	env, log := newEnv(t)
	answers := []*answer{
		update(t, env, time.Hour, objectiveID, workflows.AddPlanUpdate, workflows.AddPlan{Spec: planOf("say one", "say two")}),
		moveTask(t, env, 2*time.Hour, 1, 0, opt.TaskWorking),
		moveTask(t, env, 3*time.Hour, 1, 1, opt.TaskWorking),
		moveTask(t, env, 4*time.Hour, 1, 1, opt.TaskInputRequired),
		moveTask(t, env, 5*time.Hour, 1, 1, opt.TaskCompleted),
		moveTask(t, env, 6*time.Hour, 1, 0, opt.TaskCompleted),
	}
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: unplanned()})
	finished(t, env)
	wantDone(t, answers...)
	log.want(t, objectiveID,
		"opened", "added plan-a-1", "objective-changed", "objective working by-hand", "obj-a working by-hand",
		"obj-a input-required by-hand", "obj-a working by-hand", "objective completed", "obj-a completed",
	)
	log.want(t, planID,
		"task-a-1-0 working by-hand", "plan-a-1 working by-hand", "task-a-1-1 working by-hand",
		"task-a-1-1 input-required by-hand", "task-a-1-1 completed by-hand", "task-a-1-0 completed by-hand", "plan-a-1 completed",
	)
}
