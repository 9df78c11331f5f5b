package workflows_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/workflows"
)

const day = 24 * time.Hour

// idle returns the input of an objective that waits to be started, for 30 days at
// the most.
func idle() workflows.ObjectiveInput {
	o := opening()
	o.Idle, o.Message = true, nil
	return workflows.ObjectiveInput{Opening: o, IdleFor: int64(30 * day / time.Second)}
}

// onDay has an update made after a time.
func onDay(env *testsuite.TestWorkflowEnvironment, t *testing.T, after time.Duration, id, update string, arg any) {
	env.RegisterDelayedCallback(func() {
		err := env.UpdateWorkflowByID(id, update, update+after.String(), &testsuite.TestUpdateCallback{
			OnReject:   func(err error) { t.Errorf("%s was refused: %v", update, err) },
			OnAccept:   func() {},
			OnComplete: func(any, error) {},
		}, arg)
		if err != nil {
			t.Error(err)
		}
	}, after)
}

// expired checks that an objective was canceled on a day, and says why.
func expired(t *testing.T, env *testsuite.TestWorkflowEnvironment, log *recording, on time.Time) {
	t.Helper()
	if !env.IsWorkflowCompleted() || !temporal.IsCanceledError(env.GetWorkflowError()) {
		t.Fatalf("the workflow was not canceled: %v", env.GetWorkflowError())
	}
	last := log.events[len(log.events)-1]
	if !last.At.Time().Equal(on) {
		t.Errorf("it ended at %v, want %v", last.At, on)
	}
	if last.Status == nil {
		t.Fatal("the root task says nothing")
	}
	if got, want := last.Status.Text(), "Nobody started this objective within 30 days, so it was canceled."; got != want {
		t.Errorf("the root task says %q, want %q", got, want)
	}
}

func TestObjective_expires(t *testing.T) {
	env, log := newEnv(t)
	env.ExecuteWorkflow(workflows.Objective, idle())
	expired(t, env, log, began.Add(30*day))
	log.want(t, objectiveID, "opened", "objective-stopping canceled", "objective canceled expired", "obj-a canceled expired")
}

// The plans of an objective that expires are skipped.
func TestObjective_expiresWithPlans(t *testing.T) {
	env, log := newEnv(t)
	plan := opt.PlanSpec{Name: "Never", Tasks: []opt.TaskSpec{{Name: "Never", Description: "say never"}}}
	onDay(env, t, 10*day, objectiveID, workflows.AddPlanUpdate, workflows.AddPlan{Spec: plan})
	env.ExecuteWorkflow(workflows.Objective, idle())
	expired(t, env, log, began.Add(30*day))
	log.want(t, planID, "plan-stopping plan-a-1 canceled", "task-a-1-0 canceled canceled", "plan-a-1 skipped canceled")
}

// Once it was started nothing of that is left: no timer, and no end.
func TestObjective_doesNotExpireOnceStarted(t *testing.T) {
	env, log := newEnv(t)
	open := map[string]bool{}
	env.SetOnTimerScheduledListener(func(id string, d time.Duration) {
		if d > day {
			open[id] = true
		}
	})
	env.SetOnTimerCanceledListener(func(id string) { delete(open, id) })
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflow(workflows.LetterSignal, opt.Letter{ObjectiveID: objectiveID, TaskID: objectiveID, Message: message("m5", "approve"), Principal: "p"})
	}, 29*day)
	env.RegisterDelayedCallback(func() {
		if len(open) != 0 {
			t.Error("the timer is still there")
		}
		_ = env.SignalWorkflowByID(planID, workflows.LetterSignal, letter("m6", opt.Reply{GateID: "task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-0:1", Action: opt.Accept}))
	}, 90*day)
	in := idle()
	in.Opening.Plans = opening("approve Now?; say late").Plans
	env.ExecuteWorkflow(workflows.Objective, in)
	finished(t, env)
	if !log.has("obj-a m6 accepted") || log.lines[len(log.lines)-1] != "obj-a completed" {
		t.Errorf("events:\n%v", log.lines)
	}
}

// What a person does by hand is a start, too.
func TestObjective_doesNotExpireByHand(t *testing.T) {
	env, log := newEnv(t)
	plan := opt.PlanSpec{Name: "By hand", Tasks: []opt.TaskSpec{{Name: "Dig"}}}
	onDay(env, t, 10*day, objectiveID, workflows.AddPlanUpdate, workflows.AddPlan{Spec: plan})
	onDay(env, t, 20*day, planID, workflows.MoveTaskUpdate, workflows.MoveTask{TaskID: opt.TaskID(planID, 0), State: opt.TaskWorking})
	onDay(env, t, 60*day, planID, workflows.MoveTaskUpdate, workflows.MoveTask{TaskID: opt.TaskID(planID, 0), State: opt.TaskCompleted})
	env.ExecuteWorkflow(workflows.Objective, idle())
	finished(t, env)
	if got := log.lines[len(log.lines)-1]; got != "obj-a completed" {
		t.Errorf("the last event is %q", got)
	}
}

