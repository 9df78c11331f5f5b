package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"
)

// A brokenError says that the connection failed, so that the result of the call
// is unknown.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

// ErrToken says that a token has a character that no bearer token can have, so that it was not sent.
var ErrToken = errors.New("the token has a space, a new line or another character that a token cannot have")

// isTransient reports whether a call that failed with err may succeed later.
func isTransient(err error) bool {
	if answered, ok := errors.AsType[*Error](err); ok {
		return answered.Retryable()
	}
	broken, ok := errors.AsType[*brokenError](err)
	return ok && !isPermanent(broken.err)
}

// isPermanent reports whether another connection would fail in the same way.
func isPermanent(err error) bool {
	if errors.Is(err, context.Canceled) {
		return true
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.IsNotFound
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return untrusted || errors.Is(err, http.ErrSchemeMismatch) || IsOtherProtocol(err)
}

// IsOtherProtocol reports whether a call failed since what answered does not speak HTTP/1.1, as
// the ports of gRPC and of Temporal do not.
func IsOtherProtocol(err error) bool {
	return err != nil && strings.Contains(err.Error(), "malformed HTTP response") // package net/http has no other sign of it
}

// A retry counts the failures of one call, or of one stream.
type retry struct {
	c       *caller
	attempt int       // since there was progress
	since   time.Time // of the first failure since the agent's latest answer; zero if there is none
}

// answered records that the agent has answered.
func (r *retry) answered() { r.since = time.Time{} }

// progress records that the agent has sent something new.
func (r *retry) progress() { r.attempt = 0 }

// wait waits before the next attempt, after one that failed with failure. If
// there is no next attempt, it returns the reason.
func (r *retry) wait(ctx context.Context, failure error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.c.cfg.Patience < 0 {
		return failure
	}
	now := time.Now()
	if r.since.IsZero() {
		r.since = now
	}
	r.attempt++
	pause := r.c.cfg.Backoff(r.attempt)
	if answered, ok := errors.AsType[*Error](failure); ok {
		pause = max(pause, answered.after)
	}
	if waited := now.Sub(r.since); waited+pause > r.c.cfg.Patience {
		return fmt.Errorf("gave up after %s: %w", waited.Round(time.Second), failure)
	}
	r.c.cfg.Retrying(failure, pause)
	return sleep(ctx, pause)
}

// sleep waits, unless ctx ends before that.
func sleep(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(pause):
		return nil
	}
}

// backoff is the default of Config.Backoff. Half of it is random, so that many
// clients do not reconnect at once.
func backoff(attempt int) time.Duration {
	const first, last = 250 * time.Millisecond, 5 * time.Second
	d := last
	if attempt < 6 {
		d = min(last, first<<(attempt-1))
	}
	return d/2 + rand.N(d/2)
}
