package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/workflows"
)

// run runs an objective until it has ended.
func run(env *testsuite.TestWorkflowEnvironment, o opt.Opening) {
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: &o})
}

func TestObjective_runsPlansInOrder(t *testing.T) {
	env, log := newEnv(t)
	run(env, opening("say one|say two", "say three"))
	finished(t, env)
	log.want(t, objectiveID, "opened", "objective working", "added plan-a-1", "added plan-a-2", "obj-a working", "objective completed", "obj-a completed")
	log.want(t, planID,
		"plan-started", "plan-a-1 working", "task-a-1-0 working", "task-a-1-0 made 1-0-echo", "task-a-1-0 completed",
		"task-a-1-1 working", "task-a-1-1 made 1-1-echo", "task-a-1-1 completed", "plan-a-1 completed",
	)
	log.want(t, opt.PlanID(objectiveID, 2), "plan-started", "plan-a-2 working", "task-a-2-0 working", "task-a-2-0 made 2-0-echo", "task-a-2-0 completed", "plan-a-2 completed")
}

// An event is in the journal before others get a message about it.
func TestObjective_recordsBeforeItSends(t *testing.T) {
	env, log := newEnv(t)
	env.SetOnChildWorkflowStartedListener(func(*workflow.Info, workflow.Context, converter.EncodedValues) {
		if !log.has("added plan-a-1") {
			t.Error("a plan began that the journal does not have")
		}
	})
	deliver := log.outside
	log.outside = func(id, signal string, arg any) error {
		if !log.has("task-a-1-0 input-required") {
			t.Error("the objective gets a gate that the journal does not have")
		}
		return deliver(id, signal, arg)
	}
	at(env, time.Hour, func() {
		_ = env.SignalWorkflowByID(planID, workflows.LetterSignal, letter("m2", opt.Reply{GateID: taskGate, Action: opt.Accept}))
	})
	run(env, opening("approve Ship it?; say shipped"))
	finished(t, env)
	log.wantHas(t, "task-a-1-0 input-required", "objective blocked input", "obj-a input-required input", "obj-a m2 accepted", "task-a-1-0 completed", "plan-a-1 completed", "objective completed")
}

// The workflow of a failed objective fails, and the reason is shown.
func TestObjective_fails(t *testing.T) {
	env, log := newEnv(t)
	run(env, opening("fail|say never", "say never"))
	var failed *temporal.ApplicationError
	if err := env.GetWorkflowError(); !errors.As(err, &failed) || failed.Message() != "The task was told to fail." {
		t.Errorf("the workflow ended with %v", err)
	}
	log.want(t, objectiveID,
		"opened", "objective working", "added plan-a-1", "added plan-a-2", "obj-a working", "objective-stopping failed", "objective failed told-to", "obj-a failed told-to",
	)
	log.want(t, opt.PlanID(objectiveID, 2), "plan-stopping plan-a-2 failed", "task-a-2-0 canceled failed", "plan-a-2 skipped failed")
}

func TestObjective_makesPlansFirst(t *testing.T) {
	env, log := newEnv(t)
	run(env, opening())
	finished(t, env)
	log.want(t, objectiveID,
		"opened", "objective planning", "obj-a working", "objective-changed", "added plan-a-1", "objective working", "objective completed", "obj-a completed",
	)
	for _, e := range log.events {
		if e.Kind == opt.ObjectiveChanged {
			if planner, _ := e.Text.Metadata.String(opt.KeyPlanner); planner != "one plan" {
				t.Errorf("the planner is %q", planner)
			}
		}
	}
}

func TestObjective_failsWithoutPlan(t *testing.T) {
	env, log := newEnv(t)
	o := opening()
	request := message("m1", "impossible")
	o.Message = &request
	run(env, o)
	log.want(t, objectiveID, "opened", "objective planning", "obj-a working", "objective-stopping failed", "objective failed failed", "obj-a failed failed")
	test.Is(t, "the root task says", "No plan could be made. that cannot be done: no plan", log.events[len(log.events)-1].Status.Text())
}

// What a planner has used that has made no plan is in the bill.
func TestObjective_failsWithoutPlan_usage(t *testing.T) {
	env, _ := newEnv(t)
	o := opening()
	o.Message = new(message("m1", "impossible"))
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: &o, Rules: machine.Rules})
	var failed *temporal.ApplicationError
	var ended workflows.ObjectiveResult
	if err := env.GetWorkflowError(); !errors.As(err, &failed) || failed.Details(&ended) != nil || len(ended.Last) != 1 {
		t.Fatalf("it has ended with %v and %+v", err, ended)
	}
	events := ended.Last[0].Events
	if used := events[len(events)-1].Usage; used == nil || used.Input != 7 {
		t.Errorf("the bill of the objective is %+v", used)
	}
}

