package egress_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"longhaul/internal/egress"
	"longhaul/internal/test"
)

// denied are URLs that must be refused, and the rule that refuses each. Names
// resolve as names says.
var denied = []struct{ url, rule string }{
	{"http://public.example.com/", egress.RuleScheme},
	{"http://8.8.8.8/", egress.RuleScheme},
	{"ftp://public.example.com/", egress.RuleScheme},
	{"file:///etc/passwd", egress.RuleScheme},
	{"gopher://public.example.com:70/", egress.RuleScheme},
	{"//public.example.com/", egress.RuleScheme},
	{"public.example.com", egress.RuleScheme},
	{"", egress.RuleScheme},
	{"https:public.example.com", egress.RuleForm},
	{"https:///path", egress.RuleForm},
	{"https://", egress.RuleForm},
	{"https://public.example.com\\@127.0.0.1/", egress.RuleForm},
	{"https://%31%32%37.0.0.1/", egress.RuleForm},
	{"https://public..example.com/", egress.RuleForm},
	{"https://./", egress.RuleForm},
	{"https://public.example.com:99999/", egress.RulePort},
	{"https://public.example.com:0/", egress.RulePort},
	{"https://user@public.example.com/", egress.RuleUser},
	{"https://user:password@public.example.com/", egress.RuleUser},
	{"https://public.example.com@127.0.0.1/", egress.RuleUser},
	{"https://@public.example.com/", egress.RuleUser},
	{"https://public.example.com/#fragment", egress.RuleFragment},

	{"https://127.0.0.1/", egress.RuleAddress},
	{"https://127.0.0.1:8443/push", egress.RuleAddress},
	{"https://127.255.255.254/", egress.RuleAddress},
	{"https://127.0.0.1./", egress.RuleAddress},
	{"https://0.0.0.0/", egress.RuleAddress},
	{"https://0.1.2.3/", egress.RuleAddress},
	{"https://10.0.0.5/push", egress.RuleAddress},
	{"https://100.64.0.1/", egress.RuleAddress},
	{"https://100.127.255.255/", egress.RuleAddress},
	{"https://169.254.169.254/latest/meta-data/", egress.RuleAddress},
	{"https://172.16.0.1/", egress.RuleAddress},
	{"https://172.31.255.255/", egress.RuleAddress},
	{"https://192.0.0.192/", egress.RuleAddress},
	{"https://192.168.1.1/", egress.RuleAddress},
	{"https://198.18.0.1/", egress.RuleAddress},
	{"https://198.19.255.255/", egress.RuleAddress},
	{"https://224.0.0.1/", egress.RuleAddress},
	{"https://255.255.255.255/", egress.RuleAddress},
	{"https://168.63.129.16/", egress.RuleAddress},
	{"https://１２７.0.0.1/", egress.RuleAddress}, // digits of full width
	{"https://127。0。0。1/", egress.RuleAddress}, // another full stop

	{"https://127.1/", egress.RuleSpelling},
	{"https://127.0.1/", egress.RuleSpelling},
	{"https://2130706433/", egress.RuleSpelling},
	{"https://0x7f000001/", egress.RuleSpelling},
	{"https://0X7F.1/", egress.RuleSpelling},
	{"https://0177.0.0.1/", egress.RuleSpelling},
	{"https://127.0.0.01/", egress.RuleSpelling},
	{"https://017700000001/", egress.RuleSpelling},
	{"https://0x7f.0x0.0x0.0x1/", egress.RuleSpelling},
	{"https://0/", egress.RuleSpelling},
	{"https://134744072/", egress.RuleSpelling}, // 8.8.8.8
	{"https://256.256.256.256/", egress.RuleSpelling},
	{"https://1.2.3.4.5/", egress.RuleSpelling},
	{"https://name.0x1/", egress.RuleSpelling},
	{"https://[fe80::1%25eth0]/", egress.RuleSpelling},

	{"https://[::]/", egress.RuleAddress},
	{"https://[::1]/", egress.RuleAddress},
	{"https://[0:0:0:0:0:0:0:1]:443/", egress.RuleAddress},
	{"https://[::ffff:127.0.0.1]/", egress.RuleAddress},
	{"https://[::ffff:7f00:1]/", egress.RuleAddress},
	{"https://[::ffff:a9fe:a9fe]/", egress.RuleAddress},
	{"https://[::127.0.0.1]/", egress.RuleAddress},
	{"https://[::ffff:0:127.0.0.1]/", egress.RuleAddress},
	{"https://[64:ff9b::7f00:1]/", egress.RuleAddress},
	{"https://[64:ff9b::8.8.8.8]/", egress.RuleAddress},
	{"https://[64:ff9b:1::7f00:1]/", egress.RuleAddress},
	{"https://[2002:7f00:1::]/", egress.RuleAddress},
	{"https://[2001:0:5ef5:79fd::1]/", egress.RuleAddress},
	{"https://[fc00::1]/", egress.RuleAddress},
	{"https://[fd00:ec2::254]/", egress.RuleAddress},
	{"https://[fe80::1]/", egress.RuleAddress},
	{"https://[fec0::1]/", egress.RuleAddress},
	{"https://[ff02::1]/", egress.RuleAddress},
	{"https://[100::1]/", egress.RuleAddress},

	{"https://localhost/", egress.RuleHost},
	{"https://LOCALHOST./", egress.RuleHost},
	{"https://a.localhost/", egress.RuleHost},
	{"https://metadata/", egress.RuleHost},
	{"https://metadata.google.internal/computeMetadata/v1/", egress.RuleHost},
	{"https://Metadata.Google.Internal./", egress.RuleHost},
	{"https://ｌocalhost/", egress.RuleHost}, // a letter of full width
	{"https://denied.example.com/", egress.RuleHost},
	{"https://below.denied.example.org/", egress.RuleHost},
	{"https://9.9.9.9/", egress.RuleAddress},
	{"https://9.9.8.1/", egress.RuleAddress},

	{"https://loopback.example.com/", egress.RuleAddress},
	{"https://mapped.example.com/", egress.RuleAddress},
	{"https://mixed.example.com/", egress.RuleAddress},
	{"https://zone.example.com/", egress.RuleAddress},
}

