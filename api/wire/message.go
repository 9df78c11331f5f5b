package wire

import (
	"encoding/json"
	"fmt"
	"strings"

	"longhaul/a2a"
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
		if p.Text == nil || *p.Text != "" && !blank(*p.Text) {
			return false
		}
	}
	return len(m.Parts) > 0
}

// contextID returns the id of a context. A2A calls it opaque, and clients may
// choose it, so it may hold spaces, slashes and any letters, but not those alone.
func (o object) contextID(name string) string {
	id := o.id(name)
	if blank(id) {
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
