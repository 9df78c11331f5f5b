package wire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"longhaul/a2a"
)

// Keys in the metadata of a 0.3 part for members that 0.3 does not have.
const (
	keyWrapped   = "data_part_compat" // true: data is {"value": the real data}
	keyFilename  = "filename"
	keyMediaType = "mediaType"
)

// message reads a message from a client, whose role must be user.
func (o object) message() a2a.Message {
	m := a2a.Message{
		MessageID:        o.needID("messageId"),
		ContextID:        o.contextID("contextId"),
		TaskID:           o.id("taskId"),
		Role:             o.role(),
		Metadata:         o.metadata("metadata"),
		Extensions:       o.texts("extensions"),
		ReferenceTaskIDs: o.texts("referenceTaskIds"),
	}
	if kind, ok := o.textIf("kind"); ok && o.r.Version == V03 && kind != "message" {
		o.wrong("kind", `must be "message"`)
	}
	m.Parts = o.parts()
	for _, uri := range m.Extensions {
		o.r.mention(uri)
	}
	for key := range m.Metadata {
		if strings.HasPrefix(key, optPrefix) {
			o.r.mention(a2a.ExtensionOPT)
		}
	}
	return m
}

func (o object) parts() []a2a.Part {
	raw := o.find("parts")
	list := o.list("parts")
	switch {
	case len(list) > MaxParts:
		o.wrong("parts", fmt.Sprintf("must not contain more than %d parts", MaxParts))
		return nil
	case len(list) == 0 && (raw == nil || raw[0] == '['):
		o.wrong("parts", "must contain at least one part")
	}
	var parts []a2a.Part
	for _, part := range o.objects("parts", list) {
		parts = append(parts, part.part())
	}
	return parts
}

// onlyBlank reports whether all parts of m are text without visible characters.
func onlyBlank(m a2a.Message) bool {
	for _, p := range m.Parts {
		if p.Text == nil || *p.Text != "" && !isBlank(*p.Text) {
			return false
		}
	}
	return len(m.Parts) > 0
}

// contextID returns the id of a context. A2A calls it opaque, and clients may
// choose it, so it may hold spaces, slashes and any letters, but not those alone.
func (o object) contextID(name string) string {
	id := o.id(name)
	if isBlank(id) {
		o.wrong(name, "must not be blank")
	}
	return id
}

// role reads the role of a message. Version 0.3 clients are known to use the
// spelling of 1.0, and ProtoJSON allows an enum's number.
func (o object) role() a2a.Role {
	want := `must be "user"`
	if o.r.Version == V10 {
		want = "must be ROLE_USER"
	}
	var word string
	raw := o.find("role")
	switch {
	case raw == nil:
		o.wrong("role", "is required")
		return ""
	case string(raw) == "1" && o.r.Version == V10:
		return a2a.RoleUser
	case json.Unmarshal(raw, &word) == nil && (word == "ROLE_USER" || word == "user" && o.r.Version == V03):
		return a2a.RoleUser
	}
	o.wrong("role", want)
	return ""
}

// part reads a part of either version. The presence of a member decides, not its
// value: an empty text is content, and so are null, false and 0 as data.
func (o object) part() a2a.Part {
	p := a2a.Part{Metadata: o.metadata("metadata")}
	if o.r.Version == V03 {
		o.part03(&p)
	} else {
		o.part10(&p)
	}
	return p
}

func (o object) part10(p *a2a.Part) {
	p.Filename, p.MediaType = o.text("filename"), o.text("mediaType")
	_, hasData := o.m["data"]
	n := 0
	for _, name := range []string{"text", "raw", "url"} {
		if o.find(name) != nil {
			n++
		}
	}
	if hasData {
		n++
	}
	if n != 1 {
		o.wrongObject("must have exactly one of text, raw, url and data")
		return
	}
	switch {
	case hasData:
		p.Data = o.m["data"]
	case o.find("text") != nil:
		s := o.text("text")
		p.Text = &s
	case o.find("raw") != nil:
		p.Raw = o.base64("raw")
	default:
		p.URL = o.url("url")
	}
}

