package identity_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/identity"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/access"
)

func TestAuthenticate_key(t *testing.T) {
	f := newFixture(t, identity.Config{})
	text, _ := f.key(t, func(k *access.APIKey) {
		k.Groups, k.Scopes = []string{"finance"}, []string{"runs:read", "approvals:respond", "of:a-later-version"}
	})
	want := call.Caller{Tenant: "acme", Principal: "ann", Groups: []string{"finance"}, Scopes: []call.Scope{call.ReadRuns, call.RespondApprovals}}
	for _, header := range [][]string{{"Authorization", "Bearer " + text}, {"Authorization", "bearer  " + text}, {"X-API-Key", text}} {
		for range 2 { // also from the cache
			got := test.Value(f.Authenticate(request(t, header...)))(t)
			test.Equal(t, header[0]+": caller", want, got)
		}
		wantStatus(t, header[0], f.calls(t, header...), http.StatusOK, 0)
	}
	secret := text[strings.LastIndexByte(text, '_')+1:]
	f.wantNoSecrets(t, secret)
}

// All wrong credentials get the same answer.
func TestAuthenticate_sameRefusal(t *testing.T) {
	f := newFixture(t, identity.Config{})
	good, _ := f.key(t)
	revoked, k := f.key(t)
	test.OK(t, f.journal.APIKeys.RevokeAPIKey(t.Context(), k.ID, a2a.At(f.clock.Now())))
	expired, _ := f.key(t, func(k *access.APIKey) { k.ExpiresAt = a2a.At(f.clock.Now()) })
	parts := strings.Split(good, "_")
	want := f.calls(t)
	wantStatus(t, "no credentials", want, http.StatusUnauthorized, grpcUnknown)
	if a := want["JSON-RPC"]; a.Challenge != `Bearer realm="longhaul"` || !strings.Contains(a.Body, `"code":-32000`) || !strings.Contains(a.Body, `"UNAUTHENTICATED"`) {
		t.Errorf("refusal: %+v", a)
	}
	for name, headers := range map[string][]string{
		"unknown key":      {"Authorization", "Bearer lh_" + strings.Repeat("a", 16) + "_" + parts[2]},
		"wrong secret":     {"Authorization", "Bearer lh_" + parts[1] + "_" + strings.Repeat("a", 52)},
		"no secret":        {"Authorization", "Bearer lh_" + parts[1] + "_"},
		"only the id":      {"Authorization", "Bearer lh_" + parts[1]},
		"nothing":          {"Authorization", "Bearer "},
		"revoked":          {"Authorization", "Bearer " + revoked},
		"expired":          {"X-API-Key", expired},
		"not a key":        {"X-API-Key", "secret"},
		"a token":          {"Authorization", "Bearer a.b.c"},
		"another scheme":   {"Authorization", "Basic " + good},
		"without a scheme": {"Authorization", good},
		"two headers":      {"Authorization", "Bearer " + good, "X-API-Key", good},
		"two keys":         {"X-API-Key", good, "X-API-Key", good},
		"cookies":          {"Cookie", "longhaul_session=" + good + "; __Host-longhaul_session=" + good},
	} {
		test.Equal(t, name+": answers", want, f.calls(t, headers...))
	}
	f.wantNoSecrets(t, parts[2], revoked, expired)
}

// A revocation works within seconds, an expiry at once.
func TestAuthenticate_revoked(t *testing.T) {
	f := newFixture(t, identity.Config{})
	text, k := f.key(t)
	short, _ := f.key(t, func(k *access.APIKey) { k.ExpiresAt = a2a.At(f.clock.Now().Add(time.Second)) })
	for _, key := range []string{text, short} {
		test.OK(t, test.Err(f.Authenticate(request(t, "X-API-Key", key))))
	}
	test.OK(t, f.journal.APIKeys.RevokeAPIKey(t.Context(), k.ID, a2a.At(f.clock.Now())))
	f.clock.move(time.Second)
	test.Fails(t, "an expired key is accepted", "", test.Err(f.Authenticate(request(t, "X-API-Key", short))))
	f.clock.move(2 * time.Second)
	test.Fails(t, "a revoked key is accepted", "", test.Err(f.Authenticate(request(t, "X-API-Key", text))))
}

// While keys cannot be read, callers get a retryable error.
func TestAuthenticate_keysUnavailable(t *testing.T) {
	f := newFixture(t, identity.Config{})
	text, _ := f.key(t)
	a := identity.New(identity.Config{Keys: broken{}})
	test.Error(t, "error", opt.ErrUnavailable, test.Err(a.Authenticate(request(t, "X-API-Key", text))))
	test.OK(t, f.journal.Close())
	wantStatus(t, "with a closed journal", f.calls(t, "X-API-Key", text), http.StatusServiceUnavailable, grpcUnavailable)
}

type broken struct{}

func (broken) APIKey(context.Context, string) (access.APIKey, error) {
	return access.APIKey{}, errors.New("disk full")
}

