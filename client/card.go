package client

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Card is the part of an agent card that a client needs.
type Card struct {
	Name         string      `json:"name"`
	Description  string      `json:"description"`
	Version      string      `json:"version"` // of the agent
	Interfaces   []Interface `json:"supportedInterfaces"`
	Capabilities struct {
		Streaming         bool        `json:"streaming"`
		PushNotifications bool        `json:"pushNotifications"`
		Extensions        []Extension `json:"extensions"`
	} `json:"capabilities"`
	Skills []Skill `json:"skills"`

	// Raw is the card as it came.
	Raw json.RawMessage `json:"-"`
}

// An Interface is a place where an agent is served.
type Interface struct {
	URL             string `json:"url"`
	ProtocolBinding string `json:"protocolBinding"`
	ProtocolVersion string `json:"protocolVersion"`
}

// A Skill is something that an agent can do.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples"`
}

// Endpoint returns the URL of the first interface that this package supports; ok
// is false if there is none.
func (c *Card) Endpoint() (url string, ok bool) {
	for _, i := range c.Interfaces {
		if i.ProtocolBinding == "JSONRPC" && i.ProtocolVersion == version {
			return i.URL, true
		}
	}
	return "", false
}

// An Extension is the declaration of an extension on a card.
type Extension struct {
	URI         string          `json:"uri"`
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required"`
	Params      json.RawMessage `json:"params,omitempty"`
}

// OPTParams are the params of the OPT extension on a card.
type OPTParams struct {
	MaxPlansPerObjective int  `json:"maxPlansPerObjective"`
	MaxTasksPerPlan      int  `json:"maxTasksPerPlan"`
	PersistenceEnabled   bool `json:"persistenceEnabled"`
}

// OPT returns the params of the OPT extension, with the extension's defaults for
// those that the card leaves out; ok is false if the card does not declare it.
func (c *Card) OPT() (p OPTParams, ok bool) {
	limits := opt.Limits{}.OrDefault()
	p = OPTParams{MaxPlansPerObjective: limits.Plans, MaxTasksPerPlan: limits.Tasks}
	for _, e := range c.Capabilities.Extensions {
		if e.URI == a2a.ExtensionOPT {
			_ = json.Unmarshal(e.Params, &p) // params that cannot be read are left out
			return p, true
		}
	}
	return OPTParams{}, false
}

// Card returns the agent's card.
func (c *Client) Card(ctx context.Context) (*Card, error) {
	var card Card
	err := c.repeatCall(ctx, func() error {
		res, body, err := c.get(ctx, "/.well-known/agent-card.json")
		switch {
		case err != nil:
			return err
		case res.StatusCode != http.StatusOK || json.Unmarshal(body, &card) != nil:
			return notA2A(res)
		}
		card.Raw = body
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &card, nil
}

// HasOPT reports whether a header of a request or an answer names the OPT
// extension, under either name of the header.
func HasOPT(h http.Header) bool {
	values := slices.Concat(h.Values(headerExtensions), h.Values("X-"+headerExtensions))
	return slices.Contains(a2a.ParseExtensions(values), a2a.ExtensionOPT)
}
