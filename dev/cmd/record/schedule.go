package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
	"longhaul/worker"
	"longhaul/workflows"
)

// scheduleShapes are the courses of a time of a schedule, by the id of the schedule.
var scheduleShapes = []struct {
	name    string
	overlap opt.Overlap
	cancel  bool
}{
	{"scheduled", opt.OverlapSkip, false},
	{"scheduled-beside", opt.OverlapAllow, false},
	{"scheduled-canceled", opt.OverlapCancel, true},
}

// A testStarter starts no real objectives for schedules. Those to be canceled are open until
// they are.
type testStarter struct {
	activities.TaskReader
	canceled chan struct{}
}

// BeginScheduled implements [activities.Starter].
func (d testStarter) BeginScheduled(_ context.Context, run opt.ScheduledRun) (string, error) {
	return run.Schedule.ObjectiveID(run.At), nil
}

// CancelScheduled implements [activities.Starter].
func (d testStarter) CancelScheduled(context.Context, opt.ScheduledRun) error {
	close(d.canceled)
	return nil
}

// Peek implements [activities.TaskReader].
func (d testStarter) Peek(_ context.Context, tenant, _ string) (opt.TaskState, int64, error) {
	select {
	case <-d.canceled:
		return opt.TaskCanceled, 1, nil
	default:
	}
	if strings.HasSuffix(tenant, "-canceled") {
		return opt.TaskWorking, 1, nil
	}
	return opt.TaskCompleted, 1, nil
}

// C implements [activities.Watch].
func (d testStarter) C() <-chan struct{} { return d.canceled }

// Close implements [activities.Watch].
func (d testStarter) Close() {}

// recordSchedules runs the shapes of schedules that are wanted.
func recordSchedules(ctx context.Context, r *recorder, dir string, names []string) error {
	d := testStarter{canceled: make(chan struct{})}
	w := worker.NewScheduler(worker.ScheduleConfig{Temporal: r.temporal, Activities: activities.ScheduleConfig{
		Starter: d, Tasks: d, Watch: func(string) activities.Watch { return d },
	}})
	if err := w.Start(); err != nil {
		return err
	}
	defer w.Stop()
	for _, sh := range scheduleShapes {
		if !wanted(dir, sh.name, names) {
			continue
		}
		s := opt.Schedule{
			ID: sh.name, Tenant: sh.name, Principal: principal, Text: "say done", Times: opt.Times{Every: 3600}, Overlap: sh.overlap,
			CatchUp: opt.DefaultCatchUp, CreatedAt: a2a.AtMillis(1772357400000),
		}
		id := "longhaul/" + sh.name + "/" + sh.name + "-2026-03-01T10:00:00Z"
		run, err := r.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: workflows.TaskQueue}, workflows.ScheduledWorkflow, workflows.ScheduledInput{Schedule: s})
		if err == nil && sh.cancel {
			err = cancelAwaiting(ctx, r, id)
		}
		if err != nil {
			return fmt.Errorf("shape %s: %w", sh.name, err)
		}
		if err := run.Get(ctx, nil); (err != nil) != sh.cancel {
			return fmt.Errorf("shape %s: %w", sh.name, err)
		}
		if err := r.save(ctx, filepath.Join(dir, sh.name+".0"), id); err != nil {
			return err
		}
		fmt.Println("recorded", sh.name)
	}
	return nil
}

// cancelAwaiting cancels a workflow when it awaits its objective.
func cancelAwaiting(ctx context.Context, r *recorder, id string) error {
	for {
		found, err := r.temporal.DescribeWorkflowExecution(ctx, id, "")
		if err != nil {
			return err
		}
		for _, a := range found.GetPendingActivities() {
			if a.GetActivityType().GetName() == "AwaitObjective" {
				return r.temporal.CancelWorkflow(ctx, id, "")
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
