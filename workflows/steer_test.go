package workflows_test

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"longhaul/opt"
	"longhaul/workflows"
)

// whilePlanned asks the objective for statuses, in turn, while the planner works.
func whilePlanned(t *testing.T, env *testsuite.TestWorkflowEnvironment, statuses ...opt.ObjectiveStatus) (answers []*answer) {
	t.Helper()
	for range statuses {
		answers = append(answers, &answer{})
	}
	env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if info.ActivityType.Name != "Plan" {
			return
		}
		for i, status := range statuses {
			env.UpdateWorkflow(workflows.ChangeObjectiveUpdate, "planned-"+string(status)+string(rune('0'+i)), answers[i], workflows.ChangeObjective{Status: status})
		}
	})
	return answers
}

func TestObjective_worksWhileItIsPlanned(t *testing.T) {
	env, log := newEnv(t)
	answers := whilePlanned(t, env, opt.ObjectiveWorking)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: opening()})
	finished(t, env)
	wantDone(t, answers...)
	log.want(t, objectiveID,
		"opened", "objective planning", "obj-a working", "objective working", "objective-changed", "added plan-a-1", "objective completed", "obj-a completed",
	)
}

// replanned has an objective planned anew after an hour, while its one plan waits
// at a gate that is opened an hour later, and asks for statuses meanwhile.
func replanned(t *testing.T, env *testsuite.TestWorkflowEnvironment, later ...opt.ObjectiveStatus) {
	t.Helper()
	answers := append(whilePlanned(t, env, later...), update(t, env, time.Hour, objectiveID, workflows.ReplanUpdate, workflows.Replan{}))
	at(env, 2*time.Hour, func() {
		_ = env.SignalWorkflowByID(planID, workflows.LetterSignal, letter("r1", opt.Reply{GateID: personGate, Action: opt.Accept}))
	})
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: opening("approve Go on?; say done")})
	finished(t, env)
	wantDone(t, answers...)
}

// Who has an objective work while it is replanned wants the old plans after all.
func TestObjective_worksWhileItIsReplanned(t *testing.T) {
	env, log := newEnv(t)
	replanned(t, env, opt.ObjectiveWorking)
	log.want(t, objectiveID,
		"opened", "objective working", "added plan-a-1", "obj-a working", "objective blocked input", "obj-a input-required input",
		"objective planning replan", "objective-changed", "objective working", "objective-changed",
		"objective blocked input", "objective working", "obj-a working", "objective completed", "obj-a completed",
	)
}

// A pause while an objective is replanned does not end that: the new plan comes,
// and waits with the rest.
func TestObjective_pausesWhileItIsReplanned(t *testing.T) {
	env, log := newEnv(t)
	resumed := update(t, env, 3*time.Hour, objectiveID, workflows.ChangeObjectiveUpdate, workflows.ChangeObjective{Status: opt.ObjectiveWorking})
	at(env, 2*time.Hour, func() {
		if !log.has("plan-a-1 skipped replanned") || log.has("plan-a-2 working") {
			t.Errorf("before it was resumed:\n%v", log.lines)
		}
	})
	replanned(t, env, opt.ObjectiveBlocked)
	wantDone(t, resumed)
	log.want(t, objectiveID,
		"opened", "objective working", "added plan-a-1", "obj-a working", "objective blocked input", "obj-a input-required input",
		"objective planning replan", "objective-changed", "objective blocked operator", "objective-changed", "added plan-a-2", "obj-a working operator",
		"objective working", "objective-changed", "objective completed", "obj-a completed",
	)
}

// What was paused while it was replanned can be planned further, or not.
func TestObjective_pausesAndGoesOnWhileItIsReplanned(t *testing.T) {
	for next, want := range map[opt.ObjectiveStatus]string{opt.ObjectivePlanning: "plan-a-2 completed", opt.ObjectiveWorking: "plan-a-1 completed"} {
		env, log := newEnv(t)
		replanned(t, env, opt.ObjectiveBlocked, next)
		if log.has("added plan-a-3") || !log.has(want) {
			t.Errorf("%s: %q is missing in\n%v", next, want, log.lines)
		}
	}
}

