package identity

import (
	"net/netip"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"longhaul/api/service"
)

// Wrong credentials that one address may send, per second and at once. Above that,
// those that were accepted before are still checked: others behind the same proxy
// keep working.
const (
	wrongPerSecond = 5
	wrongAtOnce    = 100
	wrongAddresses = 10_000 // that are remembered
)

// wrongCredentials counts wrong credentials by address, and refuses addresses with too many.
type wrongCredentials struct {
	now      func() time.Time
	limiters *lru.Cache[netip.Prefix, *rate.Limiter]
}

func newWrongCredentials(now func() time.Time) *wrongCredentials {
	wrong, _ := lru.New[netip.Prefix, *rate.Limiter](wrongAddresses) // fails only for a size below 1
	return &wrongCredentials{now, wrong}
}

// check refuses an address that has sent too many wrong credentials.
func (f *wrongCredentials) check(addr string) error {
	l, ok := f.limiters.Get(network(addr))
	if ok && l.TokensAt(f.now()) < 1 {
		return service.TooMany(time.Second)
	}
	return nil
}

// note counts a wrong credential.
func (f *wrongCredentials) note(addr string) {
	from := network(addr)
	l, ok := f.limiters.Get(from)
	if !ok {
		l = rate.NewLimiter(wrongPerSecond, wrongAtOnce)
		if earlier, found, _ := f.limiters.PeekOrAdd(from, l); found {
			l = earlier
		}
	}
	l.AllowN(f.now(), 1)
}

// network returns the network that an address is counted with: for IPv6 its /64,
// all of which one host may use.
func network(addr string) netip.Prefix {
	from, err := netip.ParseAddrPort(addr)
	if err != nil {
		return netip.Prefix{} // such as a socket of the file system
	}
	ip := from.Addr().Unmap()
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.WithZone("").Prefix(bits) // the length is valid
	return p
}
