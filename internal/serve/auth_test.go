package serve

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/a2a"
	"longhaul/api/card"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/access"
)

// Where callers are authenticated, any address may be listened at.
func TestAPISettings_reach(t *testing.T) {
	for name, tc := range map[string]struct {
		settings apiSettings
		warning  string
	}{
		"loopback":             {apiSettings{Addr: "127.0.0.1:0"}, ""},
		"allowed for anyone":   {apiSettings{Addr: "0.0.0.0:0", authSettings: authSettings{AllowAnyone: true}}, "ANYONE WHO CAN REACH THIS ADDRESS"},
		"keys, over plain TCP": {apiSettings{Addr: ":0", authSettings: authSettings{Auth: []string{"keys"}}}, "unencrypted"},
		"keys, on loopback":    {apiSettings{Addr: "127.0.0.1:0", authSettings: authSettings{Auth: []string{"keys"}}}, ""},
		"gRPC over plain TCP":  {apiSettings{Addr: "127.0.0.1:0", GRPCAddr: ":0", authSettings: authSettings{Auth: []string{"keys"}}}, "unencrypted"},
		"keys and TLS":         {apiSettings{Addr: ":0", authSettings: authSettings{Auth: []string{"keys"}, TLSCert: "a", TLSKey: "b"}}, ""},
	} {
		test.Error(t, name, nil, tc.settings.checkAccess())
		core, logs := observer.New(zap.WarnLevel)
		tc.settings.warnAuth(zap.New(core))
		var got string
		for _, entry := range logs.All() {
			got += entry.Message
		}
		if (tc.warning == "") != (got == "") || !strings.Contains(got, tc.warning) {
			t.Errorf("%s: warned %q, want %q", name, got, tc.warning)
		}
	}
}

// A page can make its own host name resolve to this machine, so that only the names of the
// server are served, also where callers are authenticated.
func TestAPISettings_hosts(t *testing.T) {
	anyone, keys := authSettings{AllowAnyone: true}, authSettings{Auth: []string{"keys"}}
	for name, tc := range map[string]struct {
		settings apiSettings
		want     []string
	}{
		"loopback":        {apiSettings{Addr: "127.0.0.1:0"}, []string{"localhost", "127.0.0.1"}},
		"anyone":          {apiSettings{Addr: ":0", authSettings: anyone, Hosts: []string{"Proxy."}}, []string{"localhost", "proxy"}},
		"keys":            {apiSettings{Addr: "pod:0", authSettings: keys, linkSettings: linkSettings{PublicURL: "https://Agent.example.com"}}, []string{"localhost", "agent.example.com", "pod"}},
		"any, explicitly": {apiSettings{Addr: ":0", authSettings: keys, Hosts: []string{"*"}}, nil},
	} {
		test.Equal(t, name+": hosts", tc.want, tc.settings.hosts())
	}
}

// Addresses on the card that lead nowhere are warned of.
func TestAPISettings_warnCard(t *testing.T) {
	const noURL, noGRPC = "The agent card has no URL", "The agent card has no address of gRPC"
	for name, tc := range map[string]struct {
		settings apiSettings
		want     []string
	}{
		"loopback":       {apiSettings{Addr: "127.0.0.1:0", GRPCAddr: "[::1]:0"}, nil},
		"one address":    {apiSettings{Addr: "192.0.2.1:0"}, nil},
		"every address":  {apiSettings{Addr: ":0", GRPCAddr: "0.0.0.0:0"}, []string{noURL, noGRPC}},
		"a public URL":   {apiSettings{Addr: "0.0.0.0:0", GRPCAddr: "[::]:0", linkSettings: linkSettings{PublicURL: "https://agent.example.com"}}, nil},
		"gRPC alone":     {apiSettings{Addr: "127.0.0.1:0", GRPCAddr: "[::]:0"}, []string{noGRPC}},
		"gRPC is public": {apiSettings{Addr: "[::]:0", GRPCAddr: "[::]:0", PublicGRPCAddr: "agent.example.com:443"}, []string{noURL}},
	} {
		core, logs := observer.New(zap.WarnLevel)
		tc.settings.warnCard(zap.New(core))
		var got []string
		for _, entry := range logs.All() {
			text, _, _ := strings.Cut(entry.Message, " that clients on other machines can use: set --public-")
			got = append(got, text)
		}
		test.Equal(t, name+": warnings", tc.want, got)
	}
}