// A caller without the scope is known, and refused.
func TestAuthenticate_missingScope(t *testing.T) {
	f := newFixture(t, identity.Config{})
	text, _ := f.key(t, func(k *access.APIKey) { k.Scopes = []string{"runs:create"} })
	wantStatus(t, "without runs:read", f.calls(t, "X-API-Key", text), http.StatusForbidden, grpcDenied)
}

// An address that sends wrong credentials is slowed in sending more; every valid key still
// works from there.
func TestAuthenticate_flood(t *testing.T) {
	f := newFixture(t, identity.Config{})
	good, k := f.key(t)
	other, _ := f.key(t)
	from := func(addr, key string) error {
		r := request(t, "X-API-Key", key)
		r.RemoteAddr = addr
		_, err := f.Authenticate(r)
		return err
	}
	const bad = "[2001:db8::1]:1"
	var limited *call.Fault
	tries := 0
	for ; tries < 1000 && !errors.As(from(bad, "lh_x_y"), &limited); tries++ {
		f.clock.move(time.Millisecond)
		if err := from(bad, good); err != nil {
			t.Fatalf("after %d wrong keys: %v", tries, err)
		}
	}
	if tries != 100 || limited.Kind != call.RateLimited || limited.Retry != time.Second {
		t.Errorf("after %d wrong keys: %+v", tries, limited)
	}
	for _, tc := range []struct {
		name, addr, key string
		ok              bool
	}{
		{"the key from before", bad, good, true},
		{"another right key", bad, other, true},
		{"a wrong one from the same network", "[2001:db8::2]:1", "lh_x_z", false},
		{"from another", "[2001:db8:0:1::1]:1", other, true},
	} {
		if err := from(tc.addr, tc.key); (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	f.clock.move(3 * time.Second)
	test.Error(t, "after a second", nil, from(bad, other))
	for range 20 {
		_ = from(bad, "lh_x_y")
	}
	f.clock.move(10 * time.Millisecond)
	test.Error(t, "a key that was accepted, and is to be checked again", nil, from(bad, good))
	test.OK(t, f.journal.APIKeys.RevokeAPIKey(t.Context(), k.ID, a2a.At(f.clock.Now())))
	f.clock.move(3 * time.Second)
	for range 20 {
		_ = from(bad, "lh_x_y")
	}
	if err := from(bad, good); err == nil || errors.As(err, &limited) {
		t.Errorf("a key that was revoked since: %v", err)
	}
	if err := from(bad, good); !errors.As(err, &limited) {
		t.Errorf("a key that was revoked, again: %v", err)
	}
}

func TestNewKey(t *testing.T) {
	var a, b access.APIKey
	one, two := identity.NewKey(&a), identity.NewKey(&b)
	if one == two || a.ID == b.ID || len(one) != len("lh_")+16+1+52 {
		t.Errorf("keys %q and %q", one, two)
	}
	if identity.KeyID(one) != a.ID || identity.KeyID(a.ID) != a.ID {
		t.Errorf("the id of %q is %q", one, identity.KeyID(one))
	}
	if strings.Contains(string(a.Hash), one[20:]) {
		t.Error("the hash holds the secret")
	}
}

// Wrong keys through a proxy are counted by client, as the proxy names it, and never make that a
// valid key is refused.
func TestAuthenticate_floodThroughProxy(t *testing.T) {
	f := newFixture(t, identity.Config{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	from := func(sender, forwarded, key string) error {
		r := request(t, "X-API-Key", key)
		r.RemoteAddr = sender + ":1"
		r.Header.Set("X-Forwarded-For", forwarded)
		_, err := f.Authenticate(r)
		return err
	}
	for range 1000 {
		f.clock.move(8 * time.Millisecond)
		_ = from("10.0.0.1", "198.51.100.1, 203.0.113.7, 10.0.0.2", "lh_x_y")
	}
	for name, tc := range map[string]struct {
		sender, forwarded string
		limited           bool
	}{
		"the same client":                    {"10.0.0.1", "203.0.113.7", true},
		"itself":                             {"203.0.113.7", "", true},
		"itself, with a name it invents":     {"203.0.113.7", "198.51.100.9", true},
		"with a name it invents, by proxy":   {"10.0.0.9", "198.51.100.9,203.0.113.7", true},
		"another client":                     {"10.0.0.1", "198.51.100.1", false},
		"a client that the attacker named":   {"10.0.0.1", "203.0.113.7, 198.51.100.1", false},
		"an address that cannot be read":     {"10.0.0.1", "203.0.113.7, unknown", false},
		"a proxy that names no client":       {"10.0.0.1", "", false},
		"a proxy of others names the client": {"192.0.2.1", "203.0.113.7", false},
	} {
		var fault *call.Fault
		test.Is(t, name+": limited", tc.limited, errors.As(from(tc.sender, tc.forwarded, "lh_x_y"), &fault))
		fresh, _ := f.key(t)
		test.Error(t, name+": a fresh key", nil, from(tc.sender, tc.forwarded, fresh))
	}
}
