package client

import (
	"bytes"
	"encoding/json"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/opt"
)

// A Card is the card of an agent.
type Card struct {
	codec.Card

	// Raw is the card as it came.
	Raw json.RawMessage
}

// MarshalJSON returns the card as it came.
func (c Card) MarshalJSON() ([]byte, error) { return c.Raw.MarshalJSON() }

// UnmarshalJSON reads the card of an agent, of any version of A2A.
func (c *Card) UnmarshalJSON(b []byte) (err error) {
	c.Raw = bytes.Clone(b)
	c.Card, err = codec.ReadCard(b)
	return err
}

// What a card has.
type (
	Interface = codec.Interface
	Extension = codec.Extension
	Skill     = codec.Skill
)

// Endpoint returns the URL of the first interface that this package supports; ok
// is false if there is none.
func (c *Card) Endpoint() (url string, ok bool) {
	for _, i := range c.Interfaces {
		if i.Binding == codec.BindingRPC && i.Version == version {
			return i.URL, true
		}
	}
	return "", false
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
			if params, err := json.Marshal(e.Params); err == nil {
				_ = json.Unmarshal(params, &p) // params that cannot be read are left out
			}
			return p, true
		}
	}
	return OPTParams{}, false
}
