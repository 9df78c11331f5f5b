package workflows_test

import (
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"longhaul/activities/human"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/workflows"
)

// asking returns a plan whose first task is a question to a person.
func asking(t *testing.T, form human.Form) opt.PlanSpec {
	t.Helper()
	ask := test.Value(form.Gate())(t)
	spec := planOf("", "say after")
	spec.Tasks[0].Ask = ask
	return spec
}

var goOn = human.Form{Approve: "Go on?"}

func reply(env *testsuite.TestWorkflowEnvironment, after time.Duration, messageID string, r opt.Reply) {
	at(env, after, func() { env.SignalWorkflow(workflows.LetterSignal, letter(messageID, r)) })
}

// What records the events of a gate sends the report about it, too. A report that Temporal does not
// take then is sent by the plan.
func TestPlan_reportsWithItsEvents(t *testing.T) {
	for name, tt := range map[string]struct {
		lost error // the first report
		want int
	}{"taken": {nil, 1}, "lost": {errors.New("down"), 2}} {
		t.Run(name, func(t *testing.T) {
			env, log := newPlanEnv(t)
			told := 0
			log.outside = func(string, string, any) error {
				if told++; !log.has("task-a-1-0 input-required") {
					t.Error("the objective gets a gate that the journal does not have")
				}
				if told == 1 {
					return tt.lost
				}
				return nil
			}
			at(env, time.Minute, func() {
				test.Is(t, "the gate was reported times", tt.want, told)
			})
			reply(env, time.Hour, "r1", opt.Reply{GateID: taskGate, Action: opt.Accept})
			env.ExecuteWorkflow(workflows.Plan, planInput(t, asking(t, goOn)))
			result(t, env, log)
		})
	}
}

// A plan with an open gate continues as new. The next run has the same gate and
// takes the decision.
func TestPlan_continuesAsNewAtAGate(t *testing.T) {
	env, log := newPlanEnv(t)
	at(env, time.Hour, func() {
		env.SetContinueAsNewSuggested(true)
		env.SignalWorkflow(workflows.LetterSignal, note("n1"))
	})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, asking(t, goOn)))
	next := continued[workflows.PlanInput](t, env)
	log.wantHas(t, "task-a-1-0 input-required", "obj-a n1 noted")
	if log.numbers[planID] != next.State.N || !next.Going {
		t.Errorf("%d of %d events are recorded", log.numbers[planID], next.State.N)
	}

	env, after := newPlanEnv(t)
	after.numbers = log.numbers
	at(env, time.Minute, func() { env.SignalWorkflow(workflows.LetterSignal, note("n1")) }) // again
	reply(env, time.Hour, "r1", opt.Reply{GateID: taskGate, Action: opt.Accept})
	env.ExecuteWorkflow(workflows.Plan, next)
	result(t, env, after)
	after.want(t, planID,
		"obj-a r1 accepted", "task-a-1-0 working", "task-a-1-0 completed", "plan-a-1 working",
		"task-a-1-1 working", "task-a-1-1 made 1-1-echo", "task-a-1-1 completed", "plan-a-1 completed",
	)
}