// What was started and has not had its turn yet was started.
func TestObjective_doesNotExpireInTheQueue(t *testing.T) {
	env, log := newEnv(t)
	env.OnSignalExternalWorkflow(anyArg, anyArg, anyArg, workflows.SlotSignal, anyArg).Return(nil)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.JoinSignal, workflows.Join{Tenant: "t"}) }, day)
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflow(workflows.LetterSignal, opt.Letter{ObjectiveID: objectiveID, TaskID: objectiveID, Message: message("m5", "go"), Principal: "p"})
	}, 2*day)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.TurnSignal, struct{}{}) }, 40*day)
	env.ExecuteWorkflow(workflows.Objective, idle())
	finished(t, env)
	if !log.has("obj-a m5 noted") || log.lines[len(log.lines)-1] != "obj-a completed" {
		t.Errorf("events:\n%v", log.lines)
	}
}

// Work that began at once has no such timer, and neither has an objective for
// which no time was set.
func TestObjective_doesNotExpire(t *testing.T) {
	working := idle()
	working.Opening = opening("approve Now?; say late")
	forever := idle()
	forever.IdleFor = 0
	forever.Opening.Plans = working.Opening.Plans
	for name, in := range map[string]workflows.ObjectiveInput{"working": working, "for ever": forever} {
		t.Run(name, func(t *testing.T) {
			env, _ := newEnv(t)
			env.SetOnTimerScheduledListener(func(_ string, d time.Duration) {
				if d > day {
					t.Errorf("there is a timer of %v", d)
				}
			})
			env.RegisterDelayedCallback(func() {
				env.SignalWorkflow(workflows.LetterSignal, opt.Letter{ObjectiveID: objectiveID, TaskID: objectiveID, Message: message("m5", "go"), Principal: "p"})
			}, 400*day)
			env.RegisterDelayedCallback(func() {
				_ = env.SignalWorkflowByID(planID, workflows.LetterSignal, letter("m6", opt.Reply{GateID: "task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-0:1", Action: opt.Accept}))
			}, 401*day)
			env.ExecuteWorkflow(workflows.Objective, in)
			finished(t, env)
		})
	}
}

// A run that follows on another waits for what is left.
func TestObjective_expiresInALaterRun(t *testing.T) {
	for name, in := range map[string]workflows.ObjectiveInput{"first attempt": idle(), "second attempt": retried()} {
		t.Run(name, func(t *testing.T) {
			start := began
			if in.Again != "" {
				start = began.Add(100 * day)
			}
			var before []opt.Event
			for passed := time.Duration(0); passed < 20*day; passed += 10 * day {
				env, log := newEnv(t)
				env.SetStartTime(start.Add(passed))
				log.numbers = numbers(before)
				env.RegisterDelayedCallback(func() { env.SetContinueAsNewSuggested(true) }, 10*day)
				onDay(env, t, 10*day, objectiveID, workflows.ClaimUpdate, workflows.Claim{})
				env.ExecuteWorkflow(workflows.Objective, in)
				in = continued[workflows.ObjectiveInput](t, env)
				before = append(before, log.events...)
			}
			env, log := newEnv(t)
			env.SetStartTime(start.Add(20 * day))
			log.numbers = numbers(before)
			env.ExecuteWorkflow(workflows.Objective, in)
			expired(t, env, log, start.Add(30*day))
		})
	}
}

// numbers returns the last number of the one source that there is.
func numbers(events []opt.Event) map[string]int64 {
	out := map[string]int64{}
	for _, e := range events {
		for _, source := range []string{objectiveID, objectiveID + "~2"} {
			out[source] = e.N
		}
	}
	return out
}

// retried returns the input of a new attempt, which waits to be started, at an
// objective that failed.
func retried() workflows.ObjectiveInput {
	in := idle()
	o := in.Opening.Objective
	o.Status, o.Root, o.Started = opt.ObjectiveFailed, opt.TaskFailed, true
	in.Opening, in.Again = opt.Opening{Idle: true}, string(opt.ObjectiveSubmitted)
	in.State = &workflows.ObjectiveState{Objective: o}
	return in
}

// A new attempt that is put back waits as long as the first.
func TestObjective_newAttemptExpires(t *testing.T) {
	env, log := newEnv(t)
	env.SetStartTime(began.Add(100 * day))
	env.ExecuteWorkflow(workflows.Objective, retried())
	expired(t, env, log, began.Add(130*day))
	if diff := cmp.Diff([]string{"objective-again", "objective-changed", "objective-stopping canceled", "objective canceled expired", "obj-a~2 canceled expired"}, log.lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// An objective whose first task comes too late ends with it.
func TestObjective_expiredLongAgo(t *testing.T) {
	env, log := newEnv(t)
	in := idle()
	in.Opening.Objective.CreatedAt = a2a.At(began.Add(-50 * day))
	env.ExecuteWorkflow(workflows.Objective, in)
	expired(t, env, log, began)
}
