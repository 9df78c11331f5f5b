package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/zap"

	apiservice "longhaul/api/service"
	"longhaul/internal/journal"
	"longhaul/internal/seal"
	"longhaul/internal/test"
)

// The page for signing in offers what --auth accepts.
func TestConsolePages(t *testing.T) {
	j, box := sealedJournal(t)
	a := &apiServer{ground: &ground{host: newHost(zap.NewNop(), Build{}), store: &store{journal: j, box: box}}, listeners: &listeners{url: "https://agent.example.com/"}}
	operations := apiservice.New(apiservice.Config{Journal: j})
	defer operations.Close()
	const keys, provider = "API key", "id.example.com"
	for name, tc := range map[string]struct {
		auth     string
		clientID string
		want     []string
		not      string
	}{
		"keys":               {"keys", "", []string{keys}, provider},
		"provider":           {"oidc", "longhaul", []string{provider}, keys},
		"both":               {"keys,oidc", "longhaul", []string{keys, provider}, "Inbox"},
		"tokens, not people": {"oidc", "", nil, provider},
		"no credentials":     {"none", "", nil, keys},
	} {
		cfg := apiSettings{authSettings: authSettings{Auth: strings.Split(tc.auth, ","), OIDCIssuer: "https://id.example.com", OIDCAudience: "a", OIDCClientID: tc.clientID}}
		a.settings, a.operations, a.authority = cfg, operations, cfg.authority(j.APIKeys)
		pages := a.console()
		w := httptest.NewRecorder()
		pages.Serve(operations.NewCall(""), w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/console/sign-in", nil))
		if tc.want == nil && w.Header().Get("Location") != "/console/inbox" {
			t.Errorf("%s: the page for signing in is there", name)
		}
		for _, want := range tc.want {
			test.Contains(t, name, want, w.Body.String())
		}
		if strings.Contains(w.Body.String(), tc.not) {
			t.Errorf("%s: the page has %q:\n%s", name, tc.not, w.Body)
		}
	}
	a.settings = apiSettings{NoConsole: true}
	if pages := a.console(); pages != nil {
		t.Error("there is a console in spite of --no-console")
	}
	if got := (authSettings{OIDCClientID: "longhaul", OIDCClientSecret: "s"}).providerClient("https://agent.example.com"); got.RedirectURL != "https://agent.example.com/console/oidc/callback" ||
		got.SignedOutURL != "https://agent.example.com/console/sign-in" || got.ID != "longhaul" || got.Secret != "s" {
		t.Errorf("the client of the provider: %+v", got)
	}
}

// sealedJournal returns a journal in memory, and what encrypts its secrets.
func sealedJournal(t *testing.T) (*journal.Journal, *seal.Box) {
	t.Helper()
	box := test.Value(seal.New(make([]byte, 32)))(t)
	j := test.Value(journal.Open(t.Context(), journal.Config{Sealer: box}))(t)
	t.Cleanup(func() { _ = j.Close() })
	return j, box
}
