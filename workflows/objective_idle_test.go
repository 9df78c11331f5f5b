package workflows_test

import (
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/workflows"
)

// idle returns the input of an objective that waits to be started, for 30 days at
// the most.
func idle() workflows.ObjectiveInput {
	o := unplanned()
	return workflows.ObjectiveInput{Opening: &o, IdleFor: int64(30 * day / time.Second)}
}

// expired checks that an objective was canceled on a day, and says why.
func expired(t *testing.T, env *testsuite.TestWorkflowEnvironment, log *recording, on time.Time) {
	t.Helper()
	if !env.IsWorkflowCompleted() || !temporal.IsCanceledError(env.GetWorkflowError()) {
		t.Fatalf("the workflow was not canceled: %v", env.GetWorkflowError())
	}
	last := log.events[len(log.events)-1]
	if !last.At.Time().Equal(on) || last.Status == nil {
		t.Fatalf("it ended at %v, want %v, saying %v", last.At, on, last.Status)
	}
	test.Is(t, "the root task says", "No client started this objective within 30 days, so it was canceled.", last.Status.Text())
}

func TestObjective_expires(t *testing.T) {
	env, log := newEnv(t)
	plan := planOf("say never")
	command(env, 10*day, "c1", opt.Command{Kind: opt.CreatePlan, Plan: &plan})
	env.ExecuteWorkflow(workflows.Objective, idle())
	expired(t, env, log, began.Add(30*day))
	log.want(t, planID, "plan-stopping plan-a-1 canceled", "task-a-1-0 canceled canceled", "plan-a-1 skipped canceled")
	log.wantHas(t, "objective-stopping canceled", "objective canceled expired", "obj-a canceled expired")
}

// An objective that was started and waits for its turn does not expire. It asks
// its context for a turn, and works when it has the turn.
func TestObjective_waitsForItsTurn(t *testing.T) {
	env, log := newEnv(t)
	var wants []machine.TurnWant
	log.outside = func(id, signal string, arg any) error {
		if signal != workflows.RequestSignal {
			t.Errorf("%s gets %s", id, signal)
			return nil
		}
		request := arg.(machine.TurnRequest)
		wants = append(wants, request.Want)
		if request.Want == machine.WantTurn {
			at(env, 40*day, func() {
				env.SignalWorkflow(workflows.TurnSignal, machine.Turn{Attempt: 1, N: 2, Request: request.N, Held: true, Tenant: "t"})
			})
		}
		return nil
	}
	at(env, day, func() { env.SignalWorkflow(workflows.TurnSignal, machine.Turn{Attempt: 1, N: 1, Tenant: "t"}) })
	at(env, 2*day, func() { env.SignalWorkflow(workflows.LetterSignal, note("m5")) })
	env.ExecuteWorkflow(workflows.Objective, idle())
	finished(t, env)
	log.wantHas(t, "obj-a m5 noted", "objective planning", "task-a-1-0 completed", "obj-a completed")
	test.Equal(t, "the context was asked for", []machine.TurnWant{machine.WantRest, machine.WantTurn, machine.WantLeave}, wants)
	for _, e := range log.events {
		if e.To == string(opt.ObjectivePlanning) && e.At.Time().Sub(began) < 40*day {
			t.Errorf("it began at %v", e.At)
		}
	}
}
