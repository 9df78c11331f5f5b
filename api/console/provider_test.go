package console_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"longhaul/api/console"
	"longhaul/api/identity"
	"longhaul/api/identity/identitytest"
	"longhaul/internal/seal"
	"longhaul/internal/test"
)

// beginProvider returns a site whose people sign in with a provider.
func beginProvider(t *testing.T, change ...func(*identity.Tokens, *identity.Client)) (*login, *identitytest.Provider) {
	t.Helper()
	var l *login
	p := identitytest.New(t, func() time.Time { return l.world.Now() })
	tokens := identity.Tokens{Issuer: p.URL, Audience: identitytest.Audience, Tenant: "acme", PrincipalClaim: "sub", GroupsClaim: "groups", ScopesClaim: "scope"}
	client := identity.Client{ID: identitytest.ClientID, Secret: identitytest.ClientSecret, RedirectURL: identitytest.RedirectURL, SignedOutURL: identitytest.Audience + console.SignedOutPath}
	for _, f := range change {
		f(&tokens, &client)
	}
	box := test.Value(seal.New([]byte(strings.Repeat("k", 32))))(t)
	l = beginLogin(t, identity.Config{Tokens: &tokens}, func(who *identity.Authenticator, c *console.Config) {
		c.Sessions.SignIn, c.Provider = who.SignIn(client, box), "id.example.com"
	})
	return l, p
}

// leave sends a browser to the provider, and returns the path at which it comes back.
func (b *browser) leave(next string) string {
	b.t.Helper()
	p := b.get("/console/oidc/sign-in?next=" + url.QueryEscape(next))
	to := p.header.Get("Location")
	if p.status != http.StatusSeeOther || to == "" {
		b.t.Fatalf("the way to the provider: %d %s", p.status, p.text)
	}
	r := test.Value(http.NewRequestWithContext(b.t.Context(), http.MethodGet, to, nil))(b.t)
	w := test.Value(b.http.Do(r))(b.t)
	defer func() { _ = w.Body.Close() }()
	back, err := w.Location()
	if err != nil {
		text, _ := io.ReadAll(w.Body)
		b.t.Fatalf("the provider answers %d %s", w.StatusCode, text)
	}
	return back.RequestURI()
}

// throughProvider returns a browser that has signed in with the provider.
func (l *login) throughProvider(t *testing.T) *browser {
	t.Helper()
	b := l.careful(t)
	p := b.get(b.leave("/console/inbox?page=2"))
	if to := p.header.Get("Location"); to != "/console/inbox?page=2" {
		t.Fatalf("the provider leads to %d %q: %s", p.status, to, p.text)
	}
	return b
}

func (b *browser) works() bool {
	b.t.Helper()
	return b.get("/console/inbox").status == http.StatusOK
}

