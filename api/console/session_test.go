package console_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"longhaul/a2a"
	"longhaul/api"
	"longhaul/api/call"
	"longhaul/api/console"
	"longhaul/api/identity"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/access"
)

// A login is a site at which people sign in as they do at a real one.
type login struct {
	*site
	who  *identity.Authenticator
	read func() // called after a session was read; nil: nothing is
}

// beginLogin returns a site that accepts API keys and what cfg says, with the sessions of
// the journal.
func beginLogin(t *testing.T, cfg identity.Config, change ...func(*identity.Authenticator, *console.Config)) *login {
	t.Helper()
	l := &login{}
	// The authenticator needs the world of the site, which begin makes.
	l.site = begin(t, nil, func(c *console.Config) {
		cfg.Keys, cfg.Now = lateKeys{l}, c.Now
		l.who = identity.New(cfg)
		c.Authenticate, c.Sessions = l.who.Authenticate, signedIn(lateSessions{l}, c.Now)
		for _, f := range change {
			f(l.who, c)
		}
	})
	return l
}

// lateKeys and lateSessions are the journal of a login.
type (
	lateKeys     struct{ *login }
	lateSessions struct{ *login }
)

func (l lateKeys) APIKey(ctx context.Context, id string) (access.APIKey, error) {
	return l.world.Journal().APIKeys.APIKey(ctx, id)
}

func (l lateSessions) OpenSession(ctx context.Context, s access.Session) error {
	return l.world.Journal().Sessions.OpenSession(ctx, s)
}

func (l lateSessions) Session(ctx context.Context, id string, now time.Time) (access.Session, error) {
	s, err := l.world.Journal().Sessions.Session(ctx, id, now)
	if l.read != nil {
		l.read()
	}
	return s, err
}

func (l lateSessions) RenewSession(ctx context.Context, s access.Session, was a2a.Time) (bool, error) {
	return l.world.Journal().Sessions.RenewSession(ctx, s, was)
}

func (l lateSessions) CloseSession(ctx context.Context, id string) error {
	return l.world.Journal().Sessions.CloseSession(ctx, id)
}

// key makes an API key and returns its text and its id.
func (l *login) key(t *testing.T) (text, id string) {
	t.Helper()
	k := access.APIKey{Tenant: "acme", Principal: "ann", Scopes: []string{"runs:read"}, CreatedAt: a2a.At(l.world.Now())}
	text = identity.NewKey(&k)
	test.OK(t, l.world.Journal().APIKeys.AddAPIKey(t.Context(), k))
	return text, k.ID
}

// careful returns a browser that follows no redirects.
func (s *site) careful(t *testing.T) *browser {
	b := s.browser(t)
	b.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return b
}

// ended reports whether a page leads to the one for signing in, which says that the
// session has ended.
func (b *browser) ended(t *testing.T) bool {
	t.Helper()
	p := b.get("/console/inbox")
	return p.path == "/console/sign-in" && strings.Contains(p.text, "Your session has ended")
}

// A session ends within seconds when its key is revoked.
func TestSession_revokedKey(t *testing.T) {
	l := beginLogin(t, identity.Config{})
	key, id := l.key(t)
	b := l.signedIn(t, key)
	if b.get("/console/inbox").status != http.StatusOK {
		t.Fatal("the session does not work")
	}
	test.OK(t, l.world.Journal().APIKeys.RevokeAPIKey(t.Context(), id, a2a.At(l.world.Now())))
	l.world.Advance(2 * time.Second)
	if !b.ended(t) {
		t.Error("the session of a revoked key works, or the page does not say that it has ended")
	}
}

// A page that stays open with a revoked key is refused without the key: it does not count as
// wrong keys of the address.
func TestSession_revokedKeyInOpenPage(t *testing.T) {
	l := beginLogin(t, identity.Config{})
	key, id := l.key(t)
	b := l.signedIn(t, key)
	test.OK(t, l.world.Journal().APIKeys.RevokeAPIKey(t.Context(), id, a2a.At(l.world.Now())))
	l.world.Advance(2 * time.Second)
	for n := range 200 {
		if p := b.get("/console/inbox", "X-Console-Refresh", "1"); p.status != http.StatusUnauthorized {
			t.Fatalf("request %d of the page: %d %s", n, p.status, p.text)
		}
	}
	other, _ := l.key(t)
	l.browser(t).post("/console/sign-in", url.Values{"key": {other}}).shows(t, http.StatusOK)
	if !b.ended(t) {
		t.Error("the page does not say that the session has ended")
	}
}

