package wire

import (
	"slices"
	"strings"

	"longhaul/api/card"
)

// discovery is the document at /.well-known/openwop. Its families are members of the
// root.
type discovery struct {
	ProtocolVersion string            `json:"protocolVersion"`
	Envelopes       []string          `json:"supportedEnvelopes"`
	Schemas         map[string]string `json:"schemaVersions"`
	Limits          struct {          // those about envelopes are zero: there are none
		ClarificationRounds int   `json:"clarificationRounds"`
		SchemaRounds        int   `json:"schemaRounds"`
		EnvelopesPerTurn    int   `json:"envelopesPerTurn"`
		MaxRequestBodyBytes int64 `json:"maxRequestBodyBytes"`
	} `json:"limits"`
	Implementation struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Vendor  string `json:"vendor"`
	} `json:"implementation"`
	Transports []string `json:"supportedTransports"`
	A2A        struct {
		Supported         bool     `json:"supported"`
		AgentCardURL      string   `json:"agentCardUrl"`
		Streaming         bool     `json:"streaming"`
		PushNotifications bool     `json:"pushNotifications"`
		DurableTasks      bool     `json:"durableTasks"`
		ProtocolVersions  []string `json:"protocolVersions"`
		PreferredVersion  string   `json:"preferredVersion"`
		Profiles          []string `json:"profiles"`
	} `json:"a2a"`
}

// profiles are the names of the versions as profiles.
var profiles = map[string]string{string(V10): "a2a-1.0", string(V03): "a2a-0.3-legacy"}

// RPCPath is the path of JSON-RPC on the card.
const RPCPath = "/a2a"

// Discovery returns what /.well-known/openwop says. All of it about A2A comes from
// the card.
func Discovery(card card.Card, maxBody int64) any {
	d := discovery{ProtocolVersion: "1.0", Envelopes: []string{}, Schemas: map[string]string{}, Transports: []string{"rest", "a2a"}}
	d.Limits.MaxRequestBodyBytes = maxBody
	d.Implementation.Name, d.Implementation.Version, d.Implementation.Vendor = "longhaul", card.Version, "Longhaul"
	d.A2A.Supported, d.A2A.DurableTasks = true, true
	d.A2A.Streaming, d.A2A.PushNotifications = card.Capabilities.Streaming, card.Capabilities.Push
	for _, i := range card.Interfaces {
		if d.A2A.AgentCardURL == "" {
			d.A2A.AgentCardURL = strings.TrimSuffix(i.URL, RPCPath) + "/.well-known/agent-card.json"
			d.A2A.PreferredVersion = i.Version
		}
		if !slices.Contains(d.A2A.ProtocolVersions, i.Version) {
			d.A2A.ProtocolVersions = append(d.A2A.ProtocolVersions, i.Version)
			d.A2A.Profiles = append(d.A2A.Profiles, profiles[i.Version])
		}
	}
	return d
}
