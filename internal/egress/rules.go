package egress

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Prefixes of addresses that are denied. Those in private are allowed for development.
var (
	private = prefixes(
		"10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
		"::1/128", "fc00::/7",
	)
	alwaysDenied = prefixes(
		"0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4",
		"168.63.129.16/32",                                            // the metadata service of a cloud, at a public address
		"100.100.100.200/32", "fd00:ec2::254/128", "fd20:ce::254/128", // services of others, at private addresses
		"2001::/23", // Teredo and other assignments for protocols
		"2002::/16", // 6to4, which holds an IPv4 address
	)
	// public holds all public addresses of IPv6. Outside are, among others, unspecified,
	// IPv4-compatible, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), link-local and multicast
	// addresses.
	public = netip.MustParsePrefix("2000::/3")
)

// Names of hosts that are denied; one that begins with a dot means everything
// below.
var (
	privateNames      = []string{"localhost", ".localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"}
	alwaysDeniedNames = []string{"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"}
)

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// hosts are names of hosts, and prefixes of addresses. A name that begins with a dot means
// everything below.
type hosts struct {
	names    []string
	prefixes []netip.Prefix
}

// newHosts reads names ("*.example.com" means everything below), addresses and prefixes.
func newHosts(texts []string) (h hosts, err error) {
	for _, text := range texts {
		if prefix, err := netip.ParsePrefix(text); err == nil {
			h.prefixes = append(h.prefixes, prefix.Masked())
			continue
		}
		host, below := strings.CutPrefix(text, "*")
		t, denied := newTarget(strings.TrimPrefix(host, "."))
		switch {
		case denied != nil || below && (!strings.HasPrefix(host, ".") || t.name == "") || strings.ContainsAny(t.name, "/*: "):
			return hosts{}, fmt.Errorf("%q is not a host, *.domain, address or prefix", text)
		case t.name == "":
			addr := t.addr.Unmap()
			h.prefixes = append(h.prefixes, netip.PrefixFrom(addr, addr.BitLen()))
		case below:
			h.names = append(h.names, "."+t.name)
		default:
			h.names = append(h.names, t.name)
		}
	}
	return h, nil
}

// has reports whether t is one of h. The addresses of a name do not count.
func (h hosts) has(t target) bool {
	if t.addr.IsValid() {
		return h.hasAddr(t.addr)
	}
	return slices.ContainsFunc(h.names, func(name string) bool {
		return t.name == name || strings.HasPrefix(name, ".") && strings.HasSuffix(t.name, name)
	})
}

// hasAddr reports whether h has an address, of IPv4 also in the form of IPv6.
func (h hosts) hasAddr(addr netip.Addr) bool { return inPrefixes(addr.Unmap(), h.prefixes) }

// rules say which hosts and addresses are denied.
type rules struct {
	allowPrivate bool
	denied       hosts
}

// newRules returns the rules that deny more hosts than they do by themselves.
func newRules(allowPrivate bool, more hosts) rules {
	r := rules{allowPrivate, hosts{slices.Concat(alwaysDeniedNames, more.names), slices.Concat(alwaysDenied, more.prefixes)}}
	if !allowPrivate {
		r.denied.names, r.denied.prefixes = append(r.denied.names, privateNames...), append(r.denied.prefixes, private...)
	}
	return r
}

// check returns why t is denied, nil if it is not. The addresses of a name are
// checked by themselves.
func (r rules) check(t target) *Denied {
	switch {
	case t.addr.IsValid():
		return r.checkAddr(t.addr)
	case r.denied.has(t):
		return &Denied{Rule: RuleHost, Detail: "host " + t.name}
	}
	return nil
}

// checkAddr returns why an address is denied, nil if it is not. An IPv4 address in
// the form of IPv6 is checked as IPv4.
func (r rules) checkAddr(addr netip.Addr) *Denied {
	denied := &Denied{Rule: RuleAddress, Detail: "address " + addr.String()}
	if !addr.IsValid() || addr.Zone() != "" {
		return denied
	}
	addr = addr.Unmap()
	if r.denied.hasAddr(addr) {
		return denied
	}
	if addr.Is6() && !public.Contains(addr) && (!r.allowPrivate || !inPrefixes(addr, private)) {
		return denied
	}
	return nil
}

func inPrefixes(addr netip.Addr, prefixes []netip.Prefix) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
}
