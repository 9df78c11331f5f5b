package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/activities"
)

// PurgeInput says what a Purge workflow removes.
type PurgeInput struct {
	TTL     int64    `json:"ttl"`               // seconds for which what has ended is kept; at least 1
	Before  a2a.Time `json:"before,omitzero"`   // from the run before: what did not change after it goes
	Removed int64    `json:"removed,omitempty"` // by the runs before
}

// PurgeResult says what a Purge workflow has done.
type PurgeResult struct {
	Objectives int64 `json:"objectives"` // that were removed
}

// Purge removes from the journal the objectives that ended before the TTL.
//
// It counts from the moment when it was to begin: if no worker is there for a
// while, then what had its whole TTL still to come at that moment is not removed,
// and all that waits for the workers as well comes first.
func Purge(ctx workflow.Context, in PurgeInput) (PurgeResult, error) {
	if in.TTL < 1 {
		return PurgeResult{}, temporal.NewNonRetryableApplicationError("A TTL of 0 would remove everything that has ended.", "InvalidTTL", nil)
	}
	if in.Before.IsZero() {
		in.Before = a2a.At(workflow.GetInfo(ctx).WorkflowStartTime.Add(-time.Duration(in.TTL) * time.Second))
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour,
		HeartbeatTimeout:    heartbeat,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 20},
		Summary:             "Remove what has ended",
	})
	for more := true; more; {
		var done activities.Purged
		if err := workflow.ExecuteActivity(ctx, acts.Purge, activities.PurgeRequest{Before: in.Before}).Get(ctx, &done); err != nil {
			return PurgeResult{}, err
		}
		in.Removed += int64(done.Objectives)
		more = done.More
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("Removed %d objectives that ended before %v.", in.Removed, in.Before))
		if more && workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return PurgeResult{}, workflow.NewContinueAsNewError(ctx, Purge, in)
		}
	}
	return PurgeResult{in.Removed}, nil
}
