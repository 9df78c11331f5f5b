package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/child"
	"longhaul/opt"
	"longhaul/opt/timetable"
	"longhaul/worker"
	"longhaul/workflows"
)

// scheduleShapes are the courses of a time of a schedule, by the id of the schedule.
var scheduleShapes = []scheduleShape{
	{"scheduled", timetable.OverlapSkip, false},
	{"scheduled-beside", timetable.OverlapAllow, false}, // its history is of workflows that did not await the end
	{"scheduled-beside-awaited", timetable.OverlapAllow, false},
	{"scheduled-canceled", timetable.OverlapCancel, true},
}

// A scheduleShape is one course of a time of a schedule.
type scheduleShape struct {
	name    string
	overlap timetable.Overlap
	cancel  bool
}

// A testStarter starts no real objectives for schedules. Those to be canceled are open until
// they are.
type testStarter struct {
	activities.TaskReader
	canceled chan struct{}
}

// BeginScheduled implements [activities.Starter].
func (d testStarter) BeginScheduled(_ context.Context, run timetable.ScheduledRun) (string, error) {
	return run.Schedule.ObjectiveID(run.At), nil
}

// CancelScheduled implements [activities.Starter].
func (d testStarter) CancelScheduled(context.Context, timetable.ScheduledRun) error {
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

// newScheduler returns a worker for schedules.
func newScheduler(temporal client.Client) sdk.Worker {
	d := testStarter{canceled: make(chan struct{})}
	return worker.NewScheduler(worker.ScheduleConfig{Temporal: temporal, Activities: activities.ScheduleConfig{
		Starter: d, Tasks: d, Watch: func(string) activities.Watch { return d },
	}})
}

func (s scheduleShape) run(ctx context.Context, r *recorder) ([]string, error) {
	schedule := timetable.Schedule{
		ID: s.name, Tenant: s.name, Principal: principal, Text: "say done", Times: timetable.Times{Every: 3600}, Overlap: s.overlap,
		CatchUp: timetable.DefaultCatchUp, CreatedAt: a2a.AtMillis(1772357400000),
	}
	id := "longhaul/" + s.name + "/" + s.name + "-2026-03-01T10:00:00Z"
	run, err := r.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: workflows.TaskQueue}, workflows.ScheduledWorkflow, workflows.ScheduledInput{Schedule: schedule})
	if err == nil && s.cancel {
		err = cancelAwaiting(ctx, r, id)
	}
	if err != nil {
		return nil, err
	}
	if err := run.Get(ctx, nil); (err != nil) != s.cancel {
		return nil, fmt.Errorf("it ended with: %w", err)
	}
	return []string{id}, nil
}

// cancelAwaiting cancels a workflow when it awaits its objective.
func cancelAwaiting(ctx context.Context, r *recorder, id string) error {
	err := child.Until(ctx, 20*time.Millisecond, func() error {
		found, err := r.temporal.DescribeWorkflowExecution(ctx, id, "")
		for _, a := range found.GetPendingActivities() {
			if a.GetActivityType().GetName() == "AwaitObjective" {
				return nil
			}
		}
		return errors.Join(errors.New("it does not await its objective"), err)
	})
	if err != nil {
		return err
	}
	return r.temporal.CancelWorkflow(ctx, id, "")
}
