package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"longhaul/opt"
)

// An Error is an error of an executor with a code that says what went wrong. A
// task may name codes after which it is not attempted again. If there is no
// further attempt, the task fails with the last code as its reason.
//
// The error that Execute returns may wrap an Error; the text around it is not
// shown to clients.
type Error struct {
	Code    string // such as "rate-limited"
	Message string // for clients
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Reasons of failure that tasks of every kind have.
const (
	ReasonFailed  = "failed"  // an error without a code, or a panic
	ReasonTimeout = "timeout" // an attempt that took longer than it may
)

// Types of application error, which retry policies and workflows use. That of an
// [Error] is ExecutorError, a colon and its code.
const (
	NoPlanError        = "NoPlan"
	PanicError         = "Panic"
	ExecutorError      = "Executor"
	NoPurgerError      = "NoPurger"
	NoPushError        = "NoPush"
	WorkerStoppedError = "WorkerStopped"
	WorkerLostError    = "WorkerLost" // which other workers report
	JournalError       = "Journal"    // its details are how many runs before may have begun
	RecordError        = "Record"     // the journal can be reached, and does not take the events
	RefusedError       = "Refused"
	BusyError          = "Busy"    // this process waits for enough already; another or a later one may
	QuotaError         = "Quota"   // the step has not begun; its details are how many runs before may have, and perhaps a text for clients
	RewoundError       = "Rewound" // its details are an [opt.RewoundError]
)

// finalFailure turns the error of an attempt into a final error for Temporal, since
// the plan decides about the next attempt.
func finalFailure(err error) error {
	kind, text := ExecutorError, err.Error()
	if coded, ok := errors.AsType[*Error](err); ok && opt.IsPlainID(coded.Code) {
		kind, text = ExecutorError+":"+coded.Code, cmp.Or(coded.Message, "The task failed.")
	}
	return temporal.NewNonRetryableApplicationError(text, kind, nil)
}

// ranFor adds to an error that ends an attempt how long that ran, in milliseconds, as its detail.
func ranFor(ctx context.Context, err error, ran int64) error {
	failed, _ := errors.AsType[*temporal.ApplicationError](err)
	switch {
	case failed != nil && failed.NonRetryable():
		return temporal.NewNonRetryableApplicationError(failed.Message(), failed.Type(), nil, max(ran, 1))
	case err != nil && err == context.Canceled && ctx.Err() != nil && activity.IsActivity(ctx):
		return errors.Join(err, temporal.NewCanceledError(max(ran, 1)))
	}
	return err
}

// planFailure returns the error of a planner, with its usage as the detail; nil for none.
func planFailure(err error, used *opt.Usage) error {
	options, kind := temporal.ApplicationErrorOptions{NonRetryable: errors.Is(err, ErrNoPlan)}, ""
	if options.NonRetryable {
		kind = NoPlanError
	}
	if used != nil {
		options.Details = []any{used}
	}
	if _, typed := errors.AsType[*temporal.ApplicationError](err); typed || kind == "" && used == nil {
		return err
	}
	return temporal.NewApplicationErrorWithOptions(err.Error(), kind, options)
}

// A recordError is why a stream could not be recorded.
type recordError struct{ cause error }

// Error implements error.
func (e *recordError) Error() string { return e.cause.Error() }

// Unwrap returns the error of the recorder.
func (e *recordError) Unwrap() error { return e.cause }

// journalError returns the error of an attempt that could not be recorded. While the journal cannot
// be reached, the attempt begins again after pauses. After other errors Temporal repeats it for a
// minute, before they use it up. Events that the journal refuses for good fail the attempt.
func journalError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, opt.ErrConflict), errors.Is(err, opt.ErrMalformed):
		return finalFailure(fmt.Errorf("the journal refuses what the task has streamed: %w", err))
	case errors.Is(err, opt.ErrUnavailable):
		return temporal.NewApplicationErrorWithCause("The journal cannot be reached.", JournalError, err, try(ctx)-1)
	}
	return temporal.NewApplicationErrorWithCause("The journal does not take what the task has streamed.", RecordError, err)
}

// Reason returns the code for a Run that failed with e.
func Reason(e *temporal.ApplicationError) string {
	if reason, coded := strings.CutPrefix(e.Type(), ExecutorError+":"); coded {
		return reason
	}
	return ReasonFailed
}
