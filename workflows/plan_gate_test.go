package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/testsuite"

	"longhaul/activities/human"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/workflows"
)

// asking returns a plan whose first task is a question to a person.
func asking(t *testing.T, form human.Form) opt.PlanSpec {
	t.Helper()
	ask, err := form.Gate()
	if err != nil {
		t.Fatal(err)
	}
	spec := planOf("", "say after")
	spec.Tasks[0].Ask = ask
	return spec
}

var goOn = human.Form{Approve: "Go on?"}

func reply(env *testsuite.TestWorkflowEnvironment, after time.Duration, messageID string, r opt.Reply) {
	at(env, after, func() { env.SignalWorkflow(workflows.LetterSignal, letter(messageID, r)) })
}

func TestPlan_makesAnswersAnArtifact(t *testing.T) {
	env, log := newPlanEnv(t)
	reply(env, time.Hour, "r1", opt.Reply{GateID: taskGate, Answers: []opt.Answer{{ID: "q1", Answer: []byte(`"blue"`)}}})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, asking(t, human.Form{Questions: []human.QuestionForm{{Question: "What color?"}}})))
	result(t, env, log)
	for _, e := range log.events {
		if e.Kind == opt.ArtifactAdded && e.TaskID == taskID {
			if diff := cmp.Diff(`{"q1":"blue"}`, string(e.Chunk.Artifact.Parts[0].Data)); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			return
		}
	}
	t.Errorf("no answers in\n%v", log.lines)
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
				if told != tt.want {
					t.Errorf("the gate was reported %d times, want %d", told, tt.want)
				}
			})
			reply(env, time.Hour, "r1", opt.Reply{GateID: taskGate, Action: opt.Accept})
			env.ExecuteWorkflow(workflows.Plan, planInput(t, asking(t, goOn)))
			result(t, env, log)
		})
	}
}

func TestPlan_failsByARejection(t *testing.T) {
	env, log := newPlanEnv(t)
	reply(env, time.Hour, "r1", opt.Reply{GateID: taskGate, Action: opt.Reject, Feedback: "Too soon."})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, asking(t, goOn)))
	report := result(t, env, log)
	if report.Status != opt.PlanFailed || report.Reason != "approval_rejected" || report.Failure != "The approval was rejected. Too soon." {
		t.Errorf("the report is %+v", report)
	}
	log.wantHas(t, "task-a-1-1 canceled approval_rejected", "plan-a-1 failed approval_rejected")
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

// A decision begins the next round of a task. No events ride in it: the decision
// is recorded before an activity uses it.
func TestPlan_runsTheNextRound(t *testing.T) {
	env, log := newPlanEnv(t)
	reply(env, time.Hour, "r1", opt.Reply{GateID: taskGate, Action: opt.Accept})
	runs := spyOnRun(env)
	env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("approve Ship it?; say shipped")))
	result(t, env, log)
	if got := runs(); len(got) != 2 || got[1].Work.Round != 2 || got[1].Work.Attempt != 1 || got[1].Work.Key != taskID+":2" || len(got[1].Work.Replies) != 1 || got[1].Ride != nil {
		t.Errorf("runs: %+v", got)
	}
}

// A plan reports a gate once. It reports a decision only with the end of the
// plan, since the objective already assumes it.
func TestPlan_tellsWhatIsNew(t *testing.T) {
	env, log := newPlanEnv(t)
	var told []string
	log.outside = func(id, signal string, arg any) error {
		report := arg.(machine.Reported).Report
		told = append(told, string(report.Status)+" "+report.Reason)
		if id != objectiveID || signal != workflows.ReportSignal {
			t.Errorf("%s gets %s", id, signal)
		}
		return nil
	}
	reply(env, time.Hour, "r1", opt.Reply{GateID: taskGate, Action: opt.Reject})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, asking(t, goOn)))
	result(t, env, log)
	if diff := cmp.Diff([]string{"blocked input"}, told); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}
