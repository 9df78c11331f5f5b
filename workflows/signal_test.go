package workflows_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/workflows"
)

// rubbish are arguments that no signal has: of other types, without the members that are
// needed, or in an unknown encoding.
var rubbish = []any{
	"a text", 5, true, nil, []string{"x"}, map[string]any{}, map[string]any{"id": 5},
	map[string]any{"planId": planID, "report": map[string]any{"n": 99}}, map[string]any{"planId": planID, "report": map[string]any{"n": 99, "status": "done"}},
	json.RawMessage(`{"n": "1"}`), converter.NewRawValue(&commonpb.Payload{Data: []byte("?"), Metadata: map[string][]byte{"encoding": []byte("unknown")}}),
	converter.NewRawValue(&commonpb.Payload{}),
}

// sendRubbish sends every signal with every kind of rubbish.
func sendRubbish(env *testsuite.TestWorkflowEnvironment, names ...string) {
	for _, name := range names {
		for _, arg := range rubbish {
			env.SignalWorkflow(name, arg)
		}
	}
}

// wantSkipped expects n signals to be counted as skipped, and that Temporal's UI shows it.
func wantSkipped(t *testing.T, env *testsuite.TestWorkflowEnvironment, log *recording, n int) {
	t.Helper()
	if got := log.skipped.Load(); got != int64(n) {
		t.Errorf("%d signals count as skipped, want %d", got, n)
	}
	want := fmt.Sprintf("**%d signals could not be read and were skipped**", n)
	if got := detailsOf(t, env); !strings.Contains(got, want) {
		t.Errorf("details:\n%s\nwant %s", got, want)
	}
}

// A signal that was sent by hand and cannot be read is skipped: an objective takes commands
// after it, and ends.
func TestObjective_skipsSignalsThatItCannotRead(t *testing.T) {
	env, log := newEnv(t)
	at(env, time.Minute, func() {
		sendRubbish(env, workflows.LetterSignal, workflows.CommandSignal, workflows.ReportSignal, workflows.TurnSignal, workflows.LostSignal, workflows.CancelSignal)
		env.SignalWorkflow(workflows.CommandSignal, opt.Command{ID: "c0", ObjectiveID: objectiveID, Kind: opt.CreatePlan})
	})
	at(env, 2*time.Minute, func() { wantSkipped(t, env, log, 6*len(rubbish)+1-2) }) // two name a plan, as the last signal does
	plan := planOf("say one")
	command(env, time.Hour, "c1", opt.Command{Kind: opt.CreatePlan, Plan: &plan})
	command(env, time.Hour, "c2", statusCommand(opt.ObjectiveWorking))
	run(env, unplanned())
	finished(t, env)
	log.wantHas(t, "answered c1", "answered c2", "obj-a completed")
}

// So does a plan, which then takes an answer with a member that this program does not know.
func TestPlan_skipsSignalsThatItCannotRead(t *testing.T) {
	env, log := newPlanEnv(t)
	at(env, time.Minute, func() {
		sendRubbish(env, workflows.LetterSignal, workflows.CallbackSignal, workflows.DirectiveSignal)
		env.SignalWorkflow(workflows.LetterSignal, newer{letter("r1", opt.Reply{GateID: opt.GateID(taskID, 1), Action: opt.Accept}), "unknown"})
	})
	at(env, time.Minute+time.Second, func() { wantSkipped(t, env, log, 3*len(rubbish)) })
	env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("approve Go on?")))
	test.Is(t, "the plan is", opt.PlanCompleted, result(t, env, log).Status)
}

// newer is a letter with a member that this program does not know.
type newer struct {
	opt.Letter
	Added string `json:"added"`
}

// A plan whose report Temporal refuses, for a reason other than that its objective is not
// there, reports again.
func TestPlan_reportsAgainAfterARefusal(t *testing.T) {
	env, log := newPlanEnv(t)
	refusals := 3
	log.outside = func(string, string, any) error {
		if refusals--; refusals >= 0 {
			return errors.New("unable to signal external workflow for unknown cause: SignalCountLimitExceeded")
		}
		return nil
	}
	reply(env, time.Hour, "r1", opt.Reply{GateID: taskGate, Action: opt.Accept})
	in := planInput(t, planOf("approve Go on?"))
	in.State.First.Directive.ReportEnd = true
	env.ExecuteWorkflow(workflows.Plan, in)
	finished(t, env)
	if refusals >= 0 {
		t.Error("it reported less often than it was refused")
	}
	log.wantHas(t, "plan-a-1 blocked input", "plan-a-1 completed")
}

