package identity

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
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
	proxies  []netip.Prefix
	limiters *lru.Cache[netip.Prefix, *rate.Limiter]
	checks   chan struct{}
}

func newWrongCredentials(now func() time.Time, proxies []netip.Prefix) *wrongCredentials {
	wrong, _ := lru.New[netip.Prefix, *rate.Limiter](wrongAddresses) // fails only for a size below 1
	return &wrongCredentials{now, proxies, wrong, make(chan struct{}, wrongChecks)}
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

// from returns the network that the client of a request is counted with: for IPv6 its /64,
// all of which one host may use. The client is the sender, or what the nearest proxy says that
// is not followed by one of ours: addresses before that can be invented.
func (f *wrongCredentials) from(r *http.Request) netip.Prefix {
	sender, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{} // such as a socket of the file system
	}
	ip := sender.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && f.isProxy(ip); i-- {
		before, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		ip = before.Unmap()
	}
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.WithZone("").Prefix(bits) // the length is valid
	return p
}

func (f *wrongCredentials) isProxy(ip netip.Addr) bool {
	return slices.ContainsFunc(f.proxies, func(p netip.Prefix) bool { return p.Contains(ip.WithZone("")) })
}
