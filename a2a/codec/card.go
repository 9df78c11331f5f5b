package codec

import (
	"bytes"
	"encoding/json"
	"errors"
)

// A Card describes an agent: its name, its addresses and its capabilities.
type Card struct {
	Name             string
	Description      string
	Version          string // of the agent
	Provider         *Provider
	DocumentationURL string
	IconURL          string
	Interfaces       []Interface // the preferred one first
	Capabilities     Capabilities
	Schemes          map[string]SecurityScheme // not read
	Requirements     []map[string][]string     // scopes by the name of a scheme; any one of the list is enough; not read
	InputModes       []string                  // media types
	OutputModes      []string
	Skills           []Skill
	Signatures       []CardSignature // of the pure card of 1.0, which alone has them; not read
}

// A CardSignature is a JWS about a card, without its payload.
type CardSignature struct {
	Protected string `json:"protected"`
	Signature string `json:"signature"`
}

// A Provider is the organization that runs an agent.
type Provider struct {
	Organization string `json:"organization"`
	URL          string `json:"url"`
}

// An Interface is an address and a binding of an agent.
type Interface struct {
	URL     string `json:"url"`
	Binding string `json:"protocolBinding"` // JSONRPC, HTTP+JSON or GRPC
	Version string `json:"protocolVersion"`
	Tenant  string `json:"tenant,omitempty"` // that requests name; "" for none
}

// Capabilities are the optional features of an agent.
type Capabilities struct {
	Streaming  bool        `json:"streaming"`
	Push       bool        `json:"pushNotifications"`
	Extended   bool        `json:"extendedAgentCard,omitempty"` // there is a card for authenticated callers
	Extensions []Extension `json:"extensions,omitempty"`
}

// An Extension of A2A that an agent supports, as its card declares it.
type Extension struct {
	URI         string         `json:"uri"`
	Description string         `json:"description,omitempty"`
	Required    bool           `json:"required"`
	Params      map[string]any `json:"params,omitempty"`
}

// A Skill is something that an agent can do.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples,omitempty"`
	InputModes  []string `json:"inputModes,omitempty"`
	OutputModes []string `json:"outputModes,omitempty"`
}

// A SecurityScheme is a way to authenticate. Type is http, apiKey, oauth2,
// openIdConnect or mutualTLS, and decides which of the other fields are used.
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

// BindingRPC is the binding of JSON-RPC on cards.
const BindingRPC = "JSONRPC"

// cardForm is a card with the members of both versions.
type cardForm struct {
	Name             string         `json:"name"`
	Description      string         `json:"description"`
	Version          string         `json:"version"`
	Interfaces       []Interface    `json:"supportedInterfaces,omitempty"` // of 1.0
	Provider         *Provider      `json:"provider,omitempty"`
	DocumentationURL string         `json:"documentationUrl,omitempty"`
	IconURL          string         `json:"iconUrl,omitempty"`
	Capabilities     Capabilities   `json:"capabilities"`
	Schemes          map[string]any `json:"securitySchemes,omitempty"`
	Requirements     []any          `json:"securityRequirements,omitempty"` // of 1.0
	InputModes       []string       `json:"defaultInputModes"`
	OutputModes      []string       `json:"defaultOutputModes"`
	Skills           []Skill        `json:"skills"`

	Signatures []CardSignature `json:"signatures,omitempty"` // of 1.0

	// Of 0.3.
	ProtocolVersion    string                `json:"protocolVersion,omitempty"`
	URL                string                `json:"url,omitempty"`
	PreferredTransport string                `json:"preferredTransport,omitempty"`
	Additional         []transport           `json:"additionalInterfaces,omitzero"`
	Security           []map[string][]string `json:"security,omitempty"`
	Extended           *bool                 `json:"supportsAuthenticatedExtendedCard,omitempty"`
}

type transport struct {
	URL       string `json:"url"`
	Transport string `json:"transport"`
}

// Card returns c for a client that asked with version v: in 1.0 the pure card. A
// client that names 0.3 or nothing may be of either version, so it gets the union
// of both. The union leaves out securityRequirements, since no form of them is
// read by all clients; it has only the 0.3 member. It has no signatures, since 0.3 does not
// say what they are about, and verifiers of 1.0 differ in how they read the union.
func (v Version) Card(c Card) any {
	out := v.commonCard(c)
	if v == V10 {
		out.Requirements, out.Signatures = requirements10(c.Requirements), c.Signatures
	} else {
		out.set03(c)
	}
	return out
}

