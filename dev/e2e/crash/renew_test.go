package crash_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
)

// Workflows continue as new after a hundred events of history while processes are
// killed.
func TestCrash_continuesAsNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "--max-events", "100")
	ctx, cancel := context.WithTimeout(t.Context(), 2*within)
	defer cancel()
	p := w.start(harness.AllInOne, "")
	var group sync.WaitGroup
	for n, run := range []func(*world, context.Context, int) error{
		(*world).manyTasks, (*world).manyGates, (*world).manyTasks, (*world).manyGates, (*world).manyNotes, (*world).manyAtATime,
	} {
		group.Go(func() {
			if err := run(w, ctx, n); err != nil {
				t.Errorf("objective %d: %v", n, err)
			}
		})
	}
	for range 3 {
		p.AwaitEnd(2 * time.Second)
		p.Kill()
		p = w.start(harness.AllInOne, "")
	}
	group.Wait()
	all := w.settle()
	for _, kind := range []string{"Objective", "Plan"} {
		if _, _, renewed := w.workflows(kind); renewed == 0 {
			t.Errorf("no %s continued as new", kind)
		} else {
			t.Logf("%d times a %s continued as new", renewed, kind)
		}
	}
	p.Stop()
	w.checkStopped(all)
}

// manyTasks is a long list, with a gate in the middle.
func (w *world) manyTasks(ctx context.Context, n int) error {
	scripts := strings.Split(strings.Repeat("work 10ms,", 40), ",")
	scripts[20], scripts[40] = "approve Go on?", say(n)
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "x", Plan: harness.NewPlan("many", scripts...)}, completes(n))
	if err != nil {
		return err
	}
	return w.answer(ctx, f, planTask(f.TaskID, 1, 20), 1, decide("accept"))
}

// manyGates opens many gates of one task, each of which is reported to the
// objective.
func (w *world) manyGates(ctx context.Context, n int) error {
	const gates = 16
	plan := harness.NewPlan("gates", strings.Repeat("approve Go on?; ", gates)+say(n))
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "x", Plan: plan}, completes(n))
	if err != nil {
		return err
	}
	for i := range gates {
		if err := w.answer(ctx, f, planTask(f.TaskID, 1, 0), i+1, decide("accept")); err != nil {
			return err
		}
	}
	return nil
}

// manyNotes sends messages to a working objective.
func (w *world) manyNotes(ctx context.Context, n int) error {
	plan := harness.NewPlan("talk", "work 3s", "ask What?")
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "x", Plan: plan}, expected{state: "COMPLETED"})
	if err != nil {
		return err
	}
	for i := range 40 {
		m := harness.Message{ID: fmt.Sprintf("note-%d", i), TaskID: f.TaskID, Data: map[string]any{"note": i}}
		if _, err := w.c.SendUntil(ctx, m); harness.Code(err) == -32602 {
			break // a gate has opened, and this scenario does not answer it
		} else if err != nil {
			return err
		}
	}
	return w.answer(ctx, f, planTask(f.TaskID, 1, 1), 1, harness.Message{Text: "this"})
}

// manyAtATime is a plan with several tasks that run at a time.
func (w *world) manyAtATime(ctx context.Context, n int) error {
	scripts := strings.Split(strings.Repeat("work 20ms,", 40), ",")
	scripts[3], scripts[40] = "approve Go on?", say(n)
	plan := harness.NewPlan("at a time", scripts...).Unordered()
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "x", Plan: plan}, completes(n))
	if err != nil {
		return err
	}
	return w.answer(ctx, f, planTask(f.TaskID, 1, 3), 1, decide("accept"))
}
