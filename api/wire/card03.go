package wire

import "longhaul/api/service"

type card03 struct {
	Name             string            `json:"name"`
	Description      string            `json:"description"`
	Version          string            `json:"version"`
	Provider         *service.Provider `json:"provider,omitempty"`
	DocumentationURL string            `json:"documentationUrl,omitempty"`
	IconURL          string            `json:"iconUrl,omitempty"`
	Capabilities     capabilities      `json:"capabilities"`
	Schemes          map[string]any    `json:"securitySchemes,omitempty"`
	InputModes       []string          `json:"defaultInputModes"`
	OutputModes      []string          `json:"defaultOutputModes"`
	Skills           []service.Skill   `json:"skills"`
	members03
}

type capabilities struct {
	Streaming  bool                `json:"streaming"`
	Push       bool                `json:"pushNotifications"`
	Extensions []service.Extension `json:"extensions,omitempty"`
}

// PureCard returns c with only the members of v, for a client that is known to
// use v.
func (v Version) PureCard(c service.Card) any {
	if v == V10 {
		return v.Card(c)
	}
	union := v.common(c)
	for name, scheme := range c.Schemes {
		_, _, union.Schemes[name] = schemeShapes(scheme)
	}
	return card03{
		union.Name, union.Description, union.Version, union.Provider, union.DocumentationURL, union.IconURL,
		capabilities{c.Capabilities.Streaming, c.Capabilities.Push, c.Capabilities.Extensions},
		union.Schemes, union.InputModes, union.OutputModes, union.Skills, v03(c),
	}
}
