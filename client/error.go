package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"longhaul/a2a/codec"
	"longhaul/opt/wire"
)

// Codes of errors that callers branch on. Methods of the OPT extension use
// CodeTaskNotFound for a move that is not allowed, so look at the Reason there.
const (
	CodeInvalidParams     = -32602
	CodeInternal          = -32603
	CodeOPTNotFound       = -32000 // of a method of the OPT extension
	CodeTaskNotFound      = -32001
	CodeTaskNotCancelable = -32002
	CodeUnsupported       = -32004
	CodeVersion           = -32009
)

// Reasons that callers branch on.
const (
	ReasonUnavailable = "UNAVAILABLE"              // a repeat may succeed
	ReasonStale       = "STALE_REVISION"           // another client has changed it; Info has the revision
	ReasonMove        = "INVALID_STATE_TRANSITION" // the move is not allowed
	ReasonObject      = "OBJECT_CHANGED"           // a decision is about another object than the gate shows
)

// An Error is an error in an agent's answer.
type Error struct {
	Code    int               // of JSON-RPC; 0 if the answer was not JSON-RPC
	Message string            // for people
	Reason  string            // for programs, such as TASK_NOT_FOUND; "" if the answer gave none
	Info    map[string]string // that came with the reason
	Details []json.RawMessage // everything that came with the error, the reason included
	Status  int               // of HTTP

	after time.Duration // that the agent asks to wait before a repeat
}

func (e *Error) Error() string {
	if e.Reason == "" || strings.Contains(e.Message, e.Reason) {
		return e.Message
	}
	return fmt.Sprintf("%s (%s)", e.Message, e.Reason)
}

// Retryable reports whether the agent says that the same call may succeed later.
func (e *Error) Retryable() bool {
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return e.Code == CodeInternal && e.Reason == ReasonUnavailable
}

// HasReason reports whether err is an [*Error] with a reason.
func HasReason(err error, reason string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Reason == reason
}

// newError returns the error of an answer, which came with res.
func newError(e *codec.Error, res *http.Response) *Error {
	out := &Error{Code: e.Code, Message: e.Message, Details: e.List(), Status: res.StatusCode, after: retryAfter(res)}
	for _, raw := range out.Details {
		var d codec.Detail
		if json.Unmarshal(raw, &d) != nil {
			continue
		}
		switch {
		case strings.HasSuffix(d.Type, "google.rpc.ErrorInfo") && out.Reason == "":
			out.Reason, out.Info = d.Reason, d.Metadata
		case strings.HasSuffix(d.Type, "google.rpc.RetryInfo"):
			if delay, err := time.ParseDuration(d.RetryDelay); err == nil {
				out.after = delay
			}
		}
	}
	return out
}

// notA2A returns the error of an answer that is not JSON-RPC.
func notA2A(res *http.Response) *Error {
	kind := cmp.Or(res.Header.Get("Content-Type"), "no content type")
	return &Error{
		Message: fmt.Sprintf("%s answered %s with %s, which is not A2A", res.Request.URL.Redacted(), res.Status, kind),
		Status:  res.StatusCode,
		after:   retryAfter(res),
	}
}

// pageError returns the error in the body of a page.
func pageError(res *http.Response, body []byte) *Error {
	var flat wire.PageError
	if json.Unmarshal(body, &flat) != nil || flat.Error == "" {
		return notA2A(res)
	}
	out := &Error{Message: flat.Message, Reason: strings.ToUpper(flat.Error), Info: map[string]string{}, Status: res.StatusCode, after: retryAfter(res)}
	for name, value := range flat.Details {
		if text, ok := value.(string); ok {
			out.Info[name] = text
		}
	}
	if details, err := json.Marshal(flat.Details); err == nil && flat.Details != nil {
		out.Details = []json.RawMessage{details}
	}
	return out
}

func retryAfter(res *http.Response) time.Duration {
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
