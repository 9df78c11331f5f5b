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
	TTL     int64    `json:"ttl"`               // seconds for which ended objectives are kept; at least 1
	Before  a2a.Time `json:"before,omitzero"`   // from the run before: objectives that did not change after it are removed
	Removed int64    `json:"removed,omitempty"` // by the runs before
}

// PurgeResult says what a Purge workflow has done.
type PurgeResult struct {
	Objectives int64 `json:"objectives"` // that were removed
}

// Purge removes from the journal the objectives that ended longer ago than the
// TTL.
//
// The TTL counts back from the start of the workflow, not from the time when a
// worker runs it: if there was no worker for a while, objectives that ended after
// that start minus the TTL are kept.
func Purge(ctx workflow.Context, in PurgeInput) (PurgeResult, error) {
	if in.TTL < 1 {
		return PurgeResult{}, temporal.NewNonRetryableApplicationError("A TTL of 0 would remove all objectives that have ended.", "InvalidTTL", nil)
	}
	if in.Before.IsZero() {
		in.Before = a2a.At(workflow.GetInfo(ctx).WorkflowStartTime.Add(-time.Duration(in.TTL) * time.Second))
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour,
		HeartbeatTimeout:    heartbeatTimeout,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 20},
		Summary:             "Remove ended objectives",
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
