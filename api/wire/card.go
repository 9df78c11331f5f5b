package wire

import "encoding/json"

// A Card describes an agent: what it is called, where it is and what it can do.
type Card struct {
	Name             string
	Description      string
	Version          string // of the agent
	Provider         *Provider
	DocumentationURL string
	IconURL          string
	Interfaces       []Interface // the preferred one first
	Capabilities     Capabilities
	Schemes          map[string]SecurityScheme
	Requirements     []map[string][]string // scopes by the name of a scheme; any one of the list will do
	InputModes       []string              // media types
	OutputModes      []string
	Skills           []Skill
}

// A Provider is who runs an agent.
type Provider struct {
	Organization string `json:"organization"`
	URL          string `json:"url"`
}

// An Interface is a place where an agent can be spoken to.
type Interface struct {
	URL     string  `json:"url"`
	Binding string  `json:"protocolBinding"` // JSONRPC, HTTP+JSON or GRPC
	Version Version `json:"protocolVersion"`
}

// Capabilities is what an agent can do beside the least.
type Capabilities struct {
	Streaming  bool        `json:"streaming"`
	Push       bool        `json:"pushNotifications"`
	Extended   bool        `json:"extendedAgentCard,omitempty"` // there is a card for those who say who they are
	Extensions []Extension `json:"extensions,omitempty"`
}

// An Extension is an extension that an agent supports.
type Extension struct {
	URI         string         `json:"uri"`
	Description string         `json:"description,omitempty"`
	Required    bool           `json:"required"`
	Params      map[string]any `json:"params,omitempty"`
}

// A Skill is something an agent is good for.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples,omitempty"`
	InputModes  []string `json:"inputModes,omitempty"`
	OutputModes []string `json:"outputModes,omitempty"`
}

// A SecurityScheme is a way to prove who one is. Type is http, apiKey, oauth2,
// openIdConnect or mutualTLS, and decides which of the other fields count.
type SecurityScheme struct {
	Type              string
	Description       string
	Scheme            string // http
	BearerFormat      string // http
	In, Name          string // apiKey
	OpenIDConnectURL  string
	OAuth2MetadataURL string
	Flows             json.RawMessage // oauth2, the same in both versions
}

type card struct {
	Name             string         `json:"name"`
	Description      string         `json:"description"`
	Version          string         `json:"version"`
	Interfaces       []Interface    `json:"supportedInterfaces"`
	Provider         *Provider      `json:"provider,omitempty"`
	DocumentationURL string         `json:"documentationUrl,omitempty"`
	IconURL          string         `json:"iconUrl,omitempty"`
	Capabilities     Capabilities   `json:"capabilities"`
	Schemes          map[string]any `json:"securitySchemes,omitempty"`
	Requirements     []any          `json:"securityRequirements,omitempty"`
	InputModes       []string       `json:"defaultInputModes"`
	OutputModes      []string       `json:"defaultOutputModes"`
	Skills           []Skill        `json:"skills"`
}

// members03 are the members that only a reader of 0.3 looks for.
type members03 struct {
	ProtocolVersion    string                `json:"protocolVersion"`
	URL                string                `json:"url"`
	PreferredTransport string                `json:"preferredTransport"`
	Additional         []transport           `json:"additionalInterfaces"`
	Security           []map[string][]string `json:"security,omitempty"`
	Extended           bool                  `json:"supportsAuthenticatedExtendedCard"`
}

type transport struct {
	URL       string `json:"url"`
	Transport string `json:"transport"`
}

// Card returns c for a client that asked with version v: in 1.0 the pure card.
// A client that names 0.3 or nothing may be of either version, so it gets the
// union of both. That one leaves out securityRequirements, of which no form is
// read by all clients; they stand in the 0.3 member alone.
func (v Version) Card(c Card) any {
	out := c.common(v)
	if v == V10 {
		out.Requirements = requirements10(c.Requirements)
		return out
	}
	return struct {
		card
		members03
	}{out, c.members03()}
}

// common returns what both forms of c have.
func (c Card) common(v Version) card {
	out := card{
		Name: c.Name, Description: c.Description, Version: c.Version, Interfaces: c.Interfaces, Provider: c.Provider,
		DocumentationURL: c.DocumentationURL, IconURL: c.IconURL, Capabilities: c.Capabilities, Schemes: map[string]any{},
		InputModes: orEmpty(c.InputModes), OutputModes: orEmpty(c.OutputModes), Skills: []Skill{},
	}
	for _, s := range c.Skills {
		s.Tags = orEmpty(s.Tags)
		out.Skills = append(out.Skills, s)
	}
	for name, scheme := range c.Schemes {
		out.Schemes[name] = scheme.members(v)
	}
	return out
}

// requirements10 writes scopes as the proto's StringList, an object.
func requirements10(list []map[string][]string) []any {
	var out []any
	for _, r := range list {
		schemes := map[string]any{}
		for name, scopes := range r {
			schemes[name] = map[string][]string{"list": orEmpty(scopes)}
		}
		out = append(out, map[string]any{"schemes": schemes})
	}
	return out
}

func (c Card) members03() members03 {
	m := members03{ProtocolVersion: "0.3.0", PreferredTransport: "JSONRPC", Additional: []transport{}, Extended: c.Capabilities.Extended}
	for _, i := range c.Interfaces {
		if i.Version != V03 {
			continue
		}
		if m.URL == "" {
			m.URL, m.PreferredTransport = i.URL, i.Binding
		}
		m.Additional = append(m.Additional, transport{i.URL, i.Binding})
	}
	for _, r := range c.Requirements {
		security := map[string][]string{}
		for name, scopes := range r {
			security[name] = orEmpty(scopes)
		}
		m.Security = append(m.Security, security)
	}
	return m
}

// members returns the scheme in the shape of 1.0, under the name of its type,
// and for the union the members of the 0.3 shape beside that.
func (s SecurityScheme) members(v Version) map[string]any {
	name, fields10, fields03 := s.shapes()
	if v == V10 {
		return map[string]any{name: fields10}
	}
	fields03[name] = fields10
	return fields03
}

// members03 returns the scheme in the shape of 0.3.
func (s SecurityScheme) members03() map[string]any {
	_, _, fields := s.shapes()
	return fields
}

// shapes returns the name of the scheme's type in 1.0, and its members in both
// versions.
func (s SecurityScheme) shapes() (name string, fields10, fields03 map[string]any) {
	fields10, fields03 = map[string]any{}, map[string]any{"type": s.Type}
	set := func(name10, name03 string, value any, required bool) {
		if value != "" || required {
			fields10[name10], fields03[name03] = value, value
		}
	}
	set("description", "description", s.Description, false)
	switch s.Type {
	case "http":
		name = "httpAuthSecurityScheme"
		set("scheme", "scheme", s.Scheme, true)
		set("bearerFormat", "bearerFormat", s.BearerFormat, false)
	case "apiKey":
		name = "apiKeySecurityScheme"
		set("location", "in", s.In, true)
		set("name", "name", s.Name, true)
	case "oauth2":
		name = "oauth2SecurityScheme"
		set("flows", "flows", s.Flows, true)
		set("oauth2MetadataUrl", "oauth2MetadataUrl", s.OAuth2MetadataURL, false)
	case "openIdConnect":
		name = "openIdConnectSecurityScheme"
		set("openIdConnectUrl", "openIdConnectUrl", s.OpenIDConnectURL, true)
	case "mutualTLS":
		name = "mtlsSecurityScheme"
	}
	return name, fields10, fields03
}
