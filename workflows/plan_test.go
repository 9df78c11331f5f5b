package workflows_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/testsuite"

	"longhaul/a2a"
	"longhaul/activities/human"
	"longhaul/opt"
	"longhaul/workflows"
)

// planWith returns the input of a started plan of one human task.
func planWith(t *testing.T, form human.Form) workflows.PlanInput {
	t.Helper()
	ask, err := form.Gate()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := opt.NewPlan(objectiveID, 1, opt.PlanSpec{Name: "P", Tasks: []opt.TaskSpec{{Name: "Person", Ask: ask}, {Name: "After", Description: "say after"}}}, nil, nil, a2a.At(began))
	if err != nil {
		t.Fatal(err)
	}
	return workflows.PlanInput{Plan: *plan, RootID: objectiveID, ContextID: objectiveID, Leaf: true, Order: &workflows.Order{Do: "start"}}
}

func newPlanEnv(t *testing.T) (*testsuite.TestWorkflowEnvironment, *recording) {
	t.Helper()
	env, log := newEnv(t)
	env.SetStartWorkflowOptions(startOptions(planID))
	env.OnSignalExternalWorkflow(anyArg, anyArg, anyArg, anyArg, anyArg).Return(nil).Maybe()
	return env, log
}

func reply(env *testsuite.TestWorkflowEnvironment, after time.Duration, messageID string, r opt.Reply) {
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflow(workflows.LetterSignal, letter(messageID, r))
	}, after)
}

const personGate = "task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-0:1"

func TestPlan_firstValidReplyWins(t *testing.T) {
	env, log := newPlanEnv(t)
	reply(env, time.Hour, "r1", opt.Reply{GateID: personGate, Action: opt.Refine})
	reply(env, 2*time.Hour, "r2", opt.Reply{GateID: personGate, Action: opt.Accept})
	reply(env, 2*time.Hour, "r3", opt.Reply{GateID: personGate, Action: opt.Reject})
	reply(env, 2*time.Hour, "r2", opt.Reply{GateID: personGate, Action: opt.Reject})
	env.ExecuteWorkflow(workflows.Plan, planWith(t, human.Form{Approve: "Go on?"}))
	finished(t, env)
	log.want(t, planID,
		"plan-a-1 working", "task-a-1-0 working", "task-a-1-0 input-required", "plan-a-1 blocked input",
		"obj-a r1 not-offered", "obj-a r2 accepted", "task-a-1-0 working", "task-a-1-0 completed",
		"plan-a-1 working", "task-a-1-1 working", "obj-a r3 not-waiting", "task-a-1-1 made 1-1-echo", "task-a-1-1 completed", "plan-a-1 completed",
	)
}

func TestPlan_answersBecomeAnArtifact(t *testing.T) {
	env, log := newPlanEnv(t)
	reply(env, time.Hour, "r1", opt.Reply{GateID: personGate, Answers: []opt.Answer{{ID: "q1", Answer: []byte(`"blue"`)}}})
	env.ExecuteWorkflow(workflows.Plan, planWith(t, human.Form{Questions: []human.QuestionForm{{Question: "What colour?"}}}))
	finished(t, env)
	for _, e := range log.events {
		if e.Kind == opt.ArtifactAdded && e.TaskID == opt.TaskID(planID, 0) {
			if diff := cmp.Diff(`{"q1":"blue"}`, string(e.Chunk.Artifact.Parts[0].Data)); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			return
		}
	}
	t.Errorf("no answers in\n%v", log.lines)
}

func TestPlan_rejectionFails(t *testing.T) {
	env, log := newPlanEnv(t)
	reply(env, time.Hour, "r1", opt.Reply{GateID: personGate, Action: opt.Reject, Feedback: "Too soon."})
	env.ExecuteWorkflow(workflows.Plan, planWith(t, human.Form{Approve: "Go on?"}))
	finished(t, env)
	var report opt.Report
	if err := env.GetWorkflowResult(&report); err != nil {
		t.Fatal(err)
	}
	if report.Status != opt.PlanFailed || report.Reason != "approval_rejected" || report.Failure != "The approval was rejected. Too soon." {
		t.Errorf("the report is %+v", report)
	}
	if !log.has("task-a-1-1 canceled approval_rejected") {
		t.Errorf("the task after it was not canceled:\n%v", log.lines)
	}
}

