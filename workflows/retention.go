package workflows

import (
	"context"
	"errors"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"longhaul/opt"
)

// Retain makes the schedule that runs Purge, or changes the existing schedule if
// it differs, so that the journal keeps ended objectives for ttl. A paused
// schedule stays paused. With a ttl of 0 the schedule is removed. Many workers
// may call Retain at the same time. cipher is c's: after a change of its keys the
// schedule is encrypted again, so that Examine finds processes without the new key.
func Retain(ctx context.Context, c client.Client, ttl time.Duration, cipher Cipher) error {
	if ttl == 0 {
		return endPurges(ctx, c)
	}
	want := purgeSchedule(ttl)
	_, err := c.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: PurgeSchedule, Spec: *want.Spec, Action: want.Action, Overlap: want.Policy.Overlap, CatchupWindow: want.Policy.CatchupWindow, Note: want.State.Note,
	})
	if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		err = c.ScheduleClient().GetHandle(ctx, PurgeSchedule).Update(ctx, client.ScheduleUpdateOptions{
			DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
				return changed(in.Description.Schedule, want, cipher)
			},
		})
	}
	if err != nil {
		return fmt.Errorf("make schedule %s: %w", PurgeSchedule, err)
	}
	return nil
}

func endPurges(ctx context.Context, c client.Client) error {
	err := c.ScheduleClient().GetHandle(ctx, PurgeSchedule).Delete(ctx)
	var none *serviceerror.NotFound
	if err != nil && !errors.As(err, &none) {
		return fmt.Errorf("delete schedule %s: %w", PurgeSchedule, err)
	}
	return nil
}

// purgeSchedule returns the schedule for a TTL: every hour, or as often as the TTL
// is long.
func purgeSchedule(ttl time.Duration) client.Schedule {
	every := max(time.Minute, min(time.Hour, ttl))
	return client.Schedule{
		Spec: &client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: every}}, Jitter: every / 6},
		Action: &client.ScheduleWorkflowAction{
			ID: PurgeSchedule, Workflow: PurgeWorkflow, TaskQueue: TaskQueue, WorkflowTaskTimeout: workflowTaskTimeout,
			Args:          []any{PurgeInput{TTL: int64(ttl / time.Second)}},
			StaticSummary: fmt.Sprintf("Remove what ended more than %s ago", opt.Span(ttl)),
		},
		Policy: &client.SchedulePolicies{Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: every},
		State: &client.ScheduleState{
			Note: fmt.Sprintf("Removes from Longhaul's journal what ended more than %s ago. Workers make this schedule from their setting --ttl when they start.", opt.Span(ttl)),
		},
	}
}

// changed returns an update of have to want, or temporal.ErrSkipScheduleUpdate if
// they are the same.
func changed(have, want client.Schedule, cipher Cipher) (*client.ScheduleUpdate, error) {
	if have.State.Paused {
		want.State = have.State
	}
	if same(have, want, cipher) {
		return nil, temporal.ErrSkipScheduleUpdate
	}
	return &client.ScheduleUpdate{Schedule: &want}, nil
}

// same reports whether two schedules run the same at the same times. Values that
// the server has added do not count.
func same(have, want client.Schedule, cipher Cipher) bool {
	a, ok := have.Action.(*client.ScheduleWorkflowAction)
	b := want.Action.(*client.ScheduleWorkflowAction)
	return ok && len(have.Spec.Intervals) == 1 && have.Spec.Intervals[0] == want.Spec.Intervals[0] && have.Spec.Jitter == want.Spec.Jitter &&
		len(have.Spec.Calendars) == 0 && a.ID == b.ID && a.Workflow == b.Workflow && a.TaskQueue == b.TaskQueue && a.StaticSummary == b.StaticSummary &&
		purgeInput(a, cipher) == purgeInput(b, cipher) && *have.Policy == *want.Policy && have.State.Note == want.State.Note
}

// purgeInput returns the argument of an action: as it was given, or as it came back
// from the server.
func purgeInput(a *client.ScheduleWorkflowAction, cipher Cipher) (in PurgeInput) {
	if len(a.Args) != 1 {
		return in
	}
	switch arg := a.Args[0].(type) {
	case PurgeInput:
		return arg
	case *commonpb.Payload:
		if written(arg, cipher) {
			_ = NewDataConverter(cipher).FromPayload(arg, &in) // else it is another schedule
		}
	}
	return in
}
