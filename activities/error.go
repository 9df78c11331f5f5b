package activities

import (
	"cmp"
	"errors"
	"strings"

	"go.temporal.io/sdk/temporal"
)

// An Error is an error of an executor that says in one word what went wrong. A
// task may name words after which it is not tried again; once there is no other
// attempt, the task fails with the word of the last one as its reason.
//
// It counts wherever it is in what Execute returns: what is wrapped around it
// reaches nobody.
type Error struct {
	Code    string // such as "rate-limited"
	Message string // for clients
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Reasons of failure that tasks of every kind have.
const (
	ReasonFailed     = "failed"      // an error without a code, or a panic
	ReasonTimeout    = "timeout"     // an attempt that took longer than it may
	ReasonWorkerLost = "worker-lost" // an attempt whose worker is gone
)

// Types of application error, as retry policies and workflows know them. That of
// an [Error] is ExecutorError, a colon and its code.
const (
	NoPlanError   = "NoPlan"
	PanicError    = "Panic"
	ExecutorError = "Executor"
	NoPurgerError = "NoPurger"
)

// A failedAttempt is the detail of an error.
type failedAttempt struct {
	Attempt int `json:"attempt"`
}

// failure returns what an attempt ended with as Temporal knows it.
func failure(err error, attempt int) error {
	kind, text := ExecutorError, err.Error()
	var coded *Error
	if errors.As(err, &coded) && coded.Code != "" {
		kind, text = ExecutorError+":"+coded.Code, cmp.Or(coded.Message, "The task failed.")
	}
	return failed(kind, text, attempt)
}

func failed(kind, text string, attempt int) error {
	return temporal.NewApplicationErrorWithOptions(text, kind, temporal.ApplicationErrorOptions{Details: []any{failedAttempt{attempt}}})
}

// Reason returns why Run failed with e, in one word, and at which attempt; that
// is 0 if e does not say.
func Reason(e *temporal.ApplicationError) (reason string, attempt int) {
	reason, coded := strings.CutPrefix(e.Type(), ExecutorError+":")
	if !coded {
		reason = ReasonFailed
	}
	var last failedAttempt
	if e.HasDetails() && e.Details(&last) != nil {
		last.Attempt = 0
	}
	return reason, last.Attempt
}

// ErrorTypes lists the types that errors of Run have for a reason, for retry
// policies. Temporal has types of its own for what it notices itself.
func ErrorTypes(reason string) []string {
	types := []string{ExecutorError + ":" + reason}
	switch reason {
	case ReasonFailed:
		types = append(types, ExecutorError, PanicError)
	case ReasonTimeout:
		types = append(types, "TemporalTimeout:StartToClose")
	case ReasonWorkerLost:
		types = append(types, "TemporalTimeout:Heartbeat")
	}
	return types
}
