package workflows_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/workflows"
)

// An answer is what came of an update.
type answer struct {
	refused error // by its validator
	failed  error
	value   any
	done    bool
}

func (a *answer) Accept()          {}
func (a *answer) Reject(err error) { a.refused, a.done = err, true }
func (a *answer) Complete(value any, err error) {
	a.value, a.failed, a.done = value, err, true
}

// update asks a workflow for a change when the objective is so old.
func update(t *testing.T, env *testsuite.TestWorkflowEnvironment, after time.Duration, workflowID, name string, arg any) *answer {
	t.Helper()
	a := &answer{}
	env.RegisterDelayedCallback(func() {
		if err := env.UpdateWorkflowByID(workflowID, name, fmt.Sprintf("%p", a), a, arg); err != nil {
			t.Errorf("%s of %s: %v", name, workflowID, err)
		}
	}, after)
	return a
}

// wantDone checks that updates were made.
func wantDone(t *testing.T, answers ...*answer) {
	t.Helper()
	for i, a := range answers {
		if err := errors.Join(a.refused, a.failed); !a.done || err != nil {
			t.Errorf("update %d: done %v, %v", i, a.done, err)
		}
	}
}

// wantMoveRefused checks that an update was refused since no such move is allowed.
func wantMoveRefused(t *testing.T, a *answer) {
	t.Helper()
	var app *temporal.ApplicationError
	if !errors.As(a.refused, &app) || app.Type() != "Move" {
		t.Errorf("done %v, refused with %v", a.done, a.refused)
	}
}

// at has f look at what is recorded when the objective is so old.
func at(env *testsuite.TestWorkflowEnvironment, after time.Duration, f func()) {
	env.RegisterDelayedCallback(f, after)
}

// unplanned returns the request for an objective that waits for plans and a start.
func unplanned() opt.Opening {
	o := opening()
	o.Idle, o.Message = true, nil
	return o
}

func planOf(scripts ...string) opt.PlanSpec {
	spec := opt.PlanSpec{Name: "Plan"}
	for i, script := range scripts {
		spec.Tasks = append(spec.Tasks, opt.TaskSpec{Name: fmt.Sprintf("Task %d", i+1), Description: script})
	}
	return spec
}

// moveTask asks for a task of the n-th plan to be moved by hand.
func moveTask(t *testing.T, env *testsuite.TestWorkflowEnvironment, after time.Duration, n, m int, to opt.TaskState) *answer {
	t.Helper()
	plan := opt.PlanID(objectiveID, n)
	return update(t, env, after, plan, workflows.MoveTaskUpdate, workflows.MoveTask{TaskID: opt.TaskID(plan, m), State: to})
}

// Metadata that a client empties is empty after its way to the workflow and to the
// journal.
func TestUpdate_emptiesMetadata(t *testing.T) {
	env, log := newEnv(t)
	o := unplanned()
	o.Objective.Metadata = o.Objective.Metadata.With("team", "x")
	answers := []*answer{
		update(t, env, time.Hour, objectiveID, workflows.ChangeObjectiveUpdate, workflows.ChangeObjective{Change: &opt.Change{Metadata: a2a.Metadata{}}}),
		moveObjective(t, env, 2*time.Hour, opt.ObjectiveCanceled),
	}
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: o})
	wantDone(t, answers...)
	for _, e := range log.events {
		if e.Kind == opt.ObjectiveChanged && e.Change != nil {
			if e.Change.Metadata == nil || len(e.Change.Metadata) != 0 {
				t.Errorf("metadata is %v", e.Change.Metadata)
			}
			return
		}
	}
	t.Errorf("nothing was changed:\n%v", log.lines)
}

// Of two clients that have seen the same revision one gets the next.
func TestObjective_aRevisionIsClaimedOnce(t *testing.T) {
	env, log := newEnv(t)
	claim := func(seen int64) *answer {
		return update(t, env, 2*time.Hour, objectiveID, workflows.ClaimUpdate, workflows.Claim{Seen: seen})
	}

	added := update(t, env, time.Hour, objectiveID, workflows.AddPlanUpdate, workflows.AddPlan{Spec: planOf("say one")})
	first, second, third := claim(2), claim(2), claim(3)
	linked := linkTask(t, env, 3*time.Hour, 0)
	moved := moveTask(t, env, 4*time.Hour, 1, 0, opt.TaskCompleted)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: unplanned()})
	finished(t, env)
	wantDone(t, added, first, third, linked, moved)
	var app *temporal.ApplicationError
	if !errors.As(second.refused, &app) || app.Type() != "Stale" {
		t.Errorf("the second claim: done %v, refused with %v", second.done, second.refused)
	}
	var revisions []int64
	for _, e := range log.events {
		if e.Kind == opt.ObjectiveChanged {
			revisions = append(revisions, e.Revision)
		}
	}
	if diff := cmp.Diff([]int64{2, 3, 4, 5}, revisions); diff != "" { // the plan, two claims and the link; not the move
		t.Errorf("revisions mismatch (-want +got):\n%s", diff)
	}
}