// A session stays while its credential cannot be checked, or its address has to wait.
func TestSession_staysWhileUnchecked(t *testing.T) {
	var refusal error
	s := begin(t, nil, func(c *console.Config) {
		check := c.Authenticate
		c.Authenticate = func(r *http.Request) (call.Caller, error) {
			if refusal != nil {
				return call.Caller{}, refusal
			}
			return check(r)
		}
	})
	b := s.signedIn(t, "acme/ann")
	for _, refusal = range []error{opt.ErrUnavailable, &call.Fault{Kind: call.RateLimited, Message: "Too many wrong keys"}} {
		if p := b.get("/console/inbox"); p.status < http.StatusBadRequest {
			t.Errorf("%v: %d", refusal, p.status)
		}
	}
	refusal = nil
	if p := b.get("/console/inbox"); p.status != http.StatusOK || p.path != "/console/inbox" {
		t.Errorf("afterwards: %d at %s", p.status, p.path)
	}
}

// A session ends after 12 hours, also if it is used all the time.
func TestSession_expires(t *testing.T) {
	l := beginLogin(t, identity.Config{})
	key, _ := l.key(t)
	b := l.signedIn(t, key)
	for range 11 {
		l.world.Advance(time.Hour)
		if p := b.get("/console/inbox"); p.status != http.StatusOK || p.path != "/console/inbox" {
			t.Fatalf("within 12 hours: %d %s", p.status, p.path)
		}
	}
	l.world.Advance(time.Hour)
	if !b.ended(t) {
		t.Error("after 12 hours the session works, or the page does not say that it has ended")
	}
	b.get("/console/inbox").wants(t, "!ended")
}

// Each sign-in has a new secret, and closes the session that the browser had.
func TestSession_rotates(t *testing.T) {
	s := begin(t, nil)
	b := s.careful(t)
	form := url.Values{"key": {"acme/ann"}}
	first := b.post("/console/sign-in", form).header.Get("Set-Cookie")
	second := b.post("/console/sign-in", form).header.Values("Set-Cookie")
	if len(second) == 0 || first == "" || strings.Split(second[len(second)-1], ";")[0] == strings.Split(first, ";")[0] {
		t.Errorf("cookies %q, then %q", first, second)
	}
	test.Is(t, "sessions", 1, len(s.sessions.list))
	// A secret that others have chosen opens nothing.
	if p := s.browser(t).get("/console/inbox", "Authorization", "Bearer nobody", "Cookie", "longhaul_session=chosen"); p.path != "/console/sign-in" {
		t.Errorf("a secret that was chosen by others leads to %s", p.path)
	}
}

func TestSession_cookie(t *testing.T) {
	for name, tc := range map[string]struct {
		secure  bool
		proto   string
		encrypt bool
		want    []string
		not     string
	}{
		"plain":        {false, "", false, []string{"longhaul_session=", "Path=/console;", "HttpOnly", "SameSite=Lax", "Max-Age="}, "Secure"},
		"https":        {true, "", false, []string{"__Host-longhaul_session=", "Path=/;", "HttpOnly", "SameSite=Lax", "; Secure"}, "Domain"},
		"a proxy":      {false, "https", false, []string{"longhaul_session=", "; Secure", "HttpOnly"}, "__Host-"},
		"a proxy lies": {true, "http", false, []string{"__Host-longhaul_session=", "; Secure"}, "Domain"},
		"own TLS":      {false, "", true, []string{"; Secure"}, "Domain"},
	} {
		s := begin(t, nil, func(c *console.Config) { c.Secure = tc.secure })
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/console/sign-in", strings.NewReader("key=acme/ann"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("X-Forwarded-Proto", tc.proto)
		if tc.encrypt {
			r.TLS = &tls.ConnectionState{}
		}
		w := httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(w, r)
		got := w.Header().Get("Set-Cookie")
		for _, want := range tc.want {
			test.Contains(t, name+": the cookie", want, got)
		}
		if strings.Contains(got, tc.not) {
			t.Errorf("%s: the cookie %q has %q", name, got, tc.not)
		}
		// With https, a cookie without the prefix is none of ours.
		cookie, _, _ := strings.Cut(strings.TrimPrefix(got, "__Host-"), ";")
		r = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/console/inbox", nil)
		r.Header.Set("Cookie", cookie)
		r.Header.Set("Authorization", "Bearer nobody")
		w = httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(w, r)
		if (w.Code == http.StatusOK) == tc.secure {
			t.Errorf("%s: the cookie without the prefix gives %d", name, w.Code)
		}
	}
}