var deny = []string{"denied.example.com", "*.denied.example.org", "9.9.9.9", "9.9.8.0/24"}

// names are the addresses of names.
var names = resolver{
	"public.example.com":   {"93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"},
	"denied.example.com":   {"93.184.215.14"},
	"denied.example.org":   {"93.184.215.14"},
	"loopback.example.com": {"127.0.0.1"},
	"mapped.example.com":   {"::ffff:10.0.0.1"},
	"mixed.example.com":    {"93.184.215.14", "10.0.0.1"},
	"zone.example.com":     {"2606:2800::1%eth0"},
}

func TestClient_refuses(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	c := site.client(t, egress.Config{Resolver: names, Deny: deny})
	const text = "The URL is not allowed: it must be an https URL of a public host, without a user or a fragment"
	for _, tt := range denied {
		err := c.Check(t.Context(), tt.url)
		var d *egress.Denied
		if !errors.As(err, &d) || d.Rule != tt.rule || err.Error() != text {
			t.Errorf("Check(%q) = %v (%+v), want a refusal by rule %q", tt.url, err, d, tt.rule)
		}
		r, err := http.NewRequest(http.MethodPost, tt.url, strings.NewReader("{}"))
		if err != nil {
			continue // it cannot become a request
		}
		if _, err := c.Do(t.Context(), r); !errors.As(err, &d) || d.Rule != tt.rule {
			t.Errorf("Do(%q) = %v, want a refusal by rule %q", tt.url, err, tt.rule)
		}
	}
	test.Is(t, "connections were made", 0, site.dials.Load())
	if len(denied) < 50 {
		t.Errorf("only %d URLs", len(denied))
	}
}

func TestClient_allows(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	c := site.client(t, egress.Config{Resolver: names, Deny: deny})
	for _, url := range []string{
		"https://public.example.com/push?a=b", "HTTPS://Public.Example.Com:8443/", "https://public.example.com./", "https://public.example.com:/",
		"https://8.8.8.8/", "https://[2606:4700::1111]/", "https://[::ffff:8.8.8.8]/", "https://denied.example.org/", "https://100.128.0.1/", "https://172.32.0.1/",
		"https://nowhere.example.com/", "https://under_score.example.com/", "https://bücher.example.com/", "https://localhost.example.com/", "https://4all.example/",
	} {
		if err := c.Check(t.Context(), url); err != nil {
			t.Errorf("Check(%q) = %v, want nil", url, err)
		}
	}
}

