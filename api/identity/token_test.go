package identity_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"longhaul/api/call"
	"longhaul/api/identity"
	"longhaul/internal/test"
	"longhaul/opt"
)

const audience = "https://agent.example.com"

// A provider is an OpenID Connect provider with one key, which can be changed.
type provider struct {
	url   string
	down  atomic.Bool
	asked atomic.Int32 // for its keys

	mu     sync.Mutex
	server *oidctest.Server
	key    *rsa.PrivateKey
	kid    string
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch {
		case p.down.Load():
			w.WriteHeader(http.StatusBadGateway)
			return
		case r.URL.Path != "/.well-known/openid-configuration":
			p.asked.Add(1)
		}
		p.server.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	p.url = srv.URL
	p.rotate(t, "one")
	return p
}

// rotate replaces the key of the provider.
func (p *provider) rotate(t *testing.T, kid string) {
	t.Helper()
	key := newRSA(t)
	s := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: kid, Algorithm: oidc.RS256}}}
	s.SetIssuer(p.url)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server, p.key, p.kid = s, key, kid
}

func newRSA(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key := test.Value(rsa.GenerateKey(rand.Reader, 2048))(t)
	return key
}

type fields = map[string]any

// claims returns the claims of a good token, changed by more; nil removes one.
func (p *provider) claims(f *fixture, more fields) string {
	now := f.clock.Now().Unix()
	all := fields{"iss": p.url, "aud": audience, "sub": "ann", "iat": now, "exp": now + 3600, "scope": "openid runs:read"}
	maps.Copy(all, more)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	text, _ := json.Marshal(all)
	return string(text)
}

func (p *provider) token(f *fixture, more fields) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return oidctest.SignIDToken(p.key, p.kid, oidc.RS256, p.claims(f, more))
}

// accepts returns what a server accepts that trusts p.
func (p *provider) accepts(change ...func(*identity.Tokens)) identity.Config {
	cfg := identity.Tokens{Issuer: p.url, Audience: audience, Tenant: "acme", PrincipalClaim: "sub", GroupsClaim: "groups", ScopesClaim: "scope"}
	for _, f := range change {
		f(&cfg)
	}
	return identity.Config{Tokens: &cfg}
}

func TestAuthenticate_token(t *testing.T) {
	p := newProvider(t)
	for name, tc := range map[string]struct {
		claims fields
		change func(*identity.Tokens)
		want   call.Caller
	}{
		"default": {nil, func(*identity.Tokens) {}, call.Caller{Tenant: "acme", Principal: "ann", Scopes: []call.Scope{call.ReadRuns}}},
		"lists": {fields{"scope": []string{"runs:create", "runs:cancel x"}, "groups": []string{"a", "b"}, "aud": []string{"other", audience}},
			func(*identity.Tokens) {},
			call.Caller{Tenant: "acme", Principal: "ann", Groups: []string{"a", "b"}, Scopes: []call.Scope{call.CreateRuns, call.CancelRuns}}},
		"other claims": {fields{"org": "other", "email": "ann@example.com", "roles": "finance", "scp": "approvals:respond all"},
			func(c *identity.Tokens) {
				c.TenantClaim, c.PrincipalClaim, c.GroupsClaim, c.ScopesClaim = "org", "email", "roles", "scp"
			},
			call.Caller{Tenant: "other", Principal: "ann@example.com", Groups: []string{"finance"}, Scopes: []call.Scope{call.RespondApprovals}}},
		"without scopes": {fields{"scope": nil}, func(*identity.Tokens) {}, call.Caller{Tenant: "acme", Principal: "ann"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, p.accepts(tc.change))
			for range 2 {
				got := test.Value(f.Authenticate(request(t, "Authorization", "Bearer "+p.token(f, tc.claims))))(t)
				test.Equal(t, "caller", tc.want, got)
			}
		})
	}
	f := newFixture(t, p.accepts())
	wantStatus(t, "a good token", f.calls(t, "Authorization", "Bearer "+p.token(f, nil)), http.StatusOK, 0)
	wantStatus(t, "without the scope", f.calls(t, "Authorization", "Bearer "+p.token(f, fields{"scope": "openid"})), http.StatusForbidden, grpcDenied)
}

