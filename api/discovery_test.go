package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/api/card"
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
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), got.String()); diff != "" {
		t.Errorf("discovery mismatch (-card +discovery):\n%s", diff)
	}
}

// The families of the discovery document are members of its root.
func TestDiscovery(t *testing.T) {
	s := newService(t, func(c *config) { c.MaxBody = 12345 })
	got := parse(t, s.get(t, "/.well-known/openwop", "Authorization", "Bearer nobody").Body.Bytes())
	delete(got.v.(map[string]any), "a2a")
	want := `{"implementation":{"name":"longhaul","vendor":"Longhaul","version":"1.2.3"},` +
		`"limits":{"clarificationRounds":0,"envelopesPerTurn":0,"maxRequestBodyBytes":12345,"schemaRounds":0},` +
		`"protocolVersion":"1.0","schemaVersions":{},"supportedEnvelopes":[],"supportedTransports":["rest","a2a"]}`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}

// New skills do not change the discovery document; a client with its tag gets nothing
// new.
func TestDiscovery_notModified(t *testing.T) {
	s := newService(t)
	tag := s.get(t, "/.well-known/openwop").Header().Get("ETag")
	s.SetSkills([]card.Skill{{ID: "new", Name: "New", Description: "Something new"}})
	if w := s.get(t, "/.well-known/openwop", "If-None-Match", tag); w.Code != http.StatusNotModified {
		t.Errorf("status %d", w.Code)
	}
}