// PureCard returns c with only the members of v, for a client that is known to
// use v.
func (v Version) PureCard(c Card) any {
	if v == V10 {
		return v.Card(c)
	}
	out := v.commonCard(c)
	out.set03(c)
	out.Interfaces, out.Capabilities.Extended = nil, false
	out.Schemes, _ = c.Security()
	return out
}

// Security returns the security schemes and requirements of c as 0.3 has them, which is the form
// of OpenAPI. Without requirements, a call may be anonymous.
func (c Card) Security() (schemes map[string]any, requirements []map[string][]string) {
	schemes, requirements = map[string]any{}, []map[string][]string{}
	for name, scheme := range c.Schemes {
		_, _, schemes[name] = schemeShapes(scheme)
	}
	for _, r := range c.Requirements {
		security := map[string][]string{}
		for name, scopes := range r {
			security[name] = orEmpty(scopes)
		}
		requirements = append(requirements, security)
	}
	return schemes, requirements
}

// commonCard returns what both forms of c have.
func (v Version) commonCard(c Card) cardForm {
	out := cardForm{
		Name: c.Name, Description: c.Description, Version: c.Version, Interfaces: c.Interfaces, Provider: c.Provider,
		DocumentationURL: c.DocumentationURL, IconURL: c.IconURL, Capabilities: c.Capabilities, Schemes: map[string]any{},
		InputModes: orEmpty(c.InputModes), OutputModes: orEmpty(c.OutputModes), Skills: []Skill{},
	}
	for _, s := range c.Skills {
		s.Tags = orEmpty(s.Tags)
		out.Skills = append(out.Skills, s)
	}
	for name, scheme := range c.Schemes {
		out.Schemes[name] = v.scheme(scheme)
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

// set03 sets the members that only 0.3 has.
func (f *cardForm) set03(c Card) {
	f.ProtocolVersion, f.PreferredTransport, f.Additional, f.Extended = "0.3.0", BindingRPC, []transport{}, &c.Capabilities.Extended
	for _, i := range c.Interfaces {
		if i.Version != string(V03) {
			continue
		}
		if f.URL == "" {
			f.URL, f.PreferredTransport = i.URL, i.Binding
		}
		f.Additional = append(f.Additional, transport{i.URL, i.Binding})
	}
	_, f.Security = c.Security()
}

// scheme returns a scheme in the form of 1.0, under the name of its type,
// and for the union also the members of the 0.3 form.
func (v Version) scheme(s SecurityScheme) map[string]any {
	name, fields10, fields03 := schemeShapes(s)
	if v == V10 {
		return map[string]any{name: fields10}
	}
	fields03[name] = fields10
	return fields03
}

// schemeShapes returns the name of the scheme's type in 1.0, and its members in both
// versions.
func schemeShapes(s SecurityScheme) (name string, fields10, fields03 map[string]any) {
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

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// errNoCard is the error of JSON that is no object.
var errNoCard = errors.New("the card is not an object")

// ReadCard reads a card of either version, without its security. Members of a wrong type are
// absent: an agent is not refused for members that have no use here. The interfaces of a card
// of 0.3 are behind those that the card lists as one of 1.0.
func ReadCard(raw []byte) (Card, error) {
	var in cardForm
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(raw, &in); err != nil && !errors.As(err, &wrong) {
		return Card{}, err
	}
	if trimmed := bytes.TrimSpace(raw); trimmed[0] != '{' {
		return Card{}, errNoCard
	}
	c := Card{
		Name: in.Name, Description: in.Description, Version: in.Version, Provider: in.Provider, DocumentationURL: in.DocumentationURL, IconURL: in.IconURL,
		Interfaces: in.Interfaces, Capabilities: in.Capabilities, InputModes: in.InputModes, OutputModes: in.OutputModes, Skills: in.Skills,
	}
	for _, i := range in.Interfaces {
		if v, _ := ParseVersion(i.Version); v == V03 && i.Binding == BindingRPC {
			return c, nil
		}
	}
	if in.URL == "" {
		return c, nil
	}
	if in.PreferredTransport == "" {
		in.PreferredTransport = BindingRPC
	}
	for _, t := range append([]transport{{in.URL, in.PreferredTransport}}, in.Additional...) {
		c.Interfaces = append(c.Interfaces, Interface{URL: t.URL, Binding: t.Transport, Version: in.ProtocolVersion})
	}
	return c, nil
}
