package clients_test

import (
	"encoding/json"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// The official JavaScript SDK verifies the card and the extended one with the published keys, and
// refuses each card that was changed.
func TestSignedCard(t *testing.T) {
	site := harness.NewSite(t, harness.Dev, "--push-signing", "--auth", "keys", "--private-skills")
	key := site.Key("ann", "--scopes", "all")
	service := site.Launch(harness.AllInOne)
	sdk := startNode(t, "v10", overJSONRPC)
	service.WaitReady()
	_, keys := harness.Get(t, site.URL()+"/.well-known/jwks.json")
	_, card := harness.Get(t, site.URL()+"/v1.0/.well-known/agent-card.json")
	var extended json.RawMessage
	test.OK(t, site.Client().With("Authorization", "Bearer "+key).Call(t.Context(), "GetExtendedAgentCard", map[string]any{}, &extended))
	verify := func(keys, card json.RawMessage) error {
		return sdk.call(t.Context(), "verify", args{Keys: keys, Card: card}, new(json.RawMessage))
	}
	for name, card := range map[string]json.RawMessage{"the card": card, "the extended card": extended} {
		if err := verify(keys, card); err != nil {
			t.Errorf("%s: %v\n%s", name, err, card)
		}
		for part, with := range map[string]string{
			`"name":"`: `"name":"Not `, site.Addr: "127.0.0.1:1", `"streaming":true`: `"streaming":false`, `"skills":[`: `"skills":[{"id":"x"},`,
			`"maxPlansPerObjective":`: `"maxPlansPerObjective":1`, `"signatures":[`: `"none":[`, `"signature":"`: `"signature":"AA`,
		} {
			changed := strings.ReplaceAll(string(card), part, with)
			if changed == string(card) {
				t.Errorf("%s has no %s", name, part)
			}
			if err := verify(keys, json.RawMessage(changed)); err == nil || !strings.Contains(err.Error(), "ignatures found on agent card") {
				t.Errorf("%s with %s is accepted, or refused with %v", name, with, err)
			}
		}
		if err := verify(json.RawMessage(`{"keys":[]}`), card); err == nil {
			t.Errorf("%s is accepted without the key", name)
		}
	}
}