// The card names exactly the credentials that are accepted, and the extended card
// exists exactly where callers are authenticated.
func TestAuthority_describe(t *testing.T) {
	for _, tc := range []struct {
		auth []string
		want []string
	}{
		{nil, nil},
		{[]string{"none"}, nil},
		{[]string{"keys"}, []string{"bearer", "key"}},
		{[]string{"oidc"}, []string{"oidc"}},
		{[]string{"mtls"}, []string{"certificate"}},
		{[]string{"mtls", "oidc", "keys"}, []string{"bearer", "key", "oidc", "certificate"}},
	} {
		s := authSettings{Auth: tc.auth, OIDCIssuer: "https://id.example.com/", OIDCAudience: "a"}
		info := card.Info{Skills: []card.Skill{{ID: "x"}}}
		s.authority(journal.APIKeys{}).Describe(&info)
		var names []string
		for _, r := range info.Requirements {
			for name := range r {
				if _, ok := info.Schemes[name]; !ok {
					t.Errorf("%v: no scheme %s", tc.auth, name)
				}
				names = append(names, name)
			}
		}
		if diff := cmp.Diff(tc.want, names); diff != "" || len(info.Schemes) != len(names) {
			t.Errorf("%v: %d schemes, requirements mismatch (-want +got):\n%s", tc.auth, len(info.Schemes), diff)
		}
		if oidc, ok := info.Schemes["oidc"]; ok && oidc.OpenIDConnectURL != "https://id.example.com/.well-known/openid-configuration" {
			t.Errorf("scheme %+v", oidc)
		}
		extended := s.extendedCard(info)
		if (extended == nil) != (len(tc.want) == 0) || extended != nil && extended.Skills != nil {
			t.Errorf("%v: extended card %+v", tc.auth, extended)
		}
	}
}

// A server without a valid credential logs a warning.
func TestAuthSettings_warnNoKeys(t *testing.T) {
	valid, revoked := access.APIKey{}, access.APIKey{RevokedAt: a2a.AtMillis(1)}
	for name, tc := range map[string]struct {
		auth []string
		keys fixedKeys
		want int
	}{
		"no key":         {[]string{"keys"}, nil, 1},
		"a revoked key":  {[]string{"keys"}, fixedKeys{revoked}, 1},
		"a valid key":    {[]string{"keys"}, fixedKeys{revoked, valid}, 0},
		"other means":    {[]string{"keys", "mtls"}, nil, 0},
		"no credentials": {[]string{"none"}, nil, 0},
	} {
		core, logs := observer.New(zap.WarnLevel)
		authSettings{Auth: tc.auth}.warnNoKeys(zap.New(core), tc.keys)
		test.Is(t, name+": warnings", tc.want, logs.Len())
	}
}

type fixedKeys []access.APIKey

func (k fixedKeys) APIKeys(context.Context) ([]access.APIKey, error) { return slices.Clone(k), nil }

// fixedSeats are the places of a deputy.
type fixedSeats struct {
	absences
	seats []opt.Seat
}

func (f fixedSeats) Seats(context.Context, string, string) ([]opt.Seat, error) { return f.seats, nil }

// A deputy has the places of those alone who may answer still, with the groups that they still have.
func TestKeptSeats(t *testing.T) {
	key := func(principal string, revoked int64, groups ...string) access.APIKey {
		return access.APIKey{Tenant: "acme", Principal: principal, Groups: groups, Scopes: []string{"approvals:respond"}, RevokedAt: a2a.AtMillis(revoked)}
	}
	keys := fixedKeys{key("bob", 0, "leads"), key("dora", 1, "leads")}
	seat := func(principal string, groups ...string) opt.Seat {
		return opt.Seat{Principal: principal, Groups: groups}
	}
	seats := fixedSeats{seats: []opt.Seat{seat("bob", "leads", "heads"), seat("dora", "leads"), seat("eve", "leads")}}
	got, err := keptSeats{seats, keys}.Seats(t.Context(), "acme", "carol")
	if want := []opt.Seat{seat("bob", "leads"), seat("eve", "leads")}; err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
}