// So are the signals of objectives and contexts sent again: directives to plans, requests for a
// turn, and turns. Answers to letters are events, and those to commands are in reports.
func TestSignals_sentAgainAfterARefusal(t *testing.T) {
	for signal, play := range map[string]func(t *testing.T, refuse func(log *recording)){
		workflows.DirectiveSignal: func(t *testing.T, refuse func(*recording)) {
			env, log, next := handedOver(t, opening("say never"))
			log.outside = func(id, _ string, arg any) error {
				if arg.(machine.Directed).Directive.Stop != "" {
					env.SignalWorkflow(workflows.ReportSignal, machine.Reported{PlanID: id, Report: opt.Report{
						N: 1, Directive: arg.(machine.Directed).Directive.N, Status: opt.PlanFailed, Reason: "canceled", Started: true,
					}})
				}
				return nil
			}
			refuse(log)
			at(env, time.Hour, cancelBy(env, "ann"))
			env.ExecuteWorkflow(workflows.Objective, next)
			log.wantHas(t, "objective-stopping canceled", "objective canceled")
		},
		workflows.RequestSignal: func(t *testing.T, refuse func(*recording)) {
			env, log := newEnv(t)
			log.outside = func(_, _ string, arg any) error {
				if r := arg.(machine.TurnRequest); r.Want == machine.WantTurn {
					env.SignalWorkflow(workflows.TurnSignal, machine.Turn{Attempt: 1, N: 2, Request: r.N, Held: true, Tenant: "t"})
				}
				return nil
			}
			refuse(log)
			at(env, day, func() { env.SignalWorkflow(workflows.TurnSignal, machine.Turn{Attempt: 1, N: 1, Tenant: "t"}) })
			at(env, 2*day, func() { env.SignalWorkflow(workflows.LetterSignal, note("m5")) })
			env.ExecuteWorkflow(workflows.Objective, idle())
			finished(t, env)
		},
		workflows.TurnSignal: func(t *testing.T, refuse func(*recording)) {
			env, log := newEnv(t)
			log.outside = func(id, _ string, _ any) error {
				env.SignalWorkflow(workflows.RequestSignal, machine.TurnRequest{ObjectiveID: id, Attempt: 1, N: 1, Want: machine.WantLeave})
				return nil
			}
			refuse(log)
			at(env, 0, func() { env.SignalWorkflow(workflows.EnterSignal, machine.Enter{ObjectiveID: "b", Attempt: 1}) })
			env.ExecuteWorkflow(workflows.Context, aContext)
			finished(t, env)
		},
	} {
		t.Run(signal, func(t *testing.T) {
			refusals := 3
			play(t, func(log *recording) {
				taken := log.outside
				log.outside = func(id, name string, arg any) error {
					if refusals--; refusals >= 0 {
						return errors.New("unable to signal external workflow for unknown cause: SignalCountLimitExceeded")
					}
					return taken(id, name, arg)
				}
			})
			if refusals >= 0 {
				t.Errorf("it was sent %d times", 3-refusals)
			}
		})
	}
}

// A context skips signals that it cannot read, and then gives turns.
func TestContext_skipsSignalsThatItCannotRead(t *testing.T) {
	f := newFloor(t)
	f.there("a", "b")
	at(f.TestWorkflowEnvironment, 0, func() { f.enter("b", "a") })
	at(f.TestWorkflowEnvironment, time.Minute, func() { sendRubbish(f.TestWorkflowEnvironment, workflows.EnterSignal, workflows.RequestSignal) })
	at(f.TestWorkflowEnvironment, 2*time.Minute, func() { f.request("a", machine.WantLeave) })
	at(f.TestWorkflowEnvironment, 3*time.Minute, func() { f.request("b", machine.WantLeave) })
	f.ExecuteWorkflow(workflows.Context, aContext)
	f.want(t, "a true", "b true")
}

// A run keeps the version of the rules that its input names, and a worker leaves a run with
// later rules alone.
func TestObjective_rulesOfTheInput(t *testing.T) {
	for rules, runs := range map[int]bool{0: true, machine.Rules: true, machine.Rules + 1: false} {
		env, _ := newEnv(t)
		env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: new(opening("say one")), Rules: rules})
		if got := env.IsWorkflowCompleted() && env.GetWorkflowError() == nil; got != runs {
			t.Errorf("rules %d: completed %v, %v", rules, got, env.GetWorkflowError())
		}
	}
}
