package call

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are networks of reverse proxies, whose X-Forwarded-For names the client.
type Proxies []netip.Prefix

// Client returns the network that the client of a request is counted with: for IPv6 its /64,
// all of which one host may use. The client is the sender, or what the nearest proxy says that
// is not followed by one of ours: addresses before that can be invented.
func (p Proxies) Client(r *http.Request) netip.Prefix {
	sender, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{} // such as a socket of the file system
	}
	ip := sender.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.have(ip); i-- {
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
	network, _ := ip.WithZone("").Prefix(bits) // the length is valid
	return network
}

func (p Proxies) have(ip netip.Addr) bool {
	return slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(ip.WithZone("")) })
}
