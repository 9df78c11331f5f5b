package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"longhaul/activities"
	"longhaul/internal/egress"
)

// Codes of failed attempts whose cause is the model's server.
const (
	CodeTimeout     = "model-timeout"     // a turn took longer than the model's timeout
	CodeUnreachable = "model-unreachable" // there was no connection, or it broke
	CodeUnavailable = "model-unavailable" // the server has failed
	CodeDenied      = "model-denied"      // the server refuses the key
	CodeRequest     = "model-request"     // the server refuses the request
	CodeAnswer      = "model-answer"      // the answer could not be read
	CodeBusy        = "model-busy"        // the server was busy for too long
)

// errCut is the error of a stream that ends before the model has.
var errCut = &activities.Error{Code: CodeAnswer, Message: "The answer of the model was cut off."}

// errFormat is the error of a server that may not support the schema of an answer.
var errFormat = errors.New("the model's server refuses a request with a schema")

// A waitError is the error of a server that is busy. It names how long to wait, 0 if
// it does not say.
type waitError struct{ wait time.Duration }

// Error implements error.
func (e *waitError) Error() string { return "the model's server is busy" }

// maxWait limits the wait that a busy server can ask for.
const maxWait = time.Hour

// A serverError is an error response of a model's server.
type serverError struct {
	status int
	header http.Header
	detail string // untrusted
}

// Error implements error.
func (a *serverError) Error() string {
	return fmt.Sprintf("the model's server has answered with status %d", a.status)
}

// explain returns the error of a turn that has failed with err, without text from the
// server's answer. schema says that the request had one.
func explain(ctx context.Context, err error, schema bool) error {
	if coded, ok := errors.AsType[*activities.Error](err); ok {
		return coded
	}
	a, ok := errors.AsType[*serverError](err)
	switch {
	case ok && schema && (a.status == http.StatusBadRequest || a.status == http.StatusUnprocessableEntity):
		return errFormat
	case ok:
		return a.explain()
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &activities.Error{Code: CodeTimeout, Message: "The model has taken too long."}
	case errors.Is(err, errRedirect):
		return &activities.Error{Code: CodeRequest, Message: "The model's server redirects to another URL."}
	case isConnectionError(err):
		return &activities.Error{Code: CodeUnreachable, Message: "The model cannot be reached, or the connection broke."}
	}
	return &activities.Error{Code: CodeAnswer, Message: "The answer of the model could not be read."}
}

func (a *serverError) explain() error {
	wait, ok := retryAfter(a.header)
	switch {
	case a.status == http.StatusTooManyRequests, a.status >= 500 && ok:
		return &waitError{wait}
	case a.status >= 500:
		return &activities.Error{Code: CodeUnavailable, Message: fmt.Sprintf("The model's server has failed with status %d.", a.status)}
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden:
		return &activities.Error{Code: CodeDenied, Message: "The model's server refuses the key: the operator must correct it."}
	}
	return &activities.Error{Code: CodeRequest, Message: fmt.Sprintf("The model's server refuses the request with status %d.", a.status)}
}

// isConnectionError reports whether err is an error of the connection, not of the data that
// it carried.
func isConnectionError(err error) bool {
	var sent *url.Error
	var network net.Error
	return errors.As(err, &sent) || errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF)
}

// retryAfter returns how long a server wants its callers to wait. Some say it in
// milliseconds.
func retryAfter(h http.Header) (wait time.Duration, ok bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return time.Duration(min(ms, float64(maxWait.Milliseconds())) * float64(time.Millisecond)), true
	}
	return egress.RetryAfter(h, maxWait)
}