// Floods of wrong keys are slowed, for the address that they come from.
func TestSignIn_flood(t *testing.T) {
	l := beginLogin(t, identity.Config{})
	good, _ := l.key(t)
	b := l.browser(t)
	var p page
	tries := 0
	for ; tries < 1000 && p.status != http.StatusTooManyRequests; tries++ {
		p = b.post("/console/sign-in", url.Values{"key": {"lh_wrong_key"}})
	}
	if tries != 101 || !strings.Contains(p.text, "Too many wrong keys") {
		t.Errorf("after %d tries: %d %s", tries, p.status, p.text)
	}
	b.post("/console/sign-in", url.Values{"key": {good}}).shows(t, http.StatusOK)
}

// The cookie of a session is a credential for the pages alone.
func TestSession_onlyForPages(t *testing.T) {
	l := beginLogin(t, identity.Config{}, func(_ *identity.Authenticator, c *console.Config) { c.Secure = true }) // so that the cookie goes to all paths
	key, _ := l.key(t)
	b := l.careful(t)
	cookie, _, _ := strings.Cut(b.post("/console/sign-in", url.Values{"key": {key}}).header.Get("Set-Cookie"), ";")
	if p := b.get("/console/inbox", "Cookie", cookie); p.status != http.StatusOK {
		t.Fatalf("the inbox with %s: %d", cookie, p.status)
	}
	for _, to := range []struct{ verb, path, body string }{
		{http.MethodPost, "/a2a", `{"jsonrpc":"2.0","id":1,"method":"ListTasks"}`},
		{http.MethodPost, "/", `{"jsonrpc":"2.0","id":1,"method":"ListTasks"}`},
		{http.MethodGet, "/a2a/rest/tasks", ""},
		{http.MethodGet, "/tasks", ""},
		{http.MethodGet, "/v1/runs/x", ""},
	} {
		b.do(to.verb, to.path, to.body, "Cookie", cookie, "A2A-Version", "1.0", "Content-Type", "application/json").shows(t, http.StatusUnauthorized)
	}
}

// Reading a page changes nothing, whichever it is.
func TestConsole_readsChangeNothing(t *testing.T) {
	s := begin(t, nil)
	b := s.signedIn(t, "acme/ann")
	for _, path := range []string{"/console/sign-out", "/console/sign-in?key=acme/ann", "/console/oidc/sign-in", "/console/oidc/callback?code=x&state=y"} {
		for _, verb := range []string{http.MethodGet, http.MethodHead, http.MethodPut} {
			b.do(verb, path, "", "Sec-Fetch-Site", "same-origin")
		}
		if p := b.get("/console/inbox", "Authorization", "Bearer nobody"); len(s.sessions.list) != 1 || p.path != "/console/inbox" {
			t.Errorf("%s changed the sessions: %d, and the inbox is at %s", path, len(s.sessions.list), p.path)
		}
	}
}

