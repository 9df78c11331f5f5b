package wire

import (
	"longhaul/api/call"
	"longhaul/api/card"
)

type shownCard struct {
	Name             string            `json:"name"`
	Description      string            `json:"description"`
	Version          string            `json:"version"`
	Interfaces       []card.Interface  `json:"supportedInterfaces"`
	Provider         *card.Provider    `json:"provider,omitempty"`
	DocumentationURL string            `json:"documentationUrl,omitempty"`
	IconURL          string            `json:"iconUrl,omitempty"`
	Capabilities     card.Capabilities `json:"capabilities"`
	Schemes          map[string]any    `json:"securitySchemes,omitempty"`
	Requirements     []any             `json:"securityRequirements,omitempty"`
	InputModes       []string          `json:"defaultInputModes"`
	OutputModes      []string          `json:"defaultOutputModes"`
	Skills           []card.Skill      `json:"skills"`
}

// members03 are the members that only readers of 0.3 use.
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

type card03 struct {
	Name             string         `json:"name"`
	Description      string         `json:"description"`
	Version          string         `json:"version"`
	Provider         *card.Provider `json:"provider,omitempty"`
	DocumentationURL string         `json:"documentationUrl,omitempty"`
	IconURL          string         `json:"iconUrl,omitempty"`
	Capabilities     capabilities   `json:"capabilities"`
	Schemes          map[string]any `json:"securitySchemes,omitempty"`
	InputModes       []string       `json:"defaultInputModes"`
	OutputModes      []string       `json:"defaultOutputModes"`
	Skills           []card.Skill   `json:"skills"`
	members03
}

type capabilities struct {
	Streaming  bool             `json:"streaming"`
	Push       bool             `json:"pushNotifications"`
	Extensions []call.Extension `json:"extensions,omitempty"`
}

// Card returns c for a client that asked with version v: in 1.0 the pure card. A
// client that names 0.3 or nothing may be of either version, so it gets the union
// of both. The union leaves out securityRequirements, since no form of them is
// read by all clients; it has only the 0.3 member.
func (v Version) Card(c card.Card) any {
	out := commonCard(v, c)
	if v == V10 {
		out.Requirements = requirements10(c.Requirements)
		return out
	}
	return struct {
		shownCard
		members03
	}{out, members03Of(c)}
}

// PureCard returns c with only the members of v, for a client that is known to
// use v.
func (v Version) PureCard(c card.Card) any {
	if v == V10 {
		return v.Card(c)
	}
	union := commonCard(v, c)
	for name, scheme := range c.Schemes {
		_, _, union.Schemes[name] = schemeShapes(scheme)
	}
	return card03{
		union.Name, union.Description, union.Version, union.Provider, union.DocumentationURL, union.IconURL,
		capabilities{c.Capabilities.Streaming, c.Capabilities.Push, c.Capabilities.Extensions},
		union.Schemes, union.InputModes, union.OutputModes, union.Skills, members03Of(c),
	}
}

// Security returns the security schemes and requirements of c as OpenAPI has them,
// which is the form of 0.3. Without requirements, a call may be anonymous.
func Security(c card.Card) (schemes map[string]any, requirements []map[string][]string) {
	schemes, requirements = map[string]any{}, members03Of(c).Security
	for name, scheme := range c.Schemes {
		_, _, schemes[name] = schemeShapes(scheme)
	}
	if requirements == nil {
		requirements = []map[string][]string{}
	}
	return schemes, requirements
}

// commonCard returns what both forms of c have.
func commonCard(v Version, c card.Card) shownCard {
	out := shownCard{
		Name: c.Name, Description: c.Description, Version: c.Version, Interfaces: c.Interfaces, Provider: c.Provider,
		DocumentationURL: c.DocumentationURL, IconURL: c.IconURL, Capabilities: c.Capabilities, Schemes: map[string]any{},
		InputModes: orEmpty(c.InputModes), OutputModes: orEmpty(c.OutputModes), Skills: []card.Skill{},
	}
	for _, s := range c.Skills {
		s.Tags = orEmpty(s.Tags)
		out.Skills = append(out.Skills, s)
	}
	for name, scheme := range c.Schemes {
		out.Schemes[name] = schemeMembers(v, scheme)
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

// members03Of returns the members of c that only 0.3 has.
func members03Of(c card.Card) members03 {
	m := members03{ProtocolVersion: "0.3.0", PreferredTransport: "JSONRPC", Additional: []transport{}, Extended: c.Capabilities.Extended}
	for _, i := range c.Interfaces {
		if i.Version != string(V03) {
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

// schemeMembers returns a scheme in the form of 1.0, under the name of its type,
// and for the union also the members of the 0.3 form.
func schemeMembers(v Version, s card.SecurityScheme) map[string]any {
	name, fields10, fields03 := schemeShapes(s)
	if v == V10 {
		return map[string]any{name: fields10}
	}
	fields03[name] = fields10
	return fields03
}

// schemeShapes returns the name of the scheme's type in 1.0, and its members in both
// versions.
func schemeShapes(s card.SecurityScheme) (name string, fields10, fields03 map[string]any) {
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
