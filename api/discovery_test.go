package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"longhaul/api/card"
	"longhaul/internal/test"
)

// discovers checks that the discovery document says what the card of 1.0 says.
func (s *fixture) discovers(t *testing.T) {
	t.Helper()
	w := s.get(t, "/.well-known/openwop")
	if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "public, max-age=300" || w.Header().Get("Vary") != "" {
		t.Errorf("status %d, %v", w.Code, w.Header())
	}
	got := parse(t, w.Body.Bytes()).at("a2a")
	card := parse(t, s.get(t, "/.well-known/agent-card.json", "A2A-Version", "1.0").Body.Bytes())
	var versions []string
	for _, i := range card.at("supportedInterfaces").v.([]any) {
		if v := (node{i}).at("protocolVersion").String(); !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	want := map[string]any{
		"supported": true, "durableTasks": true, "agentCardUrl": "https://agent.example.com/.well-known/agent-card.json",
		"streaming": card.at("capabilities", "streaming").v, "pushNotifications": card.at("capabilities", "pushNotifications").v,
		"protocolVersions": versions, "preferredVersion": versions[0], "profiles": []string{"a2a-1.0", "a2a-0.3-legacy"},
	}
	text := test.Value(json.Marshal(want))(t)
	test.Equal(t, "discovery", string(text), got.String())
}

// New skills do not change the discovery document; a client with its tag gets nothing
// new.
func TestDiscovery_notModified(t *testing.T) {
	s := newService(t)
	tag := s.get(t, "/.well-known/openwop").Header().Get("ETag")
	s.SetSkills([]card.Skill{{ID: "new", Name: "New", Description: "Something new"}})
	test.Is(t, "status", http.StatusNotModified, s.get(t, "/.well-known/openwop", "If-None-Match", tag).Code)
}
