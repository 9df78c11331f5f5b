// Package identitytest has an OpenID Connect provider for tests. It signs in every user,
// and is strict about the requests of clients.
package identitytest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
)

// The client that a Provider knows, and the audience of its access tokens.
const (
	ClientID     = "console"
	ClientSecret = "the secret of the console"
	RedirectURL  = "https://agent.example.com/console/oidc/callback"
	Audience     = "https://agent.example.com"
)

// Lifetime is how long tokens are valid.
const Lifetime = time.Hour

// A Provider is an OpenID Connect provider. It is safe for concurrent use.
type Provider struct {
	URL string

	now func() time.Time
	key *rsa.PrivateKey

	mu       sync.Mutex
	settings Settings
	grants   map[string]grant // by code or refresh token; one is used once
	renewals int
}

// Settings say how a Provider behaves.
type Settings struct {
	Claims  map[string]any // of all tokens, beside the usual ones; nil removes one
	IDToken map[string]any // further claims of ID tokens

	Opaque    bool   // access tokens are not JSON Web Tokens
	NoRefresh bool   // there are no refresh tokens
	NoEnd     bool   // sessions at the provider cannot be ended by clients
	Deny      string // an error with which it sends browsers back; "" lets them in
	Down      bool   // it answers 502
}

// A grant is the data of a code or of a refresh token.
type grant struct{ nonce, challenge, redirect string }

// New starts a provider, which stops at the end of the test.
func New(t testing.TB, now func() time.Time) *Provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{now: now, key: key, grants: map[string]grant{}}
	keys := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "one", Algorithm: oidc.RS256}}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.Handle("GET /keys", keys)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.current().Down {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	p.URL = srv.URL
	keys.SetIssuer(srv.URL)
	return p
}

// Set changes the settings.
func (p *Provider) Set(change func(*Settings)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.settings)
}

// current returns the settings.
func (p *Provider) current() Settings {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settings
}

// Renewals returns how often a refresh token was used.
func (p *Provider) Renewals() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.renewals
}

func (p *Provider) discovery(w http.ResponseWriter, _ *http.Request) {
	about := map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{oidc.RS256}, "scopes_supported": []string{"openid", "offline_access"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic"},
	}
	if !p.current().NoEnd {
		about["end_session_endpoint"] = p.URL + "/end"
	}
	answer(w, http.StatusOK, about)
}

// authorize sends a browser back with a code.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != ClientID || q.Get("redirect_uri") != RedirectURL || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("audience") != Audience {
		http.Error(w, "invalid request: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}}
	if deny := p.current().Deny; deny != "" {
		back.Set("error", deny)
		back.Set("error_description", "Not in the group <b>staff</b>")
	} else {
		back.Set("code", p.grant(grant{q.Get("nonce"), q.Get("code_challenge"), q.Get("redirect_uri")}))
	}
	http.Redirect(w, r, RedirectURL+"?"+back.Encode(), http.StatusFound)
}

// grant returns a code or a refresh token for g.
func (p *Provider) grant(g grant) string {
	text := rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.grants[text] = g
	return text
}

// useGrant returns the grant of a code or of a refresh token, once.
func (p *Provider) useGrant(text string) (grant, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g, ok := p.grants[text]
	delete(p.grants, text)
	return g, ok
}

// token answers with tokens for a code or a refresh token.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	secret, _ = url.QueryUnescape(secret)
	if id != ClientID || secret != ClientSecret {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	g, ok := p.useGrant(r.PostFormValue("code"))
	if r.PostFormValue("grant_type") == "refresh_token" {
		p.mu.Lock()
		p.renewals++
		p.mu.Unlock()
		g, ok = p.useGrant(r.PostFormValue("refresh_token"))
	} else {
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		ok = ok && g.challenge == base64.RawURLEncoding.EncodeToString(sum[:]) && g.redirect == r.PostFormValue("redirect_uri")
	}
	if !ok {
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "The code is not valid"})
		return
	}
	s := p.current()
	out := map[string]any{"token_type": "Bearer", "expires_in": int(Lifetime.Seconds()), "access_token": rand.Text()}
	out["id_token"] = p.Token(map[string]any{"aud": ClientID, "nonce": g.nonce}, s.IDToken)
	if !s.Opaque {
		out["access_token"] = p.Token(map[string]any{"aud": Audience, "jti": rand.Text()})
	}
	if !s.NoRefresh {
		out["refresh_token"] = p.grant(g)
	}
	answer(w, http.StatusOK, out)
}

// Token returns a signed token with claims.
func (p *Provider) Token(more ...map[string]any) string {
	now := p.now().Unix()
	all := map[string]any{"iss": p.URL, "sub": "ann", "iat": now, "exp": now + int64(Lifetime.Seconds()), "scope": "openid runs:read approvals:respond"}
	for _, claims := range slices.Concat([]map[string]any{p.current().Claims}, more) {
		maps.Copy(all, claims)
	}
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	text, _ := json.Marshal(all) // it is made of texts and numbers
	return oidctest.SignIDToken(p.key, "one", oidc.RS256, string(text))
}

func answer(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client has disconnected
}
