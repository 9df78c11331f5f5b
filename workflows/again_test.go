package workflows_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/workflows"
)

// plan returns a plan as the journal has it.
func (r *recording) plan(t *testing.T, id string) opt.Plan {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var p opt.Plan
	for _, e := range r.events {
		switch {
		case e.PlanID != id:
		case e.Kind == opt.PlanAdded:
			p = *e.Plan
			p.Tasks = nil
			for _, task := range e.Plan.Tasks {
				own := *task
				p.Tasks = append(p.Tasks, &own)
			}
		default:
			if err := p.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	return p
}

// planAgain asks for a new attempt at the first plan.
func planAgain(t *testing.T, env *testsuite.TestWorkflowEnvironment, log *recording, after time.Duration, to opt.PlanStatus) *answer {
	t.Helper()
	a := &answer{}
	at(env, after, func() {
		env.UpdateWorkflow(workflows.AgainPlanUpdate, after.String(), a, workflows.AgainPlan{Plan: log.plan(t, planID), Status: to})
	})
	return a
}

// withOptional has an objective of two plans start: the first, an optional one, has
// a task that is completed and one that a client lets fail after two hours; the
// second waits at a gate for ten.
func withOptional(t *testing.T, env *testsuite.TestWorkflowEnvironment, dependencies ...string) []*answer {
	t.Helper()
	optional := planOf("say kept", "say never")
	optional.Metadata = a2a.Metadata{}.With(opt.KeyOptional, true)
	other := planOf("approve Go on?; say done")
	other.Dependencies = dependencies
	at(env, 10*time.Hour, func() {
		l := letter("r1", opt.Reply{GateID: opt.GateID(opt.TaskID(opt.PlanID(objectiveID, 2), 0), 1), Action: opt.Accept})
		l.PlanID = opt.PlanID(objectiveID, 2)
		_ = env.SignalWorkflowByID(l.PlanID, workflows.LetterSignal, l)
	})
	return []*answer{
		update(t, env, time.Minute, objectiveID, workflows.AddPlanUpdate, workflows.AddPlan{Spec: optional}),
		update(t, env, 2*time.Minute, objectiveID, workflows.AddPlanUpdate, workflows.AddPlan{Spec: other}),
		linkTask(t, env, 3*time.Minute, 1),
		moveObjective(t, env, time.Hour, opt.ObjectiveWorking),
		moveTask(t, env, 2*time.Hour, 1, 1, opt.TaskFailed),
	}
}

const secondRun = planID + "~2"

// A plan that failed, without which the objective goes on, is tried again when its
// turn has come, or at once.
func TestObjective_triesAPlanAgain(t *testing.T) {
	for to, first := range map[opt.PlanStatus]string{opt.PlanPending: "plan-a-2 completed", opt.PlanWorking: "plan-a-1 working"} {
		t.Run(string(to), func(t *testing.T) {
			env, log := newEnv(t)
			answers := append(withOptional(t, env), planAgain(t, env, log, 3*time.Hour, to),
				update(t, env, 12*time.Hour, planID, workflows.MoveTaskUpdate, workflows.MoveTask{TaskID: opt.TaskID(planID, 1), State: opt.TaskCompleted}))
			at(env, 4*time.Hour, func() { // what the first attempt has said comes late
				env.SignalWorkflow(workflows.ReportSignal, workflows.PlanReport{PlanID: planID, Report: opt.Report{N: 99, Status: opt.PlanFailed}, Attempt: 1})
			})
			env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: unplanned()})
			finished(t, env)
			wantDone(t, answers...)
			log.want(t, planID, "task-linked", "plan-a-1 working", "task-a-1-0 working", "task-a-1-0 made 1-0-echo", "task-a-1-0 completed",
				"task-a-1-1 working by-hand", "task-a-1-1 failed by-hand", "plan-a-1 failed by-hand")
			log.want(t, secondRun, "plan-a-1 working", "task-a-1-1~2 working by-hand", "task-a-1-1~2 completed by-hand", "plan-a-1 completed")
			again := slices.Index(log.lines, "plan-again")
			if i := slices.Index(log.lines[again:], first); i < 0 || slices.Index(log.lines[again:], "plan-a-1 working") < i {
				t.Errorf("%q does not come first in\n%v", first, log.lines[again:])
			}
			if end := log.lines[len(log.lines)-2:]; end[1] != "obj-a completed" || slices.Index(log.lines, "plan-a-1 completed") > len(log.lines)-3 {
				t.Errorf("the last events are %q", log.lines)
			}
		})
	}
}