// linkTask has something elsewhere stand in for a task of the first plan.
func linkTask(t *testing.T, env *testsuite.TestWorkflowEnvironment, after time.Duration, m int) *answer {
	t.Helper()
	return update(t, env, after, planID, workflows.LinkTaskUpdate, workflows.LinkTask{TaskID: opt.TaskID(planID, m), Link: "elsewhere"})
}

// moveObjective asks for a status.
func moveObjective(t *testing.T, env *testsuite.TestWorkflowEnvironment, after time.Duration, to opt.ObjectiveStatus) *answer {
	t.Helper()
	return update(t, env, after, objectiveID, workflows.ChangeObjectiveUpdate, workflows.ChangeObjective{Status: to})
}

// An objective that goes on after a pause works from then on: it does not show its
// plans' pause until they have told it that they go on.
func TestObjective_resumesAtOnce(t *testing.T) {
	for name, between := range map[string]time.Duration{"later": time.Hour, "at once": 0} {
		t.Run(name, func(t *testing.T) {
			env, log := newEnv(t)
			answers := []*answer{
				update(t, env, time.Hour, objectiveID, workflows.AddPlanUpdate, workflows.AddPlan{Spec: planOf("say one", "say two")}),
				linkTask(t, env, 2*time.Hour, 0),
				moveObjective(t, env, 3*time.Hour, opt.ObjectiveWorking),
				moveObjective(t, env, 4*time.Hour, opt.ObjectiveBlocked),
				moveObjective(t, env, 4*time.Hour+between, opt.ObjectiveWorking),
				moveTask(t, env, 6*time.Hour, 1, 0, opt.TaskCompleted),
			}
			env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: unplanned()})
			finished(t, env)
			wantDone(t, answers...)
			log.want(t, objectiveID,
				"opened", "added plan-a-1", "objective-changed", "objective-changed", "objective working", "objective-changed", "obj-a working",
				"objective blocked operator", "objective-changed", "objective working", "objective-changed", "objective completed", "obj-a completed",
			)
			log.want(t, planID,
				"task-linked", "plan-a-1 working", "task-a-1-0 working by-hand", "plan-a-1 blocked operator", "plan-a-1 working",
				"task-a-1-0 completed by-hand", "task-a-1-1 working", "task-a-1-1 made 1-1-echo", "task-a-1-1 completed", "plan-a-1 completed",
			)
		})
	}
}

// An objective that a client begins by hand and pauses while it waits for its turn
// has nothing left to begin when that comes.
func TestObjective_pausesBeforeItsTurn(t *testing.T) {
	env, log := newEnv(t)
	env.OnSignalExternalWorkflow(anyArg, anyArg, anyArg, anyArg, anyArg).Return(func(_, id, _, signal string, arg any) error {
		slot, toContext := arg.(workflows.Slot)
		switch {
		case id == planID:
			return env.SignalWorkflowByID(id, signal, arg)
		case !toContext:
			env.SignalWorkflow(signal, arg)
		case slot.Do == "ask":
			env.SignalWorkflow(workflows.TurnSignal, nil)
		}
		return nil
	})
	o := opening()
	o.Objective.QueuedAt = o.Objective.CreatedAt
	answers := []*answer{
		update(t, env, time.Hour, objectiveID, workflows.AddPlanUpdate, workflows.AddPlan{Spec: planOf("say one", "say two")}),
		moveTask(t, env, 2*time.Hour, 1, 0, opt.TaskCompleted),
		moveObjective(t, env, 3*time.Hour, opt.ObjectiveBlocked),
		moveObjective(t, env, 5*time.Hour, opt.ObjectiveWorking),
	}
	at(env, 4*time.Hour, func() { env.SignalWorkflow(workflows.TurnSignal, nil) })
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: o})
	finished(t, env)
	wantDone(t, answers...)
	if !log.has("task-a-1-1 completed") {
		t.Errorf("it did not go on:\n%v", log.lines)
	}
}
