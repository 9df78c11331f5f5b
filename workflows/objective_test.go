package workflows_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"longhaul/activities"
	"longhaul/opt"
	"longhaul/workflows"
)

func TestObjective_runsPlansInOrder(t *testing.T) {
	env, log := newEnv(t)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: opening("say one|say two", "say three")})
	finished(t, env)
	log.want(t, objectiveID,
		"opened", "objective working", "added plan-a-1", "added plan-a-2", "obj-a working", "objective completed", "obj-a completed",
	)
	log.want(t, planID,
		"plan-a-1 working", "task-a-1-0 working", "task-a-1-0 made 1-0-echo", "task-a-1-0 completed", "task-a-1-1 working", "task-a-1-1 made 1-1-echo", "task-a-1-1 completed", "plan-a-1 completed",
	)
	log.want(t, opt.PlanID(objectiveID, 2),
		"plan-a-2 working", "task-a-2-0 working", "task-a-2-0 made 2-0-echo", "task-a-2-0 completed", "plan-a-2 completed",
	)
}

func TestObjective_waitsForReplyAndResumes(t *testing.T) {
	env, log := newEnv(t)
	env.RegisterDelayedCallback(func() {
		_ = env.SignalWorkflowByID(planID, workflows.LetterSignal, letter("m2", opt.Reply{GateID: "task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-0:1", Action: opt.Accept}))
	}, time.Hour)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: opening("approve Ship it?; say shipped")})
	finished(t, env)
	log.want(t, objectiveID,
		"opened", "objective working", "added plan-a-1", "obj-a working", "objective blocked input", "obj-a input-required input", "objective working", "obj-a working", "objective completed", "obj-a completed",
	)
	log.want(t, planID,
		"plan-a-1 working", "task-a-1-0 working", "task-a-1-0 input-required", "plan-a-1 blocked input", "obj-a m2 accepted", "task-a-1-0 working", "plan-a-1 working", "task-a-1-0 made 1-0-echo", "task-a-1-0 completed", "plan-a-1 completed",
	)
}

func letter(messageID string, reply opt.Reply) opt.Letter {
	return opt.Letter{
		ObjectiveID: objectiveID, PlanID: planID, TaskID: objectiveID, ForTask: reply.GateID[:len(reply.GateID)-2], Principal: "p",
		Message: message(messageID, "here"), Reply: &reply,
	}
}

func TestObjective_failsFastAndCancelsTheRest(t *testing.T) {
	env, log := newEnv(t)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: opening("fail|say never", "say never")})
	if err := env.GetWorkflowError(); err == nil {
		t.Fatal("the workflow of a failed objective did not fail")
	}
	log.want(t, objectiveID,
		"opened", "objective working", "added plan-a-1", "added plan-a-2", "obj-a working", "objective-stopping failed", "objective failed told-to", "obj-a failed told-to",
	)
	log.want(t, planID,
		"plan-a-1 working", "task-a-1-0 working", "task-a-1-0 failed told-to", "task-a-1-1 canceled told-to", "plan-a-1 failed told-to",
	)
	log.want(t, opt.PlanID(objectiveID, 2),
		"plan-stopping plan-a-2 failed", "task-a-2-0 canceled failed", "plan-a-2 skipped failed",
	)
}

func TestObjective_isRejected(t *testing.T) {
	env, log := newEnv(t)
	o := opening("say first|say never")
	o.Plans[0].Tasks[0].Executor = "proud"
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: o})
	if err := env.GetWorkflowError(); err == nil {
		t.Fatal("the workflow of a failed objective did not fail")
	}
	log.want(t, objectiveID,
		"opened", "objective working", "added plan-a-1", "obj-a working", "objective-stopping failed", "objective failed rejected", "obj-a rejected rejected",
	)
	log.want(t, planID,
		"plan-a-1 working", "task-a-1-0 working", "task-a-1-0 rejected beneath-me", "task-a-1-1 canceled rejected", "plan-a-1 failed rejected",
	)
	last := log.events[len(log.events)-1]
	if got, want := last.Status.Text(), "Ask somebody else."; got != want {
		t.Errorf("the root task says %q, want %q", got, want)
	}
}

func TestObjective_plansFirst(t *testing.T) {
	env, log := newEnv(t)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: opening()})
	finished(t, env)
	log.want(t, objectiveID,
		"opened", "objective planning", "obj-a working", "added plan-a-1", "objective working", "objective completed", "obj-a completed",
	)
	log.want(t, planID,
		"plan-a-1 working", "task-a-1-0 working", "task-a-1-0 made 1-0-echo", "task-a-1-0 completed", "plan-a-1 completed",
	)
}

