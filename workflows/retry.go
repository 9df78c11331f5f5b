package workflows

import (
	"cmp"
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"longhaul/activities"
	"longhaul/opt"
)

const (
	retryWait    = time.Second // before the second attempt
	retryMaxWait = time.Minute // between two attempts, unless a task asks for longer
)

// retryPolicy says how the attempts at one round of t follow on each other.
func retryPolicy(t *opt.Task) *temporal.RetryPolicy {
	wait := cmp.Or(time.Duration(t.Retry.Wait)*time.Second, retryWait)
	p := &temporal.RetryPolicy{
		InitialInterval: wait, BackoffCoefficient: 2, MaximumInterval: max(wait, retryMaxWait),
		MaximumAttempts: int32(cmp.Or(t.Attempts, taskAttempts)),
	}
	for _, reason := range t.Retry.Except {
		p.NonRetryableErrorTypes = append(p.NonRetryableErrorTypes, activities.ErrorTypes(reason)...)
	}
	return p
}

// nextAttempt returns the number of the attempt that a round of t begins with, 0 for
// a task that nobody attempts.
func (r *planRun) nextAttempt(t *opt.Task) int {
	if t.Ask != nil {
		return 0
	}
	return r.state.Tried[t.ID] + 1
}

// failedAttempt returns the number of the attempt that failed with err, 0 if err
// does not say: a time-out knows at most of the error before it.
func failedAttempt(err error) int {
	var timeout *temporal.TimeoutError
	var app *temporal.ApplicationError
	if errors.As(err, &timeout) || !errors.As(err, &app) {
		return 0
	}
	_, attempt := activities.Reason(app)
	return attempt
}
