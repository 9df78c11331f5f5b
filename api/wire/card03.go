package wire

type card03 struct {
	Name             string         `json:"name"`
	Description      string         `json:"description"`
	Version          string         `json:"version"`
	Provider         *Provider      `json:"provider,omitempty"`
	DocumentationURL string         `json:"documentationUrl,omitempty"`
	IconURL          string         `json:"iconUrl,omitempty"`
	Capabilities     capabilities   `json:"capabilities"`
	Schemes          map[string]any `json:"securitySchemes,omitempty"`
	InputModes       []string       `json:"defaultInputModes"`
	OutputModes      []string       `json:"defaultOutputModes"`
	Skills           []Skill        `json:"skills"`
	members03
}

type capabilities struct {
	Streaming  bool        `json:"streaming"`
	Push       bool        `json:"pushNotifications"`
	Extensions []Extension `json:"extensions,omitempty"`
}

// PureCard returns c with nothing on it of another version than v, for a client
// that is known to speak v.
func (v Version) PureCard(c Card) any {
	if v == V10 {
		return v.Card(c)
	}
	union := c.common(v)
	for name, scheme := range c.Schemes {
		union.Schemes[name] = scheme.members03()
	}
	return card03{
		union.Name, union.Description, union.Version, union.Provider, union.DocumentationURL, union.IconURL,
		capabilities{c.Capabilities.Streaming, c.Capabilities.Push, c.Capabilities.Extensions},
		union.Schemes, union.InputModes, union.OutputModes, union.Skills, c.members03(),
	}
}
