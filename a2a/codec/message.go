package codec

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"longhaul/a2a"
)

// ReadMessage reads a message from a client, whose role must be user.
func ReadMessage(o Object) a2a.Message {
	m := a2a.Message{
		MessageID:        o.NeedID("messageId"),
		ContextID:        o.ContextID("contextId"),
		TaskID:           o.ID("taskId"),
		Role:             userRole(o),
		Metadata:         o.Metadata("metadata"),
		Extensions:       o.Texts("extensions"),
		ReferenceTaskIDs: o.Texts("referenceTaskIds"),
	}
	if kind, ok := o.TextIf("kind"); ok && o.r.Version == V03 && kind != "message" {
		o.Wrong("kind", `must be "message"`)
	}
	m.Parts = readParts(o)
	return m
}

func readParts(o Object) []a2a.Part {
	raw := o.Find("parts")
	list := o.List("parts")
	switch {
	case len(list) > MaxParts:
		o.Wrong("parts", fmt.Sprintf("must not contain more than %d parts", MaxParts))
		return nil
	case len(list) == 0 && (raw == nil || raw[0] == '['):
		o.Wrong("parts", "must contain at least one part")
	}
	var parts []a2a.Part
	for _, part := range o.objects("parts", list) {
		parts = append(parts, readPart(part))
	}
	return parts
}

// userRole reads the role of a message. Version 0.3 clients are known to use the
// spelling of 1.0, and ProtoJSON allows an enum's number.
func userRole(o Object) a2a.Role {
	want := `must be "user"`
	if o.r.Version == V10 {
		want = "must be ROLE_USER"
	}
	var word string
	raw := o.Find("role")
	switch {
	case raw == nil:
		o.Wrong("role", "is required")
		return ""
	case string(raw) == "1" && o.r.Version == V10:
		return a2a.RoleUser
	case json.Unmarshal(raw, &word) == nil && (word == "ROLE_USER" || word == "user" && o.r.Version == V03):
		return a2a.RoleUser
	}
	o.Wrong("role", want)
	return ""
}

// readPart reads a part of either version. The presence of a member decides, not its
// value: an empty text is content, and so are null, false and 0 as data.
func readPart(o Object) a2a.Part {
	p := a2a.Part{Metadata: o.Metadata("metadata")}
	if o.r.Version == V03 {
		readPart03(o, &p)
	} else {
		readPart10(o, &p)
	}
	return p
}

func readPart10(o Object, p *a2a.Part) {
	p.Filename, p.MediaType = o.Text("filename"), o.Text("mediaType")
	_, hasData := o.m["data"]
	n := 0
	for _, name := range []string{"text", "raw", "url"} {
		if o.Has(name) {
			n++
		}
	}
	if hasData {
		n++
	}
	if n != 1 {
		o.WrongObject("must have exactly one of text, raw, url and data")
		return
	}
	switch {
	case hasData:
		p.Data = o.m["data"]
	case o.Has("text"):
		p.Text = new(o.Text("text"))
	case o.Has("raw"):
		p.Raw = readBytes(o, "raw")
	default:
		p.URL = readURL(o, "url")
	}
}

// readPart03 reads a part of version 0.3. Its kind may be spelled type, as in 0.2,
// or left out.
func readPart03(o Object, p *a2a.Part) {
	switch kind03(o) {
	case "text":
		s, ok := o.TextIf("text")
		if !ok {
			o.Missing("text")
		}
		p.Text = &s
	case "file":
		if file, ok := o.Child("file"); ok {
			readFile03(file, p)
		} else {
			o.Missing("file")
		}
	case "data":
		raw := o.Find("data")
		if raw == nil || raw[0] != '{' {
			o.Wrong("data", "must be an object")
			return
		}
		p.Data = raw
		unwrap(p)
	default:
		o.WrongObject("must be of kind text, file or data")
	}
}

// unwrap replaces data that a 0.3 part wraps in an object by that data.
func unwrap(p *a2a.Part) {
	if !p.Metadata.Bool(keyWrapped) || len(p.Data) == 0 || p.Data[0] != '{' {
		return
	}
	if inner := Members(p.Data); len(inner) == 1 && inner["value"] != nil {
		p.Data = inner["value"]
		if delete(p.Metadata, keyWrapped); len(p.Metadata) == 0 {
			p.Metadata = nil
		}
	}
}

func kind03(o Object) string {
	for _, name := range []string{"kind", "type"} {
		if kind, ok := o.TextIf(name); ok {
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

func readFile03(o Object, p *a2a.Part) {
	p.Filename, p.MediaType = o.Text("name"), o.Text("mimeType")
	bytes, uri := o.Has("bytes"), o.Has("uri")
	switch {
	case bytes == uri:
		o.WrongObject("must have exactly one of bytes and uri")
	case bytes:
		p.Raw = readBytes(o, "bytes")
	default:
		p.URL = readURL(o, "uri")
	}
}

func readURL(o Object, name string) *string {
	s := o.Text(name)
	if s == "" {
		o.Wrong(name, "must be a URL")
	}
	return &s
}

func readBytes(o Object, name string) []byte {
	b, err := decode64(o.Text(name))
	if err != nil {
		o.Wrong(name, "must be base64")
	}
	return b
}

var base64Text = strings.NewReplacer("-", "+", "_", "/", "=", "", "\r", "", "\n", "")

// decode64 returns the bytes in standard or URL-safe base64, padded or not, never nil.
func decode64(text string) ([]byte, error) {
	b, err := base64.RawStdEncoding.DecodeString(base64Text.Replace(text))
	if b == nil {
		b = []byte{}
	}
	return b, err
}

// encode64 returns bytes as base64, nil for nil.
func encode64(b []byte) *string {
	if b == nil {
		return nil
	}
	return new(base64.StdEncoding.EncodeToString(b))
}