// A request goes to an address that was checked; the server still sees the name.
func TestClient_Do_dialsTheCheckedAddress(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	c := site.client(t, egress.Config{Resolver: names})
	test.Is(t, "the answer", "HTTP/2.0 public.example.com public.example.com", site.get(t, c, "https://public.example.com/push"))
	test.Is(t, "dialed", "93.184.215.14:443", site.dialed.Load())
}

// A name that is public when it is checked and local when it is dialed is refused.
func TestClient_Do_refusesReboundName(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	rebinding := &rebinding{answers: []string{"93.184.215.14", "127.0.0.1"}}
	c := site.client(t, egress.Config{Resolver: rebinding})
	test.OK(t, c.Check(t.Context(), "https://public.example.com/"))
	_, err := c.Do(t.Context(), get(t, "https://public.example.com/"))
	test.Is(t, "the class of the error", egress.ClassDenied, egress.Class(err))
	test.Is(t, "connections were made", 0, site.dials.Load())
}

// The resolver is asked once per connection, so that it cannot answer a check
// and a dial differently.
func TestClient_Do_resolvesOnce(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	rebinding := &rebinding{answers: []string{"93.184.215.14", "127.0.0.1"}}
	c := site.client(t, egress.Config{Resolver: rebinding})
	site.get(t, c, "https://public.example.com/")
	test.Is(t, "dialed", "93.184.215.14:443", site.dialed.Load())
}

func TestClient_Do_followsNoRedirect(t *testing.T) {
	t.Parallel()
	local := newSite(t)
	site := newSite(t)
	site.answer = func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		http.Redirect(w, r, local.server.URL, http.StatusFound)
	}
	c := site.client(t, egress.Config{Resolver: names})
	answer := test.Value(c.Do(t.Context(), get(t, "https://public.example.com/")))(t)
	_ = answer.Body.Close()
	test.Is(t, "the status", http.StatusFound, answer.StatusCode)
	test.Is(t, "the target of the redirect requests", 0, local.requests.Load())
}

func TestClient_Do_ignoresProxyOfEnvironment(t *testing.T) {
	proxy := newSite(t)
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "ALL_PROXY"} {
		t.Setenv(name, proxy.server.URL)
	}
	site := newSite(t)
	c := site.client(t, egress.Config{Resolver: names})
	site.get(t, c, "https://public.example.com/")
	test.Is(t, "dialed", "93.184.215.14:443", site.dialed.Load())
	test.Is(t, "the proxy requests", 0, proxy.requests.Load())
}

func TestClient_Do_limits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		size int
		want error
	}{{99, nil}, {100, nil}, {101, egress.ErrTooLarge}} {
		site := newSite(t)
		site.answer = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", tt.size)) }
		c := site.client(t, egress.Config{Resolver: names, MaxAnswer: 100})
		answer := test.Value(c.Do(t.Context(), get(t, "https://public.example.com/")))(t)
		got, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if !errors.Is(err, tt.want) || len(got) != min(tt.size, 100) {
			t.Errorf("read %d of %d bytes: %v, want %v", len(got), tt.size, err, tt.want)
		}
	}
}

func TestClient_Do_limitsHeaders(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	site.answer = func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Large", strings.Repeat("x", 1<<20)) }
	c := site.client(t, egress.Config{Resolver: names})
	answer, err := c.Do(t.Context(), get(t, "https://public.example.com/"))
	if err == nil {
		_ = answer.Body.Close()
		t.Errorf("status %d, want an error", answer.StatusCode)
	}
}

func TestClient_Do_limitsTime(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	site.answer = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	c := site.client(t, egress.Config{Resolver: names, Timeout: 50 * time.Millisecond})
	_, err := c.Do(t.Context(), get(t, "https://public.example.com/"))
	test.Is(t, "the class of the error", egress.ClassTimeout, egress.Class(err))
}

func TestClass(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	refused := func(context.Context, string, string) (net.Conn, error) { return net.Dial("tcp", closedPort(t)) }
	for _, tt := range []struct {
		name, url, want string
		c               *egress.Client
	}{
		{"unknown name", "https://nowhere.example.com/", egress.ClassName, site.client(t, egress.Config{Resolver: names})},
		{"closed port", "https://public.example.com/", egress.ClassRefused, site.client(t, egress.Config{Resolver: names, Dial: refused})},
		{"unknown authority", "https://public.example.com/", egress.ClassTLS, site.client(t, egress.Config{Resolver: names, Roots: x509.NewCertPool()})},
		{"other name", "https://8.8.8.8/", egress.ClassTLS, site.client(t, egress.Config{Resolver: names})},
	} {
		_, err := tt.c.Do(t.Context(), get(t, tt.url))
		test.Is(t, fmt.Sprintf("%s: class of %v", tt.name, err), tt.want, egress.Class(err))
	}
	c := site.client(t, egress.Config{Resolver: names})
	for url, want := range map[string]bool{"https://10.0.0.1/": true, "http://8.8.8.8/": true, "https://loopback.example.com/": false, "https://nowhere.example.com/": false} {
		_, err := c.Do(t.Context(), get(t, url))
		test.Is(t, fmt.Sprintf("Final of %q: %v", url, err), want, egress.Final(err))
	}
	test.Is(t, "class of nil", "", egress.Class(nil))
}

