package identity

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"longhaul/opt"
)

// Wrong credentials that one address may send, per second and at once. Above that, others from
// there are checked only a few at a time, and a valid one is never refused.
const (
	wrongPerSecond = 5
	wrongAtOnce    = 100
	wrongAddresses = 10_000 // that are remembered
	wrongChecks    = 4      // at a time, for all addresses above the limit
)

// wrongCredentials counts wrong credentials by the address of the client.
type wrongCredentials struct {
	now      func() time.Time
	limiters *lru.Cache[netip.Prefix, *rate.Limiter]
	checks   chan struct{}
}

func newWrongCredentials(now func() time.Time) *wrongCredentials {
	wrong, _ := lru.New[netip.Prefix, *rate.Limiter](wrongAddresses) // fails only for a size below 1
	return &wrongCredentials{now, wrong, make(chan struct{}, wrongChecks)}
}

// tooMany reports whether an address has sent too many wrong credentials.
func (f *wrongCredentials) tooMany(from netip.Prefix) bool {
	l, ok := f.limiters.Get(from)
	return ok && l.TokensAt(f.now()) < 1
}

// queue waits until a credential from an address above the limit may be checked, which lasts
// until done is called.
func (f *wrongCredentials) queue(ctx context.Context) (done func(), err error) {
	select {
	case f.checks <- struct{}{}:
		return func() { <-f.checks }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: check a credential: %w", opt.ErrUnavailable, ctx.Err())
	}
}

// note counts a wrong credential.
func (f *wrongCredentials) note(from netip.Prefix) {
	l, ok := f.limiters.Get(from)
	if !ok {
		l = rate.NewLimiter(wrongPerSecond, wrongAtOnce)
		if earlier, found, _ := f.limiters.PeekOrAdd(from, l); found {
			l = earlier
		}
	}
	l.AllowN(f.now(), 1)
}