// Every bad token gets the same answer, over every binding.
func TestAuthenticate_badToken(t *testing.T) {
	p := newProvider(t)
	f := newFixture(t, p.accepts(func(c *identity.Tokens) { c.TenantClaim = "org" }))
	now := f.clock.Now().Unix()
	good := p.token(f, fields{"org": "acme"})
	parts := strings.Split(good, ".")
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	signed := func(key crypto.PrivateKey, kid string) string {
		return oidctest.SignIDToken(key, kid, oidc.RS256, p.claims(f, fields{"org": "acme"}))
	}
	der := test.Value(x509.MarshalPKIXPublicKey(p.key.Public()))(t)
	confused := part(`{"alg":"HS256","kid":"one"}`) + "." + parts[1]
	mac := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	mac.Write([]byte(confused))
	tokens := map[string]string{
		"expired":             p.token(f, fields{"org": "acme", "exp": now - 61}),
		"without expiry":      p.token(f, fields{"org": "acme", "exp": nil}),
		"not yet valid":       p.token(f, fields{"org": "acme", "nbf": now + 62}),
		"from the future":     p.token(f, fields{"org": "acme", "iat": now + 62}),
		"wrong audience":      p.token(f, fields{"org": "acme", "aud": "https://other.example.com"}),
		"no audience":         p.token(f, fields{"org": "acme", "aud": nil}),
		"wrong issuer":        p.token(f, fields{"org": "acme", "iss": "https://other.example.com"}),
		"no tenant":           p.token(f, nil),
		"tenant of no text":   p.token(f, fields{"org": 7}),
		"no principal":        p.token(f, fields{"org": "acme", "sub": nil}),
		"principal with line": p.token(f, fields{"org": "acme", "sub": "ann\nbob"}),
		"wrong key":           signed(newRSA(t), "one"),
		"unknown key":         signed(newRSA(t), "other"),
		"without signature":   part(`{"alg":"none"}`) + "." + parts[1] + ".",
		"alg none, signed":    part(`{"alg":"none","kid":"one"}`) + "." + parts[1] + "." + parts[2],
		"HS256, public key":   confused + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)),
		"tampered payload":    parts[0] + "." + part(p.claims(f, fields{"org": "other"})) + "." + parts[2],
		"cut":                 parts[0] + "." + parts[1],
		"no token":            "nothing-at-all",
	}
	wantStatus(t, "a good token", f.calls(t, "Authorization", "Bearer "+good), http.StatusOK, 0)
	want := f.calls(t)
	wantStatus(t, "no token", want, http.StatusUnauthorized, grpcUnknown)
	secrets := []string{parts[2]}
	for name, token := range tokens {
		test.Equal(t, name+": answers", want, f.calls(t, "Authorization", "Bearer "+token))
		secrets = append(secrets, token)
	}
	f.wantNoSecrets(t, secrets...)
}

// A clock may differ by a minute.
func TestAuthenticate_clockSkew(t *testing.T) {
	p := newProvider(t)
	f := newFixture(t, p.accepts())
	now := f.clock.Now().Unix()
	for name, claims := range map[string]fields{
		"expired a moment ago": {"exp": now - 59}, "valid in a moment": {"nbf": now + 59}, "made in a moment": {"iat": now + 59},
	} {
		test.Error(t, name, nil, test.Err(f.Authenticate(request(t, "Authorization", "Bearer "+p.token(f, claims)))))
	}
	f.clock.move(2 * time.Second)
	token := p.token(f, fields{"exp": now - 59})
	if _, err := f.Authenticate(request(t, "Authorization", "Bearer "+token)); err == nil {
		t.Error("a token is accepted after it has expired")
	}
}