// With AllowPrivate, http and private addresses pass; addresses that are never a
// developer's server do not.
func TestClient_allowsPrivateForDevelopment(t *testing.T) {
	t.Parallel()
	c := newSite(t).client(t, egress.Config{Resolver: names, AllowPrivate: true})
	for url, want := range map[string]string{
		"http://127.0.0.1:8080/": "", "http://localhost:8080/": "", "https://10.0.0.5/": "", "http://[::1]:8080/": "", "http://[fd00::1]/": "", "http://loopback.example.com/": "",
		"http://169.254.169.254/": egress.RuleAddress, "http://metadata.google.internal/": egress.RuleHost, "http://[fe80::1]/": egress.RuleAddress,
		"http://[fd00:ec2::254]/": egress.RuleAddress, "http://[fd20:ce::254]/": egress.RuleAddress, "http://100.100.100.200/": egress.RuleAddress,
		"http://127.1/": egress.RuleSpelling, "http://a@localhost/": egress.RuleUser, "ftp://localhost/": egress.RuleScheme, "http://0.0.0.0/": egress.RuleAddress,
	} {
		var d *egress.Denied
		rule := ""
		if errors.As(c.Check(t.Context(), url), &d) {
			rule = d.Rule
		}
		test.Is(t, fmt.Sprintf("Check(%q): rule", url), want, rule)
	}
}

// Allow opens hosts, and addresses by whichever name they have, and nothing else: no denied
// host, and no http for a name that it does not have.
func TestClient_allowsHostsAndNetworks(t *testing.T) {
	t.Parallel()
	c := newSite(t).client(t, egress.Config{Resolver: names, Allow: []string{"127.0.0.0/8", "*.internal", "10.0.0.5", "169.254.0.0/16"}, Deny: []string{"no.internal"}})
	for url, want := range map[string]string{
		"http://127.0.0.1:8080/": "", "https://loopback.example.com/": "", "http://10.0.0.5/": "", "http://hooks.internal/": "",
		"http://loopback.example.com/": egress.RuleScheme, "https://10.0.0.6/": egress.RuleAddress, "http://10.0.0.6/": egress.RuleScheme, "http://localhost/": egress.RuleScheme,
		"https://localhost/": egress.RuleHost, "http://no.internal/": egress.RuleScheme, "https://no.internal/": egress.RuleHost,
		"http://169.254.169.254/": egress.RuleScheme, "https://169.254.169.254/": egress.RuleAddress, "http://metadata.google.internal/": egress.RuleScheme,
	} {
		var d *egress.Denied
		rule := ""
		if errors.As(c.Check(t.Context(), url), &d) {
			rule = d.Rule
		}
		test.Is(t, fmt.Sprintf("Check(%q): rule", url), want, rule)
	}
}

func TestNew_refusesDenyThatMeansNothing(t *testing.T) {
	t.Parallel()
	if _, err := egress.New(egress.Config{Deny: []string{"a.example", "*.b.example", "9.9.9.9", "9.0.0.0/8", "2a00::/16"}}); err != nil {
		t.Errorf("New: %v", err)
	}
	for _, text := range []string{"", "*", "*.", "*example.com", "*.10.0.0.1", "10.0.0.0/99", "a b/c d", "127.1"} {
		if _, err := egress.New(egress.Config{Deny: []string{text}}); err == nil {
			t.Errorf("Deny %q was accepted", text)
		}
		if _, err := egress.New(egress.Config{Allow: []string{text}}); err == nil {
			t.Errorf("Allow %q was accepted", text)
		}
	}
}