// The workflow of a canceled objective is canceled, after the running tasks have
// stopped.
func TestObjective_isCanceled(t *testing.T) {
	for name, tt := range map[string]struct{ script, by string }{
		"running": {"work 1h", ""}, "waiting": {"approve Go?", ""},
		"running, by a client": {"work 1h", "ann"}, "waiting, by a client": {"approve Go?", "ann"},
	} {
		t.Run(name, func(t *testing.T) {
			env, log := newEnv(t)
			cancel := cancelBy(env, tt.by)
			if tt.script == "work 1h" { // the simulated time does not pass while an activity runs
				onActivity(env, "Run", cancel)
			} else {
				at(env, time.Hour, cancel)
			}
			run(env, opening(tt.script, "say never"))
			if !env.IsWorkflowCompleted() || !temporal.IsCanceledError(env.GetWorkflowError()) {
				t.Fatalf("the workflow ended with %v", env.GetWorkflowError())
			}
			log.wantHas(t, "objective-stopping canceled", "task-a-1-0 canceled canceled", "objective canceled", "obj-a canceled")
			log.wantHas(t, "plan-a-2 skipped canceled", "objective canceled")
			for _, e := range log.events {
				if e.Kind == opt.ObjectiveStopping && e.Principal != tt.by {
					t.Errorf("the event names %q, want %q", e.Principal, tt.by)
				}
			}
		})
	}
}

// cancelBy returns a function that cancels the objective as a principal does, or as an operator
// for none.
func cancelBy(env *testsuite.TestWorkflowEnvironment, principal string) func() {
	if principal == "" {
		return env.CancelWorkflow
	}
	return func() { env.SignalWorkflow(workflows.CancelSignal, machine.Canceled{Principal: principal}) }
}

// A cancellation is not lost if it arrives with another signal just when the run
// continues as new.
func TestObjective_isCanceledWhileItContinuesAsNew(t *testing.T) {
	for _, by := range []string{"", "ann"} {
		env, log := newEnv(t)
		cancel := cancelBy(env, by)
		at(env, time.Hour, func() {
			env.SetContinueAsNewSuggested(true)
			env.SignalWorkflowSkippingWorkflowTask(workflows.ReportSignal, machine.Reported{PlanID: "of no interest"})
			cancel()
		})
		run(env, unplanned())
		if !temporal.IsCanceledError(env.GetWorkflowError()) {
			t.Fatalf("the workflow ended with %v", env.GetWorkflowError())
		}
		log.want(t, objectiveID, "opened", "objective-stopping canceled", "objective canceled", "obj-a canceled")
	}
}

// While the journal cannot be reached no event is lost. Events that cannot be
// recorded soon are recorded on the queue that tasks do not use.
func TestObjective_waitsForTheJournal(t *testing.T) {
	env, log := newEnv(t)
	failures := 20 // more than the local activity tries
	log.fail = func(opt.Batch) error {
		if failures--; failures >= 0 {
			return errors.New("the journal is down")
		}
		return nil
	}
	queues := map[string]int{}
	env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if info.ActivityType.Name == "Record" {
			queues[info.TaskQueue]++
		}
	})
	run(env, opening("say done"))
	finished(t, env)
	log.want(t, objectiveID, "opened", "objective working", "added plan-a-1", "obj-a working", "objective completed", "obj-a completed")
	if queues[workflows.RecordQueue] < 10 || queues[workflows.TaskQueue] == 0 {
		t.Errorf("tried on these queues: %v", queues)
	}
}

// A former run of a plan may take a moment to end: the start of the next run is
// repeated until it succeeds.
func TestObjective_beginsAPlanAgain(t *testing.T) {
	env, log := newEnv(t)
	var begun time.Duration
	env.SetOnChildWorkflowStartedListener(func(info *workflow.Info, _ workflow.Context, _ converter.EncodedValues) {
		if info.WorkflowType.Name == workflows.PlanWorkflow {
			begun = env.Now().Sub(began)
		}
	})
	former := func(ctx workflow.Context) error { return workflow.Sleep(ctx, 2500*time.Millisecond) }
	both := func(ctx workflow.Context) error {
		child := func(id string) workflow.Context {
			return workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: id})
		}
		first := workflow.ExecuteChildWorkflow(child(planID), former)
		if err := first.GetChildWorkflowExecution().Get(ctx, nil); err != nil {
			return err
		}
		o := opening("say one")
		return workflow.ExecuteChildWorkflow(child(objectiveID), workflows.Objective, workflows.ObjectiveInput{Opening: &o}).Get(ctx, nil)
	}
	env.SetStartWorkflowOptions(startOptions("both"))
	env.RegisterWorkflow(former)
	env.RegisterWorkflow(both)
	env.ExecuteWorkflow(both)
	finished(t, env)
	log.want(t, objectiveID, "opened", "objective working", "added plan-a-1", "obj-a working", "objective completed", "obj-a completed")
	test.Is(t, "the plan began after", 3*time.Second, begun)
}

// A plan that an operator has ended is recorded as failed by its objective.
func TestObjective_losesAPlan(t *testing.T) {
	env, log := newEnv(t)
	env.OnWorkflow(workflows.PlanWorkflow, anyArg, anyArg).Return(workflows.PlanResult{}, errors.New("terminated"))
	run(env, opening("say never"))
	log.wantHas(t, "added plan-a-1", "plan-a-1 failed terminated", "objective failed terminated", "obj-a failed terminated")
}

// The first events of a run do not depend on when its first workflow task runs:
// their time is the start of the run.
func TestObjective_opensAtTheStartOfTheRun(t *testing.T) {
	env, log := newEnv(t)
	run(env, opening("say one"))
	finished(t, env)
	for _, e := range log.events[:4] {
		if !e.At.Time().Equal(began) {
			t.Errorf("%s is of %v, want %v", line(e), e.At, began)
		}
	}
	if log.events[3].Kind != opt.TaskMoved { // local activity: all four in one batch
		t.Errorf("the first events are %q", log.lines[:4])
	}
}