// part03 reads a part of version 0.3. Its kind may be spelled type, as in 0.2,
// or left out.
func (o object) part03(p *a2a.Part) {
	switch o.kind03() {
	case "text":
		s, ok := o.textIf("text")
		if !ok {
			o.missing("text")
		}
		p.Text = &s
	case "file":
		if file, ok := o.child("file"); ok {
			file.file03(p)
		} else {
			o.missing("file")
		}
	case "data":
		raw := o.find("data")
		if raw == nil || raw[0] != '{' {
			o.wrong("data", "must be an object")
			return
		}
		p.Data = raw
		if inner := members(raw); p.Metadata.Bool(keyWrapped) && len(inner) == 1 && inner["value"] != nil {
			p.Data = inner["value"]
			delete(p.Metadata, keyWrapped)
		}
	default:
		o.wrongObject("must be of kind text, file or data")
	}
}

func (o object) kind03() string {
	for _, name := range []string{"kind", "type"} {
		if kind, ok := o.textIf(name); ok {
			return kind
		}
	}
	found := ""
	for _, name := range []string{"text", "file", "data"} {
		if _, ok := o.m[name]; ok && found != "" {
			return ""
		} else if ok {
			found = name
		}
	}
	return found
}

func (o object) file03(p *a2a.Part) {
	p.Filename, p.MediaType = o.text("name"), o.text("mimeType")
	bytes, uri := o.find("bytes") != nil, o.find("uri") != nil
	switch {
	case bytes == uri:
		o.wrongObject("must have exactly one of bytes and uri")
	case bytes:
		p.Raw = o.base64("bytes")
	default:
		p.URL = o.url("uri")
	}
}

func (o object) url(name string) *string {
	s := o.text(name)
	if s == "" {
		o.wrong(name, "must be a URL")
	}
	return &s
}

var base64Text = strings.NewReplacer("-", "+", "_", "/", "=", "", "\r", "", "\n", "")

// base64 reads bytes in standard or URL-safe base64, padded or not.
func (o object) base64(name string) []byte {
	b, err := base64.RawStdEncoding.DecodeString(base64Text.Replace(o.text(name)))
	if err != nil {
		o.wrong(name, "must be base64")
	}
	if b == nil {
		return []byte{}
	}
	return b
}

type part10 struct {
	Text      *string         `json:"text,omitempty"`
	Raw       []byte          `json:"raw,omitzero"`
	URL       *string         `json:"url,omitempty"`
	Data      json.RawMessage `json:"data,omitzero"`
	Ref       *a2a.Ref        `json:"-"` // never on the wire
	Filename  string          `json:"filename,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
	Metadata  a2a.Metadata    `json:"metadata,omitempty"`
}

type part03 struct {
	Kind     string          `json:"kind"`
	Text     *string         `json:"text,omitempty"`
	File     *file03         `json:"file,omitempty"`
	Data     json.RawMessage `json:"data,omitzero"`
	Metadata a2a.Metadata    `json:"metadata,omitempty"`
}

type file03 struct {
	Name     string  `json:"name,omitempty"`
	MimeType string  `json:"mimeType,omitempty"`
	Bytes    []byte  `json:"bytes,omitzero"`
	URI      *string `json:"uri,omitempty"`
}

// newParts never returns nil: parts are required wherever they occur.
func newParts(v Version, parts []a2a.Part) []any {
	out := make([]any, 0, len(parts))
	for _, p := range parts {
		if v == V03 {
			out = append(out, newPart03(p))
		} else {
			out = append(out, part10(p))
		}
	}
	return out
}

func newPart03(p a2a.Part) part03 {
	if p.Raw != nil || p.URL != nil {
		return part03{Kind: "file", File: &file03{p.Filename, p.MediaType, p.Raw, p.URL}, Metadata: p.Metadata}
	}
	out := part03{Kind: "text", Text: p.Text, Metadata: p.Metadata}
	if p.Filename != "" && !out.Metadata.Has(keyFilename) {
		out.Metadata = out.Metadata.With(keyFilename, p.Filename)
	}
	if p.MediaType != "" && !out.Metadata.Has(keyMediaType) {
		out.Metadata = out.Metadata.With(keyMediaType, p.MediaType)
	}
	if p.Data == nil {
		return out
	}
	out.Kind, out.Data = "data", p.Data
	if p.Data[0] != '{' { // 0.3 has only objects
		out.Data = json.RawMessage(`{"value":` + string(p.Data) + `}`)
		out.Metadata = out.Metadata.With(keyWrapped, true)
	}
	return out
}
