package crash_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"longhaul/client"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/child"
	"longhaul/opt"
	"longhaul/opt/timetable"
)

// begunAgain fails, and its second attempt completes.
func (w *world) begunAgain(ctx context.Context, n int) error {
	plan := harness.NewPlan("again", "approve Go on?; "+say(n))
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "again", Plan: plan}, expected{state: "FAILED"})
	if err != nil {
		return err
	}
	if err := w.answer(ctx, f, planTask(f.TaskID, 1, 0), 1, decide("reject")); err != nil {
		return err
	}
	if _, err := f.Wait(ctx); err != nil {
		return err
	}
	for _, status := range []opt.ObjectiveStatus{opt.ObjectiveSubmitted, opt.ObjectiveWorking} {
		change := client.ObjectiveChange{Key: fmt.Sprint(id(n), status), Status: status}
		if _, err := w.program().UpdateObjective(ctx, f.TaskID, change); err != nil {
			return fmt.Errorf("begin %s again: %w", f.TaskID, err)
		}
	}
	w.mu.Lock()
	w.again++
	w.mu.Unlock()
	second := w.follow(opt.RootID(f.TaskID, 2), 0)
	var gate *harness.Gate
	_, err = second.Until(ctx, func(e harness.Event) bool {
		if gate = e.Gate(); gate == nil && e.Task() != nil {
			gate = e.Task().Gate
		}
		return gate != nil
	})
	if err != nil {
		return err
	}
	if _, err := w.c.SendUntil(ctx, harness.Reply("again-"+id(n), gate.TaskID, gate.ID, "accept")); err != nil {
		return fmt.Errorf("answer gate %s: %w", gate.ID, err)
	}
	_, err = second.UntilState(ctx, "COMPLETED")
	return err
}

// program is a client of ours, which repeats calls by itself.
func (w *world) program() *client.Client {
	return client.New(client.Config{URL: w.c.URL, Patience: 2 * within})
}

// every is the interval of the schedule.
const every = 5 * time.Second

// ticking has a schedule start objectives until the faults are over. It has started one for each of
// its times, and no two. What it starts while it is paused is found by world.objectives.
func (w *world) ticking(ctx context.Context) error {
	c := w.program()
	if _, err := c.CreateSchedule(ctx, "tick", client.ScheduleChange{Text: "say tick", Every: every.String(), Overlap: timetable.OverlapAllow}); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if err := w.await(ctx, 1<<30); err != nil {
		return err
	}
	paused, until := true, time.Now()
	if _, err := c.UpdateSchedule(ctx, "tick", client.ScheduleChange{Paused: &paused}); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	started := map[string]string{} // by time
	if err := child.Until(ctx, time.Second, func() error { return w.ticked(ctx, c, started, until) }); err != nil {
		return fmt.Errorf("wait for its objectives: %w", err)
	}
	for _, objectiveID := range started {
		w.ack(objectiveID, expected{state: "COMPLETED", text: "tick"})
	}
	return nil
}

// ticked notes the objectives that the schedule has started, and returns nil when it has started those
// of all times until one, and all have completed.
func (w *world) ticked(ctx context.Context, c *client.Client, started map[string]string, until time.Time) error {
	page, err := c.ListObjectives(ctx, client.ObjectiveOptions{PageSize: 100, Text: "say tick"})
	if err != nil {
		return err
	}
	for _, o := range page.Items {
		at, _ := o.Metadata.String(opt.KeyScheduledFor)
		if before := started[at]; before != "" && before != o.ID {
			w.t.Errorf("the time %s has two objectives: %s and %s", at, before, o.ID)
		}
		if started[at] = o.ID; o.Status != opt.ObjectiveCompleted {
			err = fmt.Errorf("%s is %s", o.ID, o.Status)
		}
	}
	var before time.Time
	for _, text := range append(slices.Sorted(maps.Keys(started)), until.UTC().Format(time.RFC3339)) {
		at, failed := time.Parse(time.RFC3339, text)
		if failed != nil || !before.IsZero() && at.Sub(before) > every {
			err = errors.Join(fmt.Errorf("%s follows %v", text, before), failed)
		}
		before = at
	}
	return err
}