// The whole flow, with tokens that are accepted and others that are not.
func TestProvider_signsIn(t *testing.T) {
	for name, tc := range map[string]struct {
		settings identitytest.Settings
		tenant   string // claim with the tenant
		want     string // on the page; "" for one that shows the caller
	}{
		"access token":            {identitytest.Settings{}, "", ""},
		"tenant from a claim":     {identitytest.Settings{Claims: map[string]any{"org": "globex"}}, "org", ""},
		"no tenant in the token":  {identitytest.Settings{}, "org", "does not accept what it says about you"},
		"opaque access token":     {identitytest.Settings{Opaque: true}, "", "does not accept what it says about you"},
		"ID token as credential":  {identitytest.Settings{Opaque: true, IDToken: map[string]any{"aud": []string{identitytest.ClientID, identitytest.Audience}}}, "", ""},
		"ID token of another one": {identitytest.Settings{IDToken: map[string]any{"aud": "other"}}, "", "does not accept what it says about you"},
		"wrong nonce":             {identitytest.Settings{IDToken: map[string]any{"nonce": "other"}}, "", "does not accept what it says about you"},
		"wrong access token":      {identitytest.Settings{IDToken: map[string]any{"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}}, "", "does not accept what it says about you"},
		"expired token":           {identitytest.Settings{Claims: map[string]any{"exp": 1}}, "", "does not accept what it says about you"},
		"denied":                  {identitytest.Settings{Deny: "access_denied"}, "", "The provider has refused (access_denied: Not in the group <b>staff</b>). Ask those who run the provider"},
	} {
		t.Run(name, func(t *testing.T) {
			l, p := beginProvider(t, func(to *identity.Tokens, _ *identity.Client) { to.TenantClaim = tc.tenant })
			p.Set(func(s *identitytest.Settings) { *s = tc.settings })
			b := l.careful(t)
			if text := b.get("/console/sign-in").text; !strings.Contains(text, "Sign in with id.example.com") || !strings.Contains(text, "API key") {
				t.Errorf("the page does not offer both ways: %s", text)
			}
			if b.works() {
				t.Fatal("the inbox needs no session")
			}
			got := b.get(b.leave("/console/inbox"))
			if tc.want != "" {
				if got.status != http.StatusUnauthorized || !strings.Contains(got.text, tc.want) || b.works() {
					t.Errorf("signing in: %d %s", got.status, got.text)
				}
				return
			}
			inbox := b.get(got.header.Get("Location"))
			tenant := "acme"
			if tc.tenant != "" {
				tenant = "globex"
			}
			inbox.shows(t, http.StatusOK)
			inbox.holds(t, "ann", tenant)
		})
	}
}

// What a browser brings back counts once, and only in the browser that was sent.
func TestProvider_replay(t *testing.T) {
	l, _ := beginProvider(t)
	b := l.careful(t)
	back := b.leave("/console/inbox")
	const over = "This sign-in was not begun in this browser, took too long, or is over."
	other := l.careful(t)
	other.get(back).shows(t, http.StatusBadRequest, over)
	other.leave("/console/inbox")
	other.get(back).shows(t, http.StatusBadRequest, over)
	if p := b.get(back); p.status != http.StatusSeeOther || !b.works() {
		t.Fatalf("in the browser that was sent: %d %s", p.status, p.text)
	}
	b.get(back).shows(t, http.StatusBadRequest, over)
	// A code that was used, or belongs to another attempt, is refused by the provider.
	code := url.Values{}
	if u, err := url.Parse(back); err == nil {
		code.Set("code", u.Query().Get("code"))
	}
	late := l.careful(t)
	mine := test.Value(url.Parse(late.leave("/console/inbox")))(t)
	code.Set("state", mine.Query().Get("state"))
	if p := late.get("/console/oidc/callback?" + code.Encode()); p.status != http.StatusUnauthorized || !strings.Contains(p.text, "invalid_grant") || late.works() {
		t.Errorf("with the code of another attempt: %d %s", p.status, p.text)
	}
	slow := l.careful(t)
	back = slow.leave("/console/inbox")
	l.world.Advance(15 * time.Minute)
	slow.get(back).shows(t, http.StatusBadRequest, over)
}

// The cookie with an attempt has no readable content, and others cannot make one.
func TestProvider_attempt(t *testing.T) {
	l, _ := beginProvider(t)
	b := l.careful(t)
	p := b.get("/console/oidc/sign-in?next=https://evil.example/")
	cookie := p.header.Get("Set-Cookie")
	state := strings.SplitAfter(p.header.Get("Location"), "state=")[1]
	if !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") || strings.Contains(cookie, state) {
		t.Errorf("cookie %q", cookie)
	}
	if to := p.header.Get("Location"); !strings.Contains(to, "code_challenge_method=S256") || !strings.Contains(to, "scope=offline_access+openid") {
		t.Errorf("the provider is asked with %s", to)
	}
	forged := `longhaul_sign_in=eyJTdGF0ZSI6IngifQ`
	l.careful(t).get("/console/oidc/callback?code=x&state=x", "Cookie", forged).shows(t, http.StatusBadRequest)
}

// The token of a session is renewed before it expires, once.
func TestProvider_renews(t *testing.T) {
	l, p := beginProvider(t)
	b := l.throughProvider(t)
	l.world.Advance(identitytest.Lifetime - 2*time.Minute)
	if !b.works() || p.Renewals() != 0 {
		t.Fatalf("%d renewals while the token is valid", p.Renewals())
	}
	for n := range 3 {
		l.world.Advance(90 * time.Second) // past the time for the renewal, or past the end of the token
		const requests = 8
		var pages, all sync.WaitGroup
		var reads atomic.Int32
		all.Add(requests)
		l.read = func() { // all requests find that the token has to be renewed
			if reads.Add(1) <= requests {
				all.Done()
				all.Wait()
			}
		}
		for range requests {
			pages.Go(func() {
				if !b.works() {
					t.Error("the session has ended")
				}
			})
		}
		pages.Wait()
		l.read = nil
		test.Is(t, "renewals", n+1, p.Renewals())
		l.world.Advance(identitytest.Lifetime - 61*time.Second + time.Duration(n)*time.Minute)
	}
}

// A session outlives a provider that is down, and ends when the provider says so.
func TestProvider_down(t *testing.T) {
	l, p := beginProvider(t)
	b := l.throughProvider(t)
	down := func(is bool) { p.Set(func(s *identitytest.Settings) { s.Down = is }) }
	down(true)
	l.world.Advance(identitytest.Lifetime - 30*time.Second)
	if !b.works() {
		t.Error("the session does not work while its token is valid")
	}
	down(false)
	l.world.Advance(16 * time.Second) // three requests of the provider, 5 seconds each, may take 15
	if !b.works() || p.Renewals() != 0 {
		t.Errorf("%d renewals while a former one may still be under way", p.Renewals())
	}
	down(true)
	l.world.Advance(44 * time.Second)
	b.get("/console/inbox").shows(t, http.StatusServiceUnavailable)
	l.careful(t).get("/console/oidc/sign-in").shows(t, http.StatusSeeOther)
	down(false)
	l.world.Advance(30 * time.Second)
	if !b.works() {
		t.Error("the session does not work when the provider is up again")
	}
	p.Set(func(s *identitytest.Settings) { s.Claims = map[string]any{"sub": "eve"} })
	l.world.Advance(identitytest.Lifetime)
	b.http.CheckRedirect = nil
	if !b.ended(t) {
		t.Error("the session works with a token of another caller")
	}
}

func TestProvider_neverUp(t *testing.T) {
	l, p := beginProvider(t)
	p.Set(func(s *identitytest.Settings) { s.Down = true })
	l.careful(t).get("/console/oidc/sign-in").shows(t, http.StatusServiceUnavailable, "The provider does not answer", "API key")
}

// Without a refresh token a session ends with its token.
func TestProvider_noRefresh(t *testing.T) {
	l, p := beginProvider(t)
	p.Set(func(s *identitytest.Settings) { s.NoRefresh = true })
	b := l.throughProvider(t)
	l.world.Advance(identitytest.Lifetime - time.Second)
	if !b.works() {
		t.Error("the session ends before its token")
	}
	l.world.Advance(time.Second)
	b.http.CheckRedirect = nil
	if !b.ended(t) {
		t.Error("the session works after its token, or the page does not say that it has ended")
	}
}

func TestProvider_misconfigured(t *testing.T) {
	l, _ := beginProvider(t, func(_ *identity.Tokens, c *identity.Client) { c.Secret = "wrong" })
	b := l.careful(t)
	b.get(b.leave("/console/inbox")).wants(t, "invalid_client", "compare its settings for the client")
}

// Signing out ends the session at the provider, too, if clients can do that.
func TestProvider_signsOut(t *testing.T) {
	for _, ends := range []bool{true, false} {
		l, p := beginProvider(t)
		p.Set(func(s *identitytest.Settings) { s.NoEnd = !ends })
		b := l.throughProvider(t)
		got := b.post("/console/sign-out", nil)
		if b.works() {
			t.Error("the session works after signing out")
		}
		if !ends {
			test.Is(t, fmt.Sprintf("signing out leads to %d", got.status), "/console/sign-in", got.header.Get("Location"))
			continue
		}
		to, err := url.Parse(strings.TrimPrefix(got.header.Get("Refresh"), "0; url="))
		if err != nil || !strings.HasPrefix(to.String(), p.URL+"/end?") || !strings.Contains(got.text, "Sign out there, too") {
			t.Fatalf("signing out: %d %q %s", got.status, got.header.Get("Refresh"), got.text)
		}
		q := to.Query()
		if q.Get("id_token_hint") == "" || q.Get("client_id") != identitytest.ClientID || q.Get("post_logout_redirect_uri") != "https://agent.example.com/console/sign-in" {
			t.Errorf("the provider is asked with %v", q)
		}
	}
}
