package serve

import (
	"strings"
	"testing"

	"longhaul/api"
	"longhaul/api/card"
	"longhaul/internal/test"
)

// An undecided agent has no skills.
type undecided struct{ Agent }

func (undecided) Skills() []card.Skill { return nil }

// The card names who runs the agent and where it is documented, if the settings do, and the
// media types that clients look for.
func TestCard_settings(t *testing.T) {
	agent := undecided{}
	bare := Build{}.card(apiSettings{}, api.Address{}, agent)
	if bare.Provider != nil || bare.DocumentationURL != "" {
		t.Errorf("without settings: %v, %q", bare.Provider, bare.DocumentationURL)
	}
	test.Error(t, "without settings", nil, (cardSettings{}).check())
	cfg := apiSettings{cardSettings: cardSettings{Provider: "Example", ProviderURL: "https://example.com", Documentation: "https://example.com/docs"}}
	shown := Build{}.card(cfg, api.Address{}, agent)
	if shown.Provider == nil || *shown.Provider != (card.Provider{Organization: "Example", URL: "https://example.com"}) || shown.DocumentationURL != cfg.Documentation {
		t.Errorf("%v, %q", shown.Provider, shown.DocumentationURL)
	}
	if modes := strings.Join(shown.InputModes, " "); !strings.HasPrefix(modes, "text/plain ") || !strings.Contains(modes, " image/png ") || !strings.HasSuffix(modes, " */*") {
		t.Errorf("it takes %s", modes)
	}
	for name, cfg := range map[string]cardSettings{
		"a name alone":     {Provider: "Example"},
		"a URL alone":      {ProviderURL: "https://example.com"},
		"no URL":           {Provider: "Example", ProviderURL: "example"},
		"no documentation": {Documentation: "javascript:alert(1)"},
	} {
		test.Fails(t, name, "-url", cfg.check())
	}
}