func TestObjective_failsWithoutPlan(t *testing.T) {
	env, log := newEnv(t)
	o := opening()
	request := message("m1", "impossible")
	o.Message = &request
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: o})
	log.want(t, objectiveID,
		"opened", "objective planning", "obj-a working", "objective-stopping failed", "objective failed failed", "obj-a failed failed",
	)
	last := log.events[len(log.events)-1]
	if got, want := last.Status.Text(), "No plan could be made. nobody can do that: no plan"; got != want {
		t.Errorf("the root task says %q, want %q", got, want)
	}
}

func TestObjective_retriesAndRecordsAttempts(t *testing.T) {
	env, log := newEnv(t)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: opening("fail 2; say at last")})
	finished(t, env)
	for _, e := range log.events {
		if e.TaskID == opt.TaskID(planID, 0) && e.To == string(opt.TaskCompleted) && e.Attempt != 3 {
			t.Errorf("completed on attempt %d, want 3", e.Attempt)
		}
	}
}

func TestObjective_idleStartsByMessage(t *testing.T) {
	env, log := newEnv(t)
	o := opening()
	o.Idle, o.Message = true, nil
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflow(workflows.LetterSignal, opt.Letter{ObjectiveID: objectiveID, TaskID: objectiveID, Message: message("m5", "go"), Principal: "p"})
	}, time.Hour)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: o})
	finished(t, env)
	log.want(t, objectiveID,
		"opened", "obj-a m5 noted", "objective planning", "obj-a working", "added plan-a-1", "objective working", "objective completed", "obj-a completed",
	)
	log.want(t, planID,
		"plan-a-1 working", "task-a-1-0 working", "task-a-1-0 made 1-0-echo", "task-a-1-0 completed", "plan-a-1 completed",
	)
}

func TestObjective_cancelStopsEverything(t *testing.T) {
	for name, script := range map[string]string{"running": "work 1h", "waiting": "approve Go?"} {
		t.Run(name, func(t *testing.T) {
			env, log := newEnv(t)
			if name == "running" { // time stands still while an activity runs
				env.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) { env.CancelWorkflow() })
			} else {
				env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
			}
			env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: opening(script, "say never")})
			if !env.IsWorkflowCompleted() {
				t.Fatal("the workflow did not end")
			}
			got := log.lines[len(log.lines)-2:]
			if got[0] != "objective canceled" || got[1] != "obj-a canceled" {
				t.Errorf("ended with %q", got)
			}
			for _, want := range []string{"task-a-1-0 canceled canceled", "plan-a-2 skipped canceled"} {
				if !log.has(want) {
					t.Errorf("%q is missing in\n%v", want, log.lines)
				}
			}
		})
	}
}

func TestObjective_waitsForTheJournal(t *testing.T) {
	env, log := newEnv(t)
	failures := 20 // more than the local activity tries
	log.fail = func(opt.Batch) error {
		if failures--; failures >= 0 {
			return errors.New("the journal is down")
		}
		return nil
	}
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: opening("say done")})
	finished(t, env)
	if got := log.lines[len(log.lines)-1]; got != "obj-a completed" {
		t.Errorf("the last event is %q", got)
	}
}

// An objective of which a client has ended the last plan ends when the tasks of that
// have.
func TestObjective_waitsForTheTasksOfAnEndedPlan(t *testing.T) {
	for status, want := range map[opt.PlanStatus]string{opt.PlanCompleted: "obj-a completed", opt.PlanFailed: "obj-a failed"} {
		env, log := newEnv(t)
		env.OnActivity("Run", anyArg, anyArg).Return(func(ctx context.Context, _ activities.Work) (activities.Outcome, error) {
			log.await("objective-changed") // by then the objective knows of the end of the plan
			return activities.Outcome{}, context.Canceled
		})
		a := &answer{}
		env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
			if info.ActivityType.Name == "Run" {
				_ = env.UpdateWorkflowByID(planID, workflows.ChangePlanUpdate, "end", a, workflows.ChangePlan{Status: status})
			}
		})
		env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: opening("work 1h")})
		wantDone(t, a)
		canceled := slices.Index(log.lines, "task-a-1-0 canceled canceled")
		ended := slices.IndexFunc(log.lines, func(line string) bool { return strings.HasPrefix(line, want) })
		if canceled < 0 || ended < canceled {
			t.Errorf("%q comes too early in\n%v", want, log.lines)
		}
	}
}
