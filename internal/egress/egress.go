package egress

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"longhaul/internal/tracing"
)

// A Resolver finds the addresses of a name. [net.DefaultResolver] is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Config says what a Client may reach. The zero value is the safe one.
type Config struct {
	AllowPrivate bool          // also http, loopback and private addresses: for URLs of the operator, and for development
	Allow        []string      // hosts ("*.example.com" means all below), addresses and prefixes for which AllowPrivate holds
	Deny         []string      // more hosts, addresses and prefixes in the same form, which AllowPrivate and Allow do not open
	MaxAnswer    int64         // bytes of an answer's body; 0 means 64 KiB
	Timeout      time.Duration // until the head of an answer has come; 0 means 10 s

	Resolver Resolver                                                          // nil means the system's
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error) // nil means the system's; it gets addresses only
	Roots    *x509.CertPool                                                    // nil means the system's
}

const (
	maxAnswer  = 64 << 10
	maxHeaders = 32 << 10
)

// A Client sends requests to URLs that others have chosen. It is safe for
// concurrent use.
type Client struct {
	cfg       Config
	rules     rules
	relaxed   rules // that hold with AllowPrivate, and for the hosts of allowed
	allowed   hosts
	transport *http.Transport
}

// New returns a client. Call Close at the end.
func New(cfg Config) (*Client, error) {
	cfg.MaxAnswer, cfg.Timeout = cmp.Or(cfg.MaxAnswer, maxAnswer), cmp.Or(cfg.Timeout, 10*time.Second)
	if cfg.Resolver == nil {
		cfg.Resolver = net.DefaultResolver
	}
	if cfg.Dial == nil {
		cfg.Dial = (&net.Dialer{Timeout: cfg.Timeout}).DialContext
	}
	denied, err := newHosts(cfg.Deny)
	if err != nil {
		return nil, fmt.Errorf("deny: %w", err)
	}
	allowed, err := newHosts(cfg.Allow)
	if err != nil {
		return nil, fmt.Errorf("allow: %w", err)
	}
	c := &Client{cfg: cfg, rules: newRules(cfg.AllowPrivate, denied), relaxed: newRules(true, denied), allowed: allowed}
	c.transport = &http.Transport{
		Proxy:                  nil, // a proxy would resolve the name again
		DialContext:            c.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.Roots},
		TLSHandshakeTimeout:    cfg.Timeout,
		ResponseHeaderTimeout:  cfg.Timeout,
		MaxResponseHeaderBytes: maxHeaders,
		DisableCompression:     true, // so that MaxAnswer is what arrives
		ForceAttemptHTTP2:      true, // own dialer and TLS configuration switch it off otherwise
		MaxIdleConns:           100,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        30 * time.Second,
	}
	return c, nil
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Check reports whether requests to a URL are allowed, with a [*Denied] if they
// are not. A name that cannot be resolved now is allowed: each request checks
// the addresses again.
func (c *Client) Check(ctx context.Context, rawURL string) error {
	t, denied := c.checkText(rawURL)
	if denied != nil {
		return denied
	}
	if _, err := c.addresses(ctx, t); errors.As(err, &denied) {
		return denied
	}
	return nil
}

// CheckURL is Check without a look at the addresses of a name: a URL that it refuses can
// never be reached.
func (c *Client) CheckURL(rawURL string) error {
	if _, denied := c.checkText(rawURL); denied != nil {
		return denied
	}
	return nil
}

func (c *Client) checkText(rawURL string) (target, *Denied) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return target{}, &Denied{Rule: RuleForm, Detail: "not a URL"} // the error of Parse holds the URL
	}
	return c.checkURL(u)
}

func (c *Client) checkURL(u *url.URL) (target, *Denied) {
	t, denied := c.rules.checkURL(u)
	if denied == nil {
		return t, nil
	}
	t, still := c.relaxed.checkURL(u)
	if still == nil && c.allowed.has(t) {
		return t, nil
	}
	denied.Private = still == nil
	return target{}, denied
}

// checkTarget is checkURL for a host.
func (c *Client) checkTarget(t target) *Denied {
	if c.allowed.has(t) {
		return c.relaxed.check(t)
	}
	return c.rules.check(t)
}

// checkAddr returns why an address of the host t is denied, nil if it is not.
func (c *Client) checkAddr(t target, addr netip.Addr) *Denied {
	denied := c.rules.checkAddr(addr)
	if denied == nil {
		return nil
	}
	denied.Private = c.relaxed.checkAddr(addr) == nil
	if denied.Private && (c.allowed.has(t) || c.allowed.hasAddr(addr)) {
		return nil
	}
	return denied
}

// Do sends one request. Every answer is a result, a redirect too. Reading more of
// the body than MaxAnswer is an [ErrTooLarge]. The caller closes the body; the
// context limits the whole exchange. If the rules refuse the URL or an address
// of its host, the error wraps a [*Denied], and nothing has been sent. No error
// holds the URL.
func (c *Client) Do(ctx context.Context, r *http.Request) (*http.Response, error) {
	if _, denied := c.checkURL(r.URL); denied != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, denied
	}
	r = r.Clone(ctx)
	ctx, span := tracing.Send(ctx, r.Header, r.Method+" "+r.URL.Hostname())
	answer, err := c.transport.RoundTrip(r.WithContext(ctx))
	if err != nil {
		span.End(true)
		return nil, err
	}
	span.Note("http.response.status_code", strconv.Itoa(answer.StatusCode))
	span.End(answer.StatusCode >= http.StatusInternalServerError)
	answer.Body = &limitedBody{answer.Body, c.cfg.MaxAnswer}
	return answer, nil
}

// addresses returns the addresses of a host. One that is denied is an error.
func (c *Client) addresses(ctx context.Context, t target) ([]netip.Addr, error) {
	if t.addr.IsValid() {
		return []netip.Addr{t.addr}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	found, err := c.cfg.Resolver.LookupNetIP(ctx, "ip", t.name)
	if err != nil {
		return nil, err
	}
	for _, addr := range found {
		if denied := c.checkAddr(t, addr); denied != nil {
			denied.Detail, denied.Now = denied.Detail+" of host "+t.name, true
			return nil, denied
		}
	}
	if len(found) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: t.name, IsNotFound: true}
	}
	return found, nil
}

// dial resolves the host, checks all of its addresses and connects to one of
// them.
func (c *Client) dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	t, denied := newTarget(host)
	if denied == nil {
		denied = c.checkTarget(t)
	}
	if denied != nil {
		return nil, denied
	}
	found, err := c.addresses(ctx, t)
	if err != nil {
		return nil, err
	}
	share := c.cfg.Timeout / time.Duration(len(found)) // so that one address that does not answer leaves time for the others
	for _, addr := range found {
		var conn net.Conn
		if conn, err = c.connect(ctx, share, network, net.JoinHostPort(addr.Unmap().String(), port)); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

func (c *Client) connect(ctx context.Context, timeout time.Duration, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return c.cfg.Dial(ctx, network, addr)
}

// ErrTooLarge is the error of reading an answer that is larger than MaxAnswer.
var ErrTooLarge = errors.New("the answer is too large")

// limitedBody is a body with a limit.
type limitedBody struct {
	io.ReadCloser
	left int64
}

// Read implements [io.Reader].
func (l *limitedBody) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, ErrTooLarge
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1] // one more byte, to detect a body that is too long
	}
	n, err := l.ReadCloser.Read(p)
	l.left -= int64(n)
	if l.left < 0 {
		return n - 1, ErrTooLarge
	}
	return n, err
}