// A new key of the provider is found when the first token with it comes; tokens
// with the old key are refused after that. Unknown keys cause few questions.
func TestAuthenticate_rotation(t *testing.T) {
	p := newProvider(t)
	f := newFixture(t, p.accepts())
	old := p.token(f, nil)
	for range 3 {
		wantStatus(t, "the first key", f.calls(t, "Authorization", "Bearer "+old), http.StatusOK, 0)
	}
	test.Is(t, "the provider was asked times for its key", 1, p.asked.Load())
	p.rotate(t, "two")
	wantStatus(t, "the second key", f.calls(t, "Authorization", "Bearer "+p.token(f, nil)), http.StatusOK, 0)
	f.clock.move(11 * time.Second) // the old token is not trusted any more without a check
	wantStatus(t, "the first key after the second", f.calls(t, "Authorization", "Bearer "+old), http.StatusUnauthorized, grpcUnknown)
	for range 20 {
		token := oidctest.SignIDToken(p.key, rand.Text(), oidc.RS256, p.claims(f, nil))
		if _, err := f.Authenticate(request(t, "Authorization", "Bearer "+token)); err == nil || errors.Is(err, opt.ErrUnavailable) {
			t.Errorf("an unknown key: %v", err)
		}
	}
	if n := p.asked.Load(); n > 6 {
		t.Errorf("the provider was asked %d times for its keys", n)
	}
	wantStatus(t, "the second key after that", f.calls(t, "Authorization", "Bearer "+p.token(f, nil)), http.StatusOK, 0)
}

// A key that the provider has withdrawn is refused after some minutes, also if no
// token with another key comes. The keys from before hold while the provider cannot
// be reached.
func TestAuthenticate_withdrawnKey(t *testing.T) {
	p := newProvider(t)
	f := newFixture(t, p.accepts())
	token := p.token(f, fields{"exp": f.clock.Now().Add(time.Hour).Unix()})
	accepted := func() bool {
		_, err := f.Authenticate(request(t, "Authorization", "Bearer "+token))
		return err == nil
	}
	if !accepted() {
		t.Error("refused")
	}
	f.clock.move(11 * time.Minute)
	if !accepted() || p.asked.Load() != 2 {
		t.Errorf("refused after the keys were read again, or they were read %d times", p.asked.Load())
	}
	p.down.Store(true)
	f.clock.move(11 * time.Minute)
	if !accepted() {
		t.Error("refused while the provider is down")
	}
	p.down.Store(false)
	p.rotate(t, "two")
	f.clock.move(2 * time.Minute)
	if accepted() {
		t.Error("accepted with a key that was withdrawn")
	}
}

// While the provider cannot be reached, callers get an error that asks them to try again,
// and API keys work. When it is back, tokens do too.
func TestAuthenticate_providerDown(t *testing.T) {
	p := newProvider(t)
	p.down.Store(true)
	f := newFixture(t, p.accepts())
	key, _ := f.key(t)
	token := p.token(f, nil)
	for range 2 {
		wantStatus(t, "while it is down", f.calls(t, "Authorization", "Bearer "+token), http.StatusServiceUnavailable, grpcUnavailable)
	}
	wantStatus(t, "a key", f.calls(t, "X-API-Key", key), http.StatusOK, 0)
	p.down.Store(false)
	f.clock.move(3 * time.Second)
	wantStatus(t, "after that", f.calls(t, "Authorization", "Bearer "+token), http.StatusOK, 0)
	p.down.Store(true)
	f.clock.move(time.Minute)
	wantStatus(t, "with a known key", f.calls(t, "Authorization", "Bearer "+p.token(f, nil)), http.StatusOK, 0)
	p.rotate(t, "two")
	wantStatus(t, "with a key that cannot be read", f.calls(t, "Authorization", "Bearer "+p.token(f, nil)), http.StatusServiceUnavailable, grpcUnavailable)
	f.wantNoSecrets(t, token)
}
