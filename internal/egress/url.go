package egress

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Denied is the error for a URL or an address that the rules refuse. Its text is the same
// for all rules, so that it reveals nothing about the network to a client. Rule and
// Detail are for logs; they hold no part of the URL but its host.
type Denied struct {
	Rule   string // such as "scheme", "host" or "address"
	Detail string
	Now    bool // a name has a denied address now: it may get another one

	Private bool // it would be allowed with [Config].Allow or AllowPrivate
}

// Error implements error.
func (*Denied) Error() string {
	return "The URL is not allowed: it must be an https URL of a public host, without a user or a fragment"
}

// Rules by which a URL is denied.
const (
	RuleForm     = "form"     // not a URL of a server
	RuleScheme   = "scheme"   // not https
	RuleUser     = "user"     // a user or a password
	RuleFragment = "fragment" // a fragment
	RulePort     = "port"     // not a port number
	RuleSpelling = "spelling" // a numeric host in a form other than the usual one
	RuleHost     = "host"     // the name of a host that is denied
	RuleAddress  = "address"  // an address that is denied
)

// Host returns the host name of a URL for logs, "" if it has none. The rest of the URL
// may be a secret.
func Host(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// A target is the host of a URL: an address or a name.
type target struct {
	addr netip.Addr // the zero value for a name
	name string     // in lower case and ASCII, without the dot at its end
}

// numericPart matches what resolvers may read as a part of an IPv4 address: a decimal,
// octal or hexadecimal number.
var numericPart = regexp.MustCompile(`^(?:[0-9]+|0[xX][0-9a-fA-F]*)$`)

// newTarget reads a host, as it is in a URL without port and brackets.
func newTarget(host string) (target, *Denied) {
	if strings.ContainsAny(host, ":%") {
		addr, err := netip.ParseAddr(host)
		if err != nil || addr.Zone() != "" {
			return target{}, &Denied{Rule: RuleSpelling, Detail: "host " + strconv.Quote(host)}
		}
		return target{addr: addr}, nil
	}
	name := host
	if strings.ContainsFunc(host, func(r rune) bool { return r > 127 }) {
		var err error // some letters and digits outside of ASCII mean ASCII ones
		if name, err = idna.Lookup.ToASCII(host); err != nil {
			return target{}, &Denied{Rule: RuleForm, Detail: "host " + strconv.Quote(host)}
		}
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	labels := strings.Split(name, ".")
	switch {
	case slices.Contains(labels, ""):
		return target{}, &Denied{Rule: RuleForm, Detail: "host " + strconv.Quote(host)}
	case !numericPart.MatchString(labels[len(labels)-1]):
		return target{name: name}, nil
	}
	// A name that ends in a number must be an address. Resolvers also read forms such
	// as 127.1, 0177.0.0.1 and 2130706433; webhooks do not need them.
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return target{}, &Denied{Rule: RuleSpelling, Detail: "host " + strconv.Quote(host)}
	}
	return target{addr: addr}, nil
}

// checkURL applies the rules of form, scheme and host to a URL.
func (r rules) checkURL(u *url.URL) (target, *Denied) {
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !r.allowPrivate):
		return target{}, &Denied{Rule: RuleScheme, Detail: "scheme " + strconv.Quote(u.Scheme)}
	case u.User != nil:
		return target{}, &Denied{Rule: RuleUser, Detail: "host " + strconv.Quote(u.Hostname())}
	case u.Opaque != "" || u.Hostname() == "":
		return target{}, &Denied{Rule: RuleForm, Detail: "no host"}
	case u.EscapedFragment() != "":
		return target{}, &Denied{Rule: RuleFragment, Detail: "host " + strconv.Quote(u.Hostname())}
	}
	if err := checkPort(u); err != nil {
		return target{}, err
	}
	t, err := newTarget(u.Hostname())
	if err != nil {
		return target{}, err
	}
	return t, r.check(t)
}

func checkPort(u *url.URL) *Denied {
	port := u.Port()
	if port == "" {
		return nil
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return &Denied{Rule: RulePort, Detail: "port " + strconv.Quote(port)}
	}
	return nil
}