// The text of a refusal is the same for all rules: it is what a client sees.
func TestHost(t *testing.T) {
	for url, want := range map[string]string{
		"https://ann:key@hooks.example.com:8443/secret?token=t": "hooks.example.com",
		"http://[::1]/":            "::1",
		"hooks.example.com/secret": "",
		"https://%zz/":             "",
		"":                         "",
	} {
		test.Is(t, fmt.Sprintf("Host(%q)", url), want, egress.Host(url))
	}
}

func TestDenied_Error(t *testing.T) {
	t.Parallel()
	a, b := &egress.Denied{Rule: egress.RuleScheme, Detail: "x"}, &egress.Denied{Rule: egress.RuleAddress, Detail: "y"}
	test.Equal(t, "texts differ", a.Error(), b.Error())
}

// A site is a server on loopback. The clients that it makes connect to it
// wherever they dial.
type site struct {
	server   *httptest.Server
	answer   http.HandlerFunc
	dials    atomic.Int64
	dialed   atomic.Value
	requests atomic.Int64
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{}
	s.answer = func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto+" "+r.Host+" "+r.TLS.ServerName)
	}
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		s.answer(w, r)
	}))
	s.server.EnableHTTP2 = true
	s.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.server.StartTLS()
	t.Cleanup(s.server.Close)
	return s
}

func (s *site) client(t *testing.T, cfg egress.Config) *egress.Client {
	t.Helper()
	if cfg.Dial == nil {
		cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			s.dials.Add(1)
			s.dialed.Store(addr)
			var d net.Dialer
			return d.DialContext(ctx, network, s.server.Listener.Addr().String())
		}
	}
	if cfg.Roots == nil {
		cfg.Roots = x509.NewCertPool()
		cfg.Roots.AddCert(s.server.Certificate())
	}
	c := test.Value(egress.New(cfg))(t)
	t.Cleanup(c.Close)
	return c
}

func (s *site) get(t *testing.T, c *egress.Client, url string) string {
	t.Helper()
	answer := test.Value(c.Do(t.Context(), get(t, url)))(t)
	defer answer.Body.Close()
	body := test.Value(io.ReadAll(answer.Body))(t)
	return string(body)
}

func get(t *testing.T, url string) *http.Request {
	t.Helper()
	r := test.Value(http.NewRequest(http.MethodGet, url, nil))(t)
	return r
}

func closedPort(t *testing.T) string {
	t.Helper()
	l := test.Value(tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, nil }}))(t)
	defer l.Close()
	return l.Addr().String()
}

// A resolver has fixed addresses for names, with or without a dot at the end.
type resolver map[string][]string

func (r resolver) LookupNetIP(_ context.Context, _, host string) (out []netip.Addr, err error) {
	for _, text := range r[strings.TrimSuffix(host, ".")] {
		out = append(out, netip.MustParseAddr(text))
	}
	if len(out) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return out, nil
}

// rebinding answers each lookup with the next of its addresses.
type rebinding struct {
	answers []string
	next    atomic.Int64
}

func (r *rebinding) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr(r.answers[int(r.next.Add(1)-1)%len(r.answers)])}, nil
}

// CheckURL does not look up names; Private says which refusals AllowPrivate would undo.
func TestClient_CheckURL(t *testing.T) {
	c := test.Value(egress.New(egress.Config{Deny: []string{"denied.example.com", "10.1.0.0/16"}}))(t)
	defer c.Close()
	for _, tt := range []struct {
		url, rule string
		private   bool
	}{
		{"https://public.example.com/", "", false},
		{"https://loopback.invalid/", "", false},
		{"http://public.example.com/", `scheme: scheme "http"`, true},
		{"http://127.0.0.1:8000/", `scheme: scheme "http"`, true},
		{"https://localhost/", "host: host localhost", true},
		{"https://10.0.0.5/", "address: address 10.0.0.5", true},
		{"https://10.1.0.5/", "address: address 10.1.0.5", false},
		{"http://169.254.169.254/", `scheme: scheme "http"`, false},
		{"http://denied.example.com/", `scheme: scheme "http"`, false},
		{"ftp://public.example.com/", `scheme: scheme "ftp"`, false},
		{"https://user@10.0.0.5/", `user: host "10.0.0.5"`, false},
		{"https://%zz/", "form: not a URL", false},
	} {
		err := c.CheckURL(tt.url)
		if got := egress.Rule(err); got != tt.rule || egress.Private(err) != tt.private || (err == nil) != (tt.rule == "") {
			t.Errorf("%s: rule %q, private %t, want %q, %t", tt.url, got, egress.Private(err), tt.rule, tt.private)
		}
	}
}