// What cannot be tried again is refused, and what has not left yet is unknown.
func TestObjective_triesNoPlanAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		after time.Duration
		to    opt.PlanStatus
		spoil func(*opt.Plan)
		want  string
	}{
		"before it failed":       {90 * time.Minute, opt.PlanPending, nil, "Unknown"},
		"another":                {3 * time.Hour, opt.PlanPending, func(p *opt.Plan) { p.ID = opt.PlanID(objectiveID, 9) }, "Unknown"},
		"as it was before":       {3 * time.Hour, opt.PlanPending, func(p *opt.Plan) { p.Tasks[1].State = opt.TaskWorking }, "Unknown"},
		"to a status of its own": {3 * time.Hour, opt.PlanBlocked, nil, "Move"},
		"stale":                  {3 * time.Hour, opt.PlanPending, nil, "Stale"},
	} {
		t.Run(name, func(t *testing.T) {
			env, log := newEnv(t)
			answers := withOptional(t, env)
			a := &answer{}
			at(env, tt.after, func() {
				p := log.plan(t, planID)
				if tt.spoil != nil {
					tt.spoil(&p)
				}
				arg := workflows.AgainPlan{Plan: p, Status: tt.to}
				if tt.want == "Stale" {
					arg.Seen = 1
				}
				env.UpdateWorkflow(workflows.AgainPlanUpdate, name, a, arg)
			})
			env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: unplanned()})
			finished(t, env)
			wantDone(t, answers...)
			var app *temporal.ApplicationError
			if !errors.As(a.refused, &app) || app.Type() != tt.want || log.has("plan-again") {
				t.Errorf("refused with %v, want %s", a.refused, tt.want)
			}
		})
	}
}

// A later attempt at the objective comes after the attempts at its plans.
func TestObjective_againAfterAPlanWas(t *testing.T) {
	env, log := newEnv(t)
	o := opening("say kept", "say never").Objective
	o.Status, o.Started, o.Root = opt.ObjectiveCanceled, true, opt.TaskCanceled
	for n, run := range []int{0, 3} {
		p, err := opt.NewPlan(o.ID, n+1, planOf("say one"), nil, nil, o.CreatedAt)
		if err != nil {
			t.Fatal(err)
		}
		p.Status, p.Tasks[0].State, p.Run, p.Tasks[0].Run = opt.PlanFailed, opt.TaskFailed, run, run
		o.Plans = append(o.Plans, p)
	}
	state := &workflows.ObjectiveState{Objective: o, Before: o.Plans}
	state.Objective.Plans = nil
	for _, p := range o.Plans {
		header := *p
		header.Tasks = nil
		state.Objective.Plans = append(state.Objective.Plans, &header)
	}
	started := moveObjective(t, env, time.Hour, opt.ObjectiveWorking)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: opt.Opening{Idle: true}, Again: "submitted", State: state})
	finished(t, env)
	wantDone(t, started)
	var attempts []int
	for _, e := range log.events {
		if e.Kind == opt.PlanAgain {
			attempts = append(attempts, e.Attempt)
		}
	}
	if diff := cmp.Diff([]int{2, 4}, attempts); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	log.want(t, planID+"~2", "plan-a-1 working", "task-a-1-0~2 working", "task-a-1-0~2 made 1-0~2-echo", "task-a-1-0~2 completed", "plan-a-1 completed")
	log.want(t, opt.PlanID(objectiveID, 2)+"~4", "plan-a-2 working", "task-a-2-0~4 working", "task-a-2-0~4 made 2-0~4-echo", "task-a-2-0~4 completed", "plan-a-2 completed")
}
