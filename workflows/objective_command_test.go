package workflows_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/workflows"
)

// Commands that belong to a plan go there in directives, one at a time, and come
// back as answers. Each is answered once, however often it is sent.
func TestObjective_passesCommandsOn(t *testing.T) {
	env, log := newEnv(t)
	plan := planOf("say never", "say two")
	link := opt.Command{Kind: opt.LinkTask, PlanID: planID, TaskID: taskID, Link: "elsewhere"}
	late := moveCommand(taskID, opt.TaskFailed)
	late.Deadline = a2a.At(began.Add(time.Hour))
	command(env, time.Hour, "c1", opt.Command{Kind: opt.CreatePlan, Plan: &plan})
	command(env, time.Hour, "c2", link)
	command(env, time.Hour, "c3", statusCommand(opt.ObjectiveWorking))
	command(env, 2*time.Hour, "c1", opt.Command{Kind: opt.CreatePlan, Plan: &plan})
	command(env, 2*time.Hour, "c4", opt.Command{Kind: opt.AddTasks, PlanID: planID, Tasks: []opt.TaskSpec{{Name: "Third", Description: "say three"}}})
	command(env, 2*time.Hour, "c5", opt.Command{Kind: opt.CancelTask, PlanID: planID, TaskID: opt.TaskID(planID, 9)})
	command(env, 2*time.Hour, "c6", late)
	command(env, 3*time.Hour, "c7", moveCommand(taskID, opt.TaskCompleted))
	run(env, unplanned())
	finished(t, env)
	var answers []string
	var revisions []int64
	for _, e := range log.events {
		switch e.Kind {
		case opt.CommandAnswered:
			answers = append(answers, line(e))
		case opt.ObjectiveChanged:
			revisions = append(revisions, e.Revision)
		}
	}
	want := []string{"answered c1", "answered c2", "answered c3", "answered c4", "answered c5 refused unknown", "answered c6 refused late", "answered c7"}
	slices.Sort(answers) // one that cancels a task does not wait in the queue
	test.Equal(t, "answers", want, answers)
	test.Equal(t, "revisions", []int64{2, 3, 4, 5, 6}, revisions)
	log.wantHas(t, "task-linked", "plan-started", "task-a-1-0 working by-hand", "tasks-added", "task-a-1-0 completed by-hand", "task-a-1-1 completed", "task-a-1-2 completed", "plan-a-1 completed")
}

// A run that continues as new passes outstanding work on: commands that no
// plan has answered, and plans whose start Temporal has not confirmed.
func TestObjective_continuesAsNew(t *testing.T) {
	env, log := newEnv(t)
	plan := planOf("approve Go?; say done")
	at(env, time.Hour, func() {
		env.SetContinueAsNewSuggested(true)
		for i, c := range []opt.Command{
			{Kind: opt.CreatePlan, Plan: &plan, Start: true},
			{Kind: opt.AddTasks, PlanID: planID, Tasks: []opt.TaskSpec{{Name: "Second", Description: "say two"}}},
			{Kind: opt.MoveTask, PlanID: planID, TaskID: opt.TaskID(planID, 7), Status: "completed"},
		} {
			c.ID, c.ObjectiveID = fmt.Sprint("c", i+1), objectiveID
			env.SignalWorkflowSkippingWorkflowTask(workflows.CommandSignal, c)
		}
		env.SignalWorkflow(workflows.LetterSignal, note("n1"))
	})
	run(env, unplanned())
	next := continued[workflows.ObjectiveInput](t, env)
	if log.numbers[objectiveID] != next.State.N {
		t.Errorf("%d of %d events are recorded", log.numbers[objectiveID], next.State.N)
	}
	waits := len(next.State.Commands)
	if next.State.Current != nil {
		waits++
	}
	link := next.State.Links[0]
	answered := 0
	for _, id := range []string{"c1", "c2", "c3"} {
		if next.State.Answered[id] {
			answered++
		}
	}
	if waits+answered != 3 || link.Own {
		t.Errorf("%d commands wait, %d are answered; the link is %+v", waits, answered, link)
	}
}

// deaf is a plan that does nothing and ignores signals.
func deaf(ctx workflow.Context, _ workflows.PlanInput) (workflows.PlanResult, error) {
	return workflows.PlanResult{}, workflow.Sleep(ctx, 5*time.Hour)
}

