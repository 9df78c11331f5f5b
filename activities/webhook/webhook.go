// Package webhook runs tasks on web services that the operator lists. Use it for work
// behind an HTTP API that can use the JSON of executors.
//
// A service gets the work of a task in a POST request. It answers with an outcome, or
// with 202 and POSTs the outcome later to the callback URL in the work; until then
// no worker waits.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"time"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/egress"
	"longhaul/opt"
)

// Kind is the kind of tasks that the executor runs.
const Kind = "http"

// Codes of failures. An answer with another status than those below has the code
// "http-" and the status.
const (
	CodeInput       = "bad-input"        // the input does not fit
	CodeUnreachable = "unreachable"      // there was no answer
	CodeNoCallback  = "no-callback-url"  // the service answered 202, but the work has no callback URL
	CodeNoReport    = "no-report"        // the service answered 202, and no outcome arrived in time
	CodeTooLarge    = "answer-too-large" // the answer is larger than a worker reads
)

// An Executor passes tasks on to web services. It may be used from any goroutine.
type Executor struct {
	Endpoints map[string]*Endpoint // from [Load]
	Sender    activities.Sender
}

// input is the input of a task.
type input struct {
	Endpoint string          `json:"endpoint"`
	Data     json.RawMessage `json:"data"`
}

// memo is what a task keeps while its service works.
type memo struct {
	Round int      `json:"round"`          // that it is about
	Until a2a.Time `json:"until,omitzero"` // the service has accepted the task; the outcome must arrive before this time
	Busy  int      `json:"busy,omitempty"` // how often the service has asked to come back later
}

// Named implements [activities.Namer].
func (e Executor) Named() []activities.Named {
	return []activities.Named{{Member: "endpoint", Names: slices.Sorted(maps.Keys(e.Endpoints))}}
}

// Execute implements [activities.Executor].
func (e Executor) Execute(ctx context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	var in input
	if err := activities.ReadInput(w, &in); err != nil {
		return activities.Rejected(CodeInput, "The input of the task must have an endpoint and may have data."), nil
	}
	to := e.Endpoints[in.Endpoint]
	if to == nil {
		return activities.Rejected(CodeInput, fmt.Sprintf("There is no endpoint %q on this worker.", in.Endpoint)), nil
	}
	var before memo
	if err := activities.ReadMemo(w, &before); err != nil {
		return activities.Outcome{}, err
	}
	if before.Round != w.Round && !w.Cancel {
		before = memo{Round: w.Round}
	}
	w.Input, w.Memo = in.Data, nil
	if !before.Until.IsZero() && !w.Cancel {
		return to.waitOutcome(before), nil
	}
	answer, err := e.send(ctx, to, w)
	if err != nil {
		return activities.Outcome{}, err
	}
	if w.Cancel {
		return cancelOutcome(answer), nil
	}
	return to.outcome(w, answer, before)
}

