package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"longhaul/opt"
	"longhaul/workflows"
)

// threePlans has an objective of three plans start after an hour, of which the first
// works until a client ends it after ten. The others depend on what they are told.
func threePlans(t *testing.T, env *testsuite.TestWorkflowEnvironment, second, third []string) []*answer {
	t.Helper()
	p1, p2, p3 := planOf("say never"), planOf("say two"), planOf("say three")
	p2.Dependencies, p3.Dependencies = second, third
	return []*answer{
		update(t, env, time.Minute, objectiveID, workflows.AddPlanUpdate, workflows.AddPlan{Spec: p1}),
		update(t, env, 2*time.Minute, objectiveID, workflows.AddPlanUpdate, workflows.AddPlan{Spec: p2}),
		update(t, env, 3*time.Minute, objectiveID, workflows.AddPlanUpdate, workflows.AddPlan{Spec: p3}),
		linkTask(t, env, 4*time.Minute, 0),
		moveObjective(t, env, time.Hour, opt.ObjectiveWorking),
		moveTask(t, env, 10*time.Hour, 1, 0, opt.TaskCompleted),
	}
}

func reorder(t *testing.T, env *testsuite.TestWorkflowEnvironment, n int, on ...string) *answer {
	t.Helper()
	name := "Renamed"
	change := &opt.Change{Name: &name, Dependencies: append([]string{}, on...)}
	return update(t, env, 2*time.Hour, objectiveID, workflows.ReorderUpdate, workflows.Reorder{PlanID: opt.PlanID(objectiveID, n), Change: change})
}

// Plans that have not begun can be put into another order while one works.
func TestObjective_reorders(t *testing.T) {
	env, log := newEnv(t)
	second, third := opt.PlanID(objectiveID, 2), opt.PlanID(objectiveID, 3)
	answers := append(threePlans(t, env, nil, nil), reorder(t, env, 2, third))
	at(env, 5*time.Hour, func() {
		if !log.has("plan-a-3 completed") || !log.has("plan-a-2 completed") {
			t.Errorf("after the change:\n%v", log.lines)
		}
	})
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: unplanned()})
	finished(t, env)
	wantDone(t, answers...)
	log.want(t, second, "plan-a-2 blocked dependencies", "plan-a-2 working", "task-a-2-0 working", "task-a-2-0 made 2-0-echo", "task-a-2-0 completed", "plan-a-2 completed")
	log.want(t, third, "plan-a-3 working", "task-a-3-0 working", "task-a-3-0 made 3-0-echo", "task-a-3-0 completed", "plan-a-3 completed")
	for _, e := range log.events {
		switch {
		case e.Kind == opt.ArtifactAdded && (e.RootID == objectiveID) != (e.PlanID == second):
			t.Errorf("%s made what the root task shows: %q", e.PlanID, e.RootID)
		case e.Kind == opt.PlanChanged:
			if diff := cmp.Diff([]string{third}, e.Change.Dependencies); diff != "" || e.PlanID != second || *e.Change.Name != "Renamed" {
				t.Errorf("%s is changed by %+v", e.PlanID, e.Change)
			}
		}
	}
}

// A plan that is held no more waits for its turn, or begins.
func TestObjective_reordersWhatIsHeld(t *testing.T) {
	env, log := newEnv(t)
	answers := append(threePlans(t, env, []string{planID}, []string{planID}), reorder(t, env, 2))
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: unplanned()})
	finished(t, env)
	wantDone(t, answers...)
	log.want(t, opt.PlanID(objectiveID, 2), "plan-a-2 blocked dependencies", "plan-a-2 pending", "plan-a-2 working",
		"task-a-2-0 working", "task-a-2-0 made 2-0-echo", "task-a-2-0 completed", "plan-a-2 completed")
	if got := log.sources[opt.PlanID(objectiveID, 3)][:2]; got[0] != "plan-a-3 blocked dependencies" || got[1] != "plan-a-3 working" {
		t.Errorf("the third plan: %v", got)
	}
}

// An order that is asked for before the start holds after it.
func TestObjective_reordersBeforeTheStart(t *testing.T) {
	env, log := newEnv(t)
	answers := append(threePlans(t, env, nil, nil), update(t, env, 30*time.Minute, objectiveID, workflows.ReorderUpdate,
		workflows.Reorder{PlanID: opt.PlanID(objectiveID, 3), Change: &opt.Change{Dependencies: []string{planID}}}))
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: unplanned()})
	finished(t, env)
	wantDone(t, answers...)
	log.want(t, opt.PlanID(objectiveID, 3), "plan-a-3 blocked dependencies", "plan-a-3 working", "task-a-3-0 working", "task-a-3-0 made 3-0-echo", "task-a-3-0 completed", "plan-a-3 completed")
	for _, e := range log.events {
		if e.Kind == opt.ArtifactAdded && (e.RootID == objectiveID) != (e.PlanID != planID) {
			t.Errorf("%s made what the root task shows: %q", e.PlanID, e.RootID)
		}
	}
}

func TestObjective_reordersNothing(t *testing.T) {
	env, log := newEnv(t)
	want := []string{"Move", "Spec", "Spec", "Unknown", "Stale", "Spec"}
	refused := []*answer{
		reorder(t, env, 1, opt.PlanID(objectiveID, 2)),
		reorder(t, env, 2, opt.PlanID(objectiveID, 2)),
		reorder(t, env, 2, opt.PlanID(objectiveID, 8)),
		reorder(t, env, 8),
		update(t, env, 2*time.Hour, objectiveID, workflows.ReorderUpdate, workflows.Reorder{PlanID: opt.PlanID(objectiveID, 2), Change: &opt.Change{Dependencies: []string{}}, Seen: 1}),
	}
	empty := ""
	refused = append(refused, update(t, env, 2*time.Hour, objectiveID, workflows.ReorderUpdate,
		workflows.Reorder{PlanID: opt.PlanID(objectiveID, 2), Change: &opt.Change{Name: &empty, Dependencies: []string{}}}))
	answers := threePlans(t, env, nil, nil)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: unplanned()})
	finished(t, env)
	wantDone(t, answers...)
	for i, a := range refused {
		var app *temporal.ApplicationError
		if !errors.As(a.refused, &app) || app.Type() != want[i] {
			t.Errorf("%d: refused with %v, want %s", i, a.refused, want[i])
		}
	}
	if log.has("plan-changed") {
		t.Error("something was changed")
	}
}

// While the objective is paused a plan only shows how it waits.
func TestObjective_reordersInAPause(t *testing.T) {
	env, log := newEnv(t)
	second := opt.PlanID(objectiveID, 2)
	answers := append(threePlans(t, env, []string{planID}, []string{planID}), moveObjective(t, env, 90*time.Minute, opt.ObjectiveBlocked), reorder(t, env, 2),
		update(t, env, 3*time.Hour, objectiveID, workflows.ReorderUpdate, workflows.Reorder{PlanID: second, Change: &opt.Change{Dependencies: []string{planID}}}),
		moveObjective(t, env, 4*time.Hour, opt.ObjectiveWorking))
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: unplanned()})
	finished(t, env)
	wantDone(t, answers...)
	log.want(t, second, "plan-a-2 blocked dependencies", "plan-a-2 pending", "plan-a-2 blocked dependencies", "plan-a-2 working",
		"task-a-2-0 working", "task-a-2-0 made 2-0-echo", "task-a-2-0 completed", "plan-a-2 completed")
}