// A plan with an open gate continues as new, and the reply that comes to the
// next run finds the same gate.
func TestPlan_continuesAsNewAtAGate(t *testing.T) {
	env, log := newPlanEnv(t)
	in := planWith(t, human.Form{Approve: "Go on?"})
	env.RegisterDelayedCallback(func() {
		env.SetContinueAsNewSuggested(true)
		env.SignalWorkflow(workflows.LetterSignal, opt.Letter{ObjectiveID: objectiveID, PlanID: planID, TaskID: objectiveID, Message: message("n1", "by the way"), Principal: "p"})
	}, time.Hour)
	env.ExecuteWorkflow(workflows.Plan, in)
	next := continued[workflows.PlanInput](t, env)
	before := log.lines

	env, log = newPlanEnv(t)
	log.numbers[planID] = next.State.Recorded
	reply(env, time.Hour, "r1", opt.Reply{GateID: personGate, Action: opt.Accept})
	env.ExecuteWorkflow(workflows.Plan, next)
	finished(t, env)
	if len(before) == 0 || log.lines[len(log.lines)-1] != "plan-a-1 completed" {
		t.Errorf("before:\n%v\nafter:\n%v", before, log.lines)
	}
}

// What a client moves by hand has no activity whose end could be waited for.
func TestPlan_stopsWhatIsMovedByHand(t *testing.T) {
	env, log := newPlanEnv(t)
	in := planWith(t, human.Form{Approve: "Go on?"})
	env.RegisterDelayedCallback(func() {
		env.UpdateWorkflow(workflows.MoveTaskUpdate, "by-hand", refusals{t}, workflows.MoveTask{TaskID: opt.TaskID(planID, 0), State: opt.TaskWorking})
	}, time.Hour)
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflow(workflows.OrderSignal, workflows.Order{Do: "stop", Reason: "canceled"})
	}, 2*time.Hour)
	env.ExecuteWorkflow(workflows.Plan, in)
	finished(t, env)
	log.want(t, planID,
		"plan-a-1 working", "task-a-1-0 working", "task-a-1-0 input-required", "plan-a-1 blocked input", "task-a-1-0 working by-hand", "plan-a-1 working",
		"plan-stopping plan-a-1 canceled", "task-a-1-1 canceled canceled", "task-a-1-0 canceled canceled", "plan-a-1 failed canceled",
	)
}

// refusals fail the test.
type refusals struct{ t *testing.T }

func (refusals) Accept()            {}
func (r refusals) Reject(err error) { r.t.Errorf("refused: %v", err) }
func (r refusals) Complete(_ any, err error) {
	if err != nil {
		r.t.Errorf("failed: %v", err)
	}
}

// What an objective takes as done its plan need not tell, unless the objective has
// yet to hear of something before.
func TestPlan_tellsWhatItIsTakenFor(t *testing.T) {
	for name, tt := range map[string]struct {
		order   workflows.Order
		renamed bool // by a client, after the pause
		want    []string
	}{
		"resumed":                  {workflows.Order{Do: "resume", Taken: true, Heard: 0}, false, nil},
		"by older code":            {workflows.Order{Do: "resume"}, false, []string{"working"}},
		"with a report on the way": {workflows.Order{Do: "resume", Taken: true, Heard: 0}, true, []string{"blocked", "working"}},
	} {
		t.Run(name, func(t *testing.T) {
			env, _ := newEnv(t)
			env.SetStartWorkflowOptions(startOptions(planID))
			var got []string
			env.OnSignalExternalWorkflow(anyArg, anyArg, anyArg, anyArg, anyArg).Return(
				func(_, _, _, _ string, arg any) error {
					got = append(got, string(arg.(workflows.PlanReport).Report.Status))
					return nil
				})
			in := planWith(t, human.Form{Approve: "Go on?"})
			in.Plan.Tasks[0].Ask, in.Plan.Tasks[0].Link = nil, "elsewhere"
			at(env, time.Hour, func() {
				env.SignalWorkflow(workflows.OrderSignal, workflows.Order{Do: "pause", Taken: true})
			})
			if name := "New"; tt.renamed {
				update(t, env, 2*time.Hour, planID, workflows.ChangePlanUpdate, workflows.ChangePlan{Change: &opt.Change{Name: &name}})
			}
			at(env, 3*time.Hour, func() { env.SignalWorkflow(workflows.OrderSignal, tt.order) })
			moveTask(t, env, 4*time.Hour, 1, 0, opt.TaskCompleted)
			env.ExecuteWorkflow(workflows.Plan, in)
			finished(t, env)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("reports mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// A plan that is told to stop and to start is not begun.
func TestPlan_stopsBeforeItStarts(t *testing.T) {
	env, log := newPlanEnv(t)
	in := planWith(t, human.Form{Approve: "Go on?"})
	in.Order = nil
	at(env, time.Hour, func() {
		env.SignalWorkflowSkippingWorkflowTask(workflows.OrderSignal, workflows.Order{Do: "stop", Reason: "replanned"})
		env.SignalWorkflow(workflows.OrderSignal, workflows.Order{Do: "start"})
	})
	env.ExecuteWorkflow(workflows.Plan, in)
	finished(t, env)
	log.want(t, planID, "plan-stopping plan-a-1 replanned", "task-a-1-0 canceled replanned", "task-a-1-1 canceled replanned", "plan-a-1 skipped replanned")
}