// An answer is an answer of a service.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send sends the work to a service and reads its answer.
func (e Executor) send(ctx context.Context, to *Endpoint, w activities.Work) (answer, error) {
	body, err := json.Marshal(w)
	if err != nil {
		return answer{}, err
	}
	limited, cancel := context.WithTimeout(ctx, to.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(limited, http.MethodPost, to.URL, bytes.NewReader(body))
	if err != nil {
		return answer{}, unreachable(to, err)
	}
	for name, value := range to.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/*;q=0.9")
	r.Header.Set("Idempotency-Key", requestKey(w))
	response, err := e.Sender.Do(limited, r)
	if err != nil {
		return answer{}, contextError(ctx, unreachable(to, err))
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if errors.Is(err, egress.ErrTooLarge) {
		return answer{}, &activities.Error{Code: CodeTooLarge, Message: "The answer of the service is too large: it should return URLs of large contents."}
	}
	if err != nil {
		return answer{}, contextError(ctx, unreachable(to, err))
	}
	return answer{response.StatusCode, response.Header, text}, nil
}

// requestKey returns the idempotency key of the request with w. A cancel is a request of
// its own: with the key of the work a service would take it for a repeat.
func requestKey(w activities.Work) string {
	if w.Cancel {
		return w.Key + ":cancel"
	}
	return w.Key
}

// contextError returns the error of ctx if it is done, otherwise err.
func contextError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// unreachable returns the error of an attempt without an answer. It has nothing of the
// URL, which may be a secret.
func unreachable(to *Endpoint, err error) error {
	class := cmp.Or(egress.Class(err), "error")
	return &activities.Error{Code: CodeUnreachable, Message: fmt.Sprintf("The service %q did not answer (%s).", to.name, class)}
}

// cancelOutcome returns the outcome of a canceled task from its service's answer to the
// cancellation.
func cancelOutcome(a answer) activities.Outcome {
	text := "The task was canceled, and its service has confirmed that."
	switch {
	case a.status == http.StatusAccepted:
		text = "The task was canceled. Its service was informed; it is not known whether it has stopped."
	case a.status < 200 || a.status > 299:
		text = fmt.Sprintf("The task was canceled. Its service answered %d, so whether it has stopped is not known.", a.status)
	}
	return activities.Failed("canceled", text)
}

// outcome returns the outcome for an answer.
func (e *Endpoint) outcome(w activities.Work, a answer, before memo) (activities.Outcome, error) {
	switch {
	case a.status == http.StatusAccepted && w.CallbackURL == "":
		return activities.Failed(CodeNoCallback, "The service answered 202 and cannot report the outcome: the worker needs --public-url."), nil
	case a.status == http.StatusAccepted:
		return e.waitOutcome(memo{Round: w.Round, Until: a2a.At(time.Now().Add(e.Wait))}), nil
	case a.status == http.StatusNoContent:
		return activities.Completed(), nil
	case a.status == http.StatusOK:
		return readOutcome(a, e.secretsOf(w)), nil
	case a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable:
		if wait, ok := egress.RetryAfter(a.header, longBusy); ok && before.Busy < maxBusy {
			return activities.ParkFor(max(wait, time.Second), memo{Round: w.Round, Busy: before.Busy + 1}, fmt.Sprintf("%s is busy.", e.name)), nil
		}
	case a.status >= 400 && a.status < 500 && a.status != http.StatusRequestTimeout && a.status != http.StatusTooEarly:
		return activities.Failed(httpCode(a), fmt.Sprintf("The service refuses the task (%d).", a.status)), nil
	}
	return activities.Outcome{}, &activities.Error{Code: httpCode(a), Message: fmt.Sprintf("The service answered %d.", a.status)}
}

// readOutcome reads the outcome in an answer: JSON, or a text that is the result. It has
// none of secrets.
func readOutcome(a answer, secrets []string) activities.Outcome {
	media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	if media == "application/json" {
		body, err := hideInJSON(a.body, secrets)
		if err != nil {
			return activities.Failed("invalid-outcome", "The service says that its answer is JSON, and it is not.")
		}
		out := opt.ReadOutcome(body)
		if problem := out.Returns(); problem != "" {
			return activities.Failed("invalid-outcome", "The outcome that the service returned is not allowed: "+problem+".")
		}
		return out.Allowed()
	}
	text, _ := json.Marshal(string(activities.Hide(a.body, secrets)))
	return opt.ReadOutcome(text)
}

// waitOutcome returns the outcome of a leg after which the task waits for its service.
func (e *Endpoint) waitOutcome(m memo) activities.Outcome {
	left := time.Until(m.Until.Time())
	if left <= 0 {
		return activities.Failed(CodeNoReport, fmt.Sprintf("The service has accepted the task, and has reported no outcome within %v.", e.Wait))
	}
	out := activities.ParkFor(left, m, fmt.Sprintf("Waiting for %s.", e.name))
	out.OnCancel = e.Cancel
	return out
}

func httpCode(a answer) string { return "http-" + strconv.Itoa(a.status) }

// Limits for services that ask to come back later.
const (
	maxBusy  = 100
	longBusy = time.Hour
)
