// Package callback serves callback URLs. Programs that work on a task elsewhere POST
// callbacks to them: progress, pieces of artifacts and the outcome. The token in the URL
// is the credential; it is valid for one round of one task.
package callback

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"longhaul/api/call"
	"longhaul/api/operation"
	"longhaul/api/wire"
	"longhaul/opt"
	optwire "longhaul/opt/wire"
)

// Callbacks receives callbacks. [receive.Callbacks] does.
type Callbacks interface {
	ReceiveCallback(ctx context.Context, c *call.Call, in opt.Callback) error
}

// A Verifier reads the tokens of callback URLs.
type Verifier interface {
	Verify(token string) (opt.CallbackRef, error)
}

// A Page serves callback URLs. It is safe for concurrent use.
type Page struct {
	calls     *call.Calls
	callbacks Callbacks
	tokens    Verifier
}

// New returns a page.
func New(calls *call.Calls, callbacks Callbacks, tokens Verifier) *Page {
	return &Page{calls, callbacks, tokens}
}

// mayReport is the right of a callback URL.
var mayReport = operation.Right("ReceiveCallback")

// unknownURL says what to do about a wrong token.
const unknownURL = "This callback URL is unknown: send to callbackUrl or wakeUrl of the work, unchanged. " +
	"If it is unchanged, the keys of the server (--secret-keys) are others than when the URL was made"

// maxBody is the largest size of a callback in bytes.
const maxBody = 1 << 20

// Serve serves a POST request for a callback URL. The status is 202 once the callback is
// durable, or, for progress and wakes that come fast, waits in memory.
func (p *Page) Serve(c *call.Call, w http.ResponseWriter, r *http.Request, token string) {
	var in opt.Callback
	ref, invalid := p.tokens.Verify(token)
	fault := p.calls.Serve(c, call.Steps{
		Authenticate: func() (call.Caller, error) {
			if invalid != nil {
				return call.Caller{}, invalid
			}
			return call.Caller{Tenant: ref.Tenant, Principal: "callback " + ref.TaskID, Scopes: []call.Scope{call.CreateRuns}}, nil
		},
		Read: func() (_ call.Right, err error) {
			c.Method = mayReport.Operation
			in, err = read(w, r, ref)
			return mayReport, err
		},
		Handle: func() error { return p.callbacks.ReceiveCallback(r.Context(), c, in) },
	})
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if fault == nil {
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "{}\n")
		return
	}
	if fault.Kind == call.Unauthenticated {
		unknown := *fault
		unknown.Message, fault = unknownURL, &unknown
	}
	status := statusOf(fault)
	body, err := wire.Marshal(wire.Flat(fault, status))
	if err != nil {
		status, body = http.StatusInternalServerError, []byte("{}")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// read reads a callback for the work that ref names.
func read(w http.ResponseWriter, r *http.Request, ref opt.CallbackRef) (opt.Callback, error) {
	in := opt.Callback{ID: r.Header.Get("Idempotency-Key"), TaskID: ref.TaskID, Round: ref.Round}
	if in.ID == "" {
		in.ID = rand.Text()
	}
	if len(in.ID) > 255 {
		return in, call.Invalid(call.Violation{Field: "Idempotency-Key", Description: "must have at most 255 characters"})
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if ref.Wake {
		return in, nil // the bearer may only wake the task
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return in, call.Invalid(call.Violation{Field: "body", Description: fmt.Sprintf("must have at most %d bytes: send URLs of large contents", maxBody)})
	}
	if err != nil || len(bytes.TrimSpace(data)) == 0 {
		return in, err
	}
	var sent optwire.Callback
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&sent); err != nil {
		return in, call.Invalid(call.Violation{Field: "body", Description: "must be a callback with text, artifact, append, lastChunk and outcome: " + err.Error()})
	}
	in.Text, in.Outcome = sent.Text, sent.Outcome
	if sent.Artifact != nil {
		in.Chunk = &opt.Chunk{Artifact: *sent.Artifact, Append: sent.Append, Last: sent.Last}
	}
	return in, nil
}

// statusOf returns the HTTP status of a fault.
func statusOf(f *call.Fault) int {
	switch f.Kind {
	case call.Unauthenticated, call.TaskNotFound:
		return http.StatusNotFound // a wrong token is a wrong URL
	case call.Unsupported:
		return http.StatusGone
	case call.InvalidParams:
		return http.StatusBadRequest
	case call.RateLimited:
		return http.StatusTooManyRequests
	case call.Unavailable, call.QueueFull:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
