package workflows_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"

	"longhaul/activities"
	"longhaul/workflows"
)

// Defect: a run whose history was long began nothing until all its activities had ended, so with
// --max-events 100 one task of 30 s held back 11 ready tasks for that long. No task, no timer
// between attempts and no retry is held back by more than a second.
func TestPlan_longTaskHoldsNothingBack(t *testing.T) {
	env, log := newPlanEnv(t)
	spec := planOf("30s", "5s", "5500ms") // how long they run; the last one fails once
	for i := range spec.Tasks {
		spec.Tasks[i].Dependencies = []string{}
	}
	spec.Tasks[2].Attempts, spec.Tasks[2].Retry.Wait = 2, 2
	for i := range 11 {
		next := planOf(fmt.Sprint(i, "s")).Tasks[0]
		next.Dependencies = []string{"task-1"}
		spec.Tasks = append(spec.Tasks, next)
	}
	due := map[string]time.Duration{"task-2, attempt 2": 7500 * time.Millisecond}
	for i := range 11 {
		due[fmt.Sprintf("task-%d, attempt 1", i+3)] = 5 * time.Second
	}
	var mu sync.Mutex
	env.OnActivity("Run", anyArg, anyArg).Return(func(ctx context.Context, in activities.RunInput) (activities.Outcome, error) {
		if err := log.Record(ctx, in.Ride...); err != nil {
			return activities.Outcome{}, err
		}
		mu.Lock()
		defer mu.Unlock()
		name := fmt.Sprintf("task-%s, attempt %d", in.Work.TaskID[len(taskID)-1:], in.Work.Attempt)
		if at, ok := due[name]; ok {
			if late := env.Now().Sub(began) - at; late < 0 || late > time.Second {
				t.Errorf("%s began %v after it was due", name, late)
			}
			delete(due, name)
		}
		takes, err := time.ParseDuration(in.Work.Description)
		if err != nil {
			t.Error(err)
		}
		out := activities.Completed()
		if name == "task-2, attempt 1" {
			err = fmt.Errorf("not yet")
		}
		token := activity.GetInfo(ctx).TaskToken
		at(env, takes, func() { _ = env.CompleteActivity(token, out, err) }) // it is pending
		return activities.Outcome{}, activity.ErrResultPending
	})
	at(env, 4900*time.Millisecond, func() { // it wants to continue as new just before tasks are ready
		env.SetCurrentHistoryLength(150)
		env.SignalWorkflow(workflows.LetterSignal, note("n1"))
	})
	in := planInput(t, spec)
	in.MaxEvents, in.State.Plan.Limits.Parallel = 100, 20
	env.ExecuteWorkflow(workflows.Plan, in)
	if end := env.Now().Sub(began); len(due) > 0 || end < 30*time.Second {
		t.Errorf("these did not begin by %v: %v", end, due)
	}
}
