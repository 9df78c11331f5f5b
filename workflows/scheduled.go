package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/activities"
	"longhaul/opt/timetable"
)

var scheduleActs *activities.Schedules

// ScheduledInput is one time of a schedule.
type ScheduledInput struct {
	Schedule    timetable.Schedule `json:"schedule"`
	At          string             `json:"at,omitempty"`          // the time; "" for that in the id of the workflow
	ObjectiveID string             `json:"objectiveId,omitempty"` // that was started, in the runs after the first
}

// ScheduledResult names the objective that a Scheduled workflow has started.
type ScheduledResult struct {
	ObjectiveID string `json:"objectiveId"`
}

// Scheduled starts the objective for one time of a schedule. It lasts until the
// objective has ended, so that Temporal's policies for overlapping workflows are
// policies for objectives; those of a trigger or a backfill, too, when the schedule
// itself allows overlaps. If it is canceled, it cancels the objective.
func Scheduled(ctx workflow.Context, in ScheduledInput) (ScheduledResult, error) {
	if in.At == "" {
		in.At = runTime(workflow.GetInfo(ctx).WorkflowExecution.ID, in.Schedule)
	}
	run := timetable.ScheduledRun{Schedule: in.Schedule, At: in.At}
	if in.ObjectiveID == "" {
		late, err := lateness(ctx, in.Schedule)
		if err != nil {
			return ScheduledResult{}, err
		}
		// A cancellation waits until the id of the objective is known.
		starting, _ := workflow.NewDisconnectedContext(ctx)
		starting = workflow.WithActivityOptions(starting, scheduleOptions("Start the objective", late))
		if err := workflow.ExecuteActivity(starting, scheduleActs.BeginObjective, run).Get(starting, &in.ObjectiveID); err != nil {
			return ScheduledResult{}, err
		}
	}
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("Started `%s` for %s of the schedule `%s`.", in.ObjectiveID, in.At, oneLine(in.Schedule.ID)))
	if in.Schedule.Overlap == timetable.OverlapAllow && workflow.GetVersion(ctx, "await-allowed", workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return ScheduledResult{in.ObjectiveID}, nil
	}
	return awaitObjective(ctx, in, run)
}

// lateness returns how late the objective may still start.
func lateness(ctx workflow.Context, s timetable.Schedule) (time.Duration, error) {
	left := time.Duration(s.CatchUp)*time.Second - workflow.Now(ctx).Sub(workflow.GetInfo(ctx).WorkflowStartTime)
	if left <= 0 {
		return 0, temporal.NewNonRetryableApplicationError("No worker ran in time, so this time of the schedule is left out.", "TooLate", nil)
	}
	return left, nil
}

// allowedHeartbeat is the heartbeat timeout of waits of which a schedule may have any number at a
// time, and none of which holds up its next time.
const allowedHeartbeat = 5 * time.Minute

// awaitObjective waits until the objective of a run has ended.
func awaitObjective(ctx workflow.Context, in ScheduledInput, run timetable.ScheduledRun) (ScheduledResult, error) {
	options := scheduleOptions("Wait for the end of the objective", 0)
	options.StartToCloseTimeout = activities.AwaitFor + 10*time.Minute
	if in.Schedule.Overlap == timetable.OverlapAllow {
		options.HeartbeatTimeout = allowedHeartbeat
	}
	open := activities.OpenObjective{Tenant: in.Schedule.Tenant, ObjectiveID: in.ObjectiveID, Beside: in.Schedule.Overlap == timetable.OverlapAllow}
	waiting := ctx
	for ended := false; !ended; {
		waits := workflow.WithActivityOptions(waiting, options)
		err := workflow.ExecuteActivity(waits, scheduleActs.AwaitObjective, open).Get(waits, &ended)
		switch {
		case temporal.IsCanceledError(err) && waiting == ctx:
			waiting, _ = workflow.NewDisconnectedContext(ctx)
			cancels := workflow.WithActivityOptions(waiting, scheduleOptions("Cancel the objective", 0))
			if err := workflow.ExecuteActivity(cancels, scheduleActs.CancelObjective, run).Get(cancels, nil); err != nil {
				return ScheduledResult{}, err
			}
		case err != nil:
			return ScheduledResult{}, err
		case !ended && waiting == ctx && workflow.GetInfo(ctx).GetContinueAsNewSuggested():
			return ScheduledResult{}, workflow.NewContinueAsNewError(ctx, Scheduled, in)
		}
	}
	if waiting != ctx {
		return ScheduledResult{}, ctx.Err()
	}
	return ScheduledResult{in.ObjectiveID}, nil
}

// scheduleOptions are the options of an activity of schedules, which Temporal repeats
// until it succeeds or is refused, for a time or without limit.
func scheduleOptions(summary string, most time.Duration) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue:              ScheduleQueue,
		ScheduleToCloseTimeout: most,
		StartToCloseTimeout:    time.Minute,
		HeartbeatTimeout:       heartbeatTimeout,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second},
		Summary:                summary,
	}
}

// runTime returns the time for which a workflow was started by a schedule. Temporal
// writes it at the end of the id.
func runTime(workflowID string, s timetable.Schedule) string {
	return strings.TrimPrefix(workflowID, scheduleID(s.Tenant, s.ID)+"-")
}