// Browsers without Sec-Fetch-Site send the origin of a form.
func TestConsole_refusesOtherOrigins(t *testing.T) {
	s := begin(t, nil)
	host := strings.TrimPrefix(s.URL, "http://")
	for origin, want := range map[string]int{"https://evil.example": http.StatusForbidden, "null": http.StatusForbidden, "http://" + host: http.StatusSeeOther} {
		b := s.careful(t)
		p := b.do(http.MethodPost, "/console/sign-in", "key=acme/ann", "Content-Type", "application/x-www-form-urlencoded", "Origin", origin)
		p.shows(t, want)
	}
	// A page that may call the API may not send forms to the console.
	trusted := api.New(api.Config{Service: s.service, Origins: []string{"https://app.example.com"}, Authenticate: anyone,
		Console: console.New(console.Config{Service: s.service, Authenticate: anyone})})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/console/sign-out", nil)
	r.Header.Set("Origin", "https://app.example.com")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	trusted.ServeHTTP(w, r)
	test.Is(t, "a form of a page that may call the API", http.StatusForbidden, w.Code)
}

func anyone(*http.Request) (call.Caller, error) { return servicetest.Caller("anonymous") }

// A server without authentication answers only to its own names: a page cannot make its
// own name lead to the console.
func TestConsole_hosts(t *testing.T) {
	s := begin(t, nil)
	h := api.New(api.Config{Service: s.service, Hosts: []string{"localhost"}, Authenticate: anyone,
		Console: console.New(console.Config{Service: s.service, Authenticate: anyone})})
	for host, want := range map[string]int{"localhost:7420": http.StatusOK, "127.0.0.1:7420": http.StatusOK, "evil.example:7420": http.StatusMisdirectedRequest} {
		for _, path := range []string{"/console/inbox", "/console/assets/console.js"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			r.Host = host
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			test.Is(t, fmt.Sprintf("%s of %s", path, host), want, w.Code)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/console/sign-out", nil)
	r.Host = "localhost:7420"
	r.Header.Set("Origin", "https://evil.example")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	test.Is(t, "a form of another origin", http.StatusForbidden, w.Code)
}

// A browser with a client certificate needs no session; one without is asked for it.
func TestConsole_certificate(t *testing.T) {
	who := identity.New(identity.Config{Certificates: &identity.Certificates{Tenant: "acme", Scopes: call.Scopes()}})
	s := begin(t, nil, func(c *console.Config) { c.Authenticate, c.Sessions, c.NoKeys = who.Authenticate, nil, true })
	show := func(path string, state *tls.ConnectionState) (*httptest.ResponseRecorder, string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.TLS = state
		w := httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(w, r)
		return w, textOf(w.Body.String())
	}
	verified := &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{{Subject: pkix.Name{CommonName: "ann of acme"}, NotAfter: time.Now().AddDate(100, 0, 0)}}}}
	if w, text := show("/console/inbox", verified); w.Code != http.StatusOK || !strings.Contains(text, "ann of acme") || strings.Contains(text, "Sign out") {
		t.Errorf("with a certificate: %d %s", w.Code, text)
	}
	if w, text := show("/console/inbox", &tls.ConnectionState{}); w.Code != http.StatusUnauthorized || !strings.Contains(text, "client certificate") {
		t.Errorf("without one: %d %s", w.Code, text)
	}
	if w, _ := show("/console/sign-in", verified); w.Header().Get("Location") != "/console/inbox" {
		t.Errorf("the page for signing in leads to %d %q", w.Code, w.Header().Get("Location"))
	}
}

// Tokens alone are accepted where people cannot sign in with keys.
func TestSignIn_noKeys(t *testing.T) {
	s := begin(t, nil, func(c *console.Config) { c.NoKeys = true })
	b := s.careful(t)
	b.get("/console/sign-in").wants(t, "!API key")
	b.post("/console/sign-in", url.Values{"key": {"acme/ann"}})
	test.Is(t, "sessions", 0, len(s.sessions.list))
}

// A form for which the server has no room is refused as a call too many.
func TestConsole_busy(t *testing.T) {
	s := begin(t, nil)
	r := httptest.NewRequest(http.MethodPost, "/console/sign-in", iotest.ErrReader(call.TooMany(time.Second)))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.Config.Handler.ServeHTTP(w, r)
	test.Is(t, "status", http.StatusTooManyRequests, w.Code)
}