// A run that wants to continue as new waits until its plans have begun, and directs
// them to report their end by signal: the next run cannot begin them again.
func TestObjective_continuesAsNewOnceAPlanHasBegun(t *testing.T) {
	env, _ := newEnvWith(t, deaf)
	plan := planOf("say never")
	env.SetOnActivityCompletedListener(func(*activity.Info, converter.EncodedValue, error) {
		env.SetContinueAsNewSuggested(true) // when the plan is recorded, and begins
	})
	command(env, time.Hour, "c1", opt.Command{Kind: opt.CreatePlan, Plan: &plan})
	run(env, unplanned())
	wantDirected(t, continued[workflows.ObjectiveInput](t, env))
}

// wantDirected checks that the first plan was directed to report its end by signal.
func wantDirected(t *testing.T, next workflows.ObjectiveInput) {
	t.Helper()
	if link := next.State.Links[0]; !link.Begun || link.Own || !link.Directive.ReportEnd || link.Delivered < link.Directive.N {
		t.Fatalf("the link is %+v", link)
	}
}

// handedOver runs an objective whose first plan has begun until it continues as
// new, and returns an environment for the next run, which does not have that
// plan.
func handedOver(t *testing.T, o opt.Opening) (*testsuite.TestWorkflowEnvironment, *recording, workflows.ObjectiveInput) {
	t.Helper()
	env, log := newEnvWith(t, deaf)
	at(env, time.Hour, func() {
		env.SetContinueAsNewSuggested(true)
		env.SignalWorkflow(workflows.LetterSignal, note("n1"))
	})
	run(env, o)
	next := continued[workflows.ObjectiveInput](t, env)
	wantDirected(t, next)
	env, after := newEnv(t)
	after.numbers = log.numbers
	return env, after, next
}

// The next run gets the end of a plan that it has not begun by signal, and
// continues with the plans after it.
func TestObjective_hearsOfAnEndByReport(t *testing.T) {
	env, log, next := handedOver(t, opening("say never", "say two"))
	at(env, time.Hour, func() {
		report := opt.Report{N: 1, Directive: next.State.Links[0].Directive.N, Status: opt.PlanCompleted, Started: true}
		env.SignalWorkflow(workflows.ReportSignal, machine.Reported{PlanID: planID, Report: report})
	})
	log.outside = func(id, signal string, arg any) error {
		if directed := arg.(machine.Directed); id == opt.PlanID(objectiveID, 2) && directed.Directive.Start {
			report := opt.Report{N: 1, Directive: directed.Directive.N, Status: opt.PlanCompleted, Started: true}
			env.SignalWorkflow(workflows.ReportSignal, machine.Reported{PlanID: id, Report: report})
		}
		return nil
	}
	env.ExecuteWorkflow(workflows.Objective, next)
	finished(t, env)
	log.want(t, objectiveID, "objective completed", "obj-a completed")
}

// A reconciler may be wrong about a plan, or late: the objective has it checked.
func TestObjective_checksThatAPlanIsGone(t *testing.T) {
	env, log := newEnvWith(t, deaf)
	for after, gone := range map[time.Duration]bool{time.Hour: false, 2 * time.Hour: true} {
		at(env, after, func() {
			log.gone = map[string]bool{planID: gone}
			env.SignalWorkflow(workflows.LostSignal, machine.PlanLost{PlanID: planID})
		})
		at(env, after+time.Minute, func() {
			if env.IsWorkflowCompleted() != gone {
				t.Errorf("it has ended: %v, though the plan is gone: %v", !gone, gone)
			}
		})
	}
	o := opening("say never")
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: &o, Rules: machine.Rules})
	var failed *temporal.ApplicationError
	if err := env.GetWorkflowError(); !errors.As(err, &failed) || failed.Message() != opt.TerminatedText {
		t.Errorf("the workflow ended with %v", err)
	}
}

// If the workflow of a plan does not exist and it has not reported its end, an
// operator has ended it.
func TestObjective_findsAPlanGone(t *testing.T) {
	env, log, next := handedOver(t, opening("say never"))
	command(env, time.Hour, "c1", statusCommand(opt.ObjectiveBlocked))
	env.ExecuteWorkflow(workflows.Objective, next)
	log.wantHas(t, "objective-paused", "plan-a-1 failed terminated", "obj-a failed terminated")
	var failed *temporal.ApplicationError
	if err := env.GetWorkflowError(); !errors.As(err, &failed) || failed.Message() != opt.TerminatedText {
		t.Errorf("the workflow ended with %v", err)
	}
}
