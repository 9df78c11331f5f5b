package a2a

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A Part is a piece of content. Exactly one of Text, Raw, URL and Data is
// present; presence is what counts, so an empty text and a null are content.
type Part struct {
	Text      *string         `json:"text,omitempty"`
	Raw       []byte          `json:"raw,omitzero"` // nil is absent, empty is content
	URL       *string         `json:"url,omitempty"`
	Data      json.RawMessage `json:"data,omitzero"` // nil is absent, null is content
	Ref       *Ref            `json:"ref,omitempty"` // in the place of large content; never on the wire
	Filename  string          `json:"filename,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
	Metadata  Metadata        `json:"metadata,omitempty"`
}

// TextPart returns a part that holds text.
func TextPart(text string) Part { return Part{Text: &text} }

// AgentMessage returns a text of the agent on a task. Its id is that of the task and suffix, which
// is used once for the task.
func AgentMessage(contextID, taskID, suffix, text string) *Message {
	return &Message{MessageID: taskID + suffix, ContextID: contextID, TaskID: taskID, Role: RoleAgent, Parts: []Part{TextPart(text)}}
}

// DataPart returns a part that holds v as JSON. It panics if v cannot be
// written as JSON, so it is for values of our own types.
func DataPart(v any) Part { return Part{Data: mustJSON(v)} }

// DataText returns the content of a data part for people: a string as its text, other
// JSON indented, and invalid JSON unchanged.
func DataText(data json.RawMessage) string {
	var text string
	if len(data) > 0 && data[0] == '"' && json.Unmarshal(data, &text) == nil {
		return text
	}
	var out bytes.Buffer
	if json.Indent(&out, data, "", "  ") != nil {
		return string(data)
	}
	return out.String()
}

// Content returns p as text for people: data as [DataText] has it, and a reference as its URL. ok is
// false for a file.
func (p Part) Content() (text string, ok bool) {
	switch {
	case p.Text != nil:
		return *p.Text, true
	case p.Data != nil:
		return DataText(p.Data), true
	case p.URL != nil:
		return *p.URL, true
	}
	return "", false
}

// Members counts the content members of p; a valid part has one.
func (p Part) Members() int {
	n := 0
	for _, present := range []bool{p.Text != nil, p.Raw != nil, p.URL != nil, p.Data != nil, p.Ref != nil} {
		if present {
			n++
		}
	}
	return n
}

// BesideText returns those of parts that are no text, nil if there are none.
func BesideText(parts []Part) (out []Part) {
	for _, p := range parts {
		if p.Text == nil {
			out = append(out, p)
		}
	}
	return out
}

// AppendParts adds the parts of a piece of an artifact to those before it. Plain
// text is appended to the last part, so that an artifact streamed word by word
// becomes one text. It may change the array that parts is a slice of.
func AppendParts(parts []Part, piece ...Part) []Part {
	for _, p := range piece {
		if last := len(parts) - 1; last >= 0 && parts[last].plain() && p.plain() {
			text := *parts[last].Text + *p.Text
			parts[last].Text = &text
			continue
		}
		parts = append(parts, p)
	}
	return parts
}

// plain reports whether p is text and nothing else.
func (p Part) plain() bool {
	return p.Text != nil && p.Filename == "" && p.MediaType == "" && len(p.Metadata) == 0
}

// String returns p on one line, for people. A long content is cut.
func (p Part) String() string {
	switch {
	case p.Text != nil:
		return cut(*p.Text)
	case p.URL != nil:
		return *p.URL
	case p.Data != nil:
		return cut(string(p.Data))
	case p.Raw != nil:
		return fmt.Sprintf("%d bytes of %s", len(p.Raw), p.kind())
	case p.Ref != nil:
		return "content that is stored apart, " + p.kind()
	}
	return "nothing"
}

func (p Part) kind() string {
	switch {
	case p.Filename != "":
		return p.Filename
	case p.MediaType != "":
		return p.MediaType
	}
	return "unknown type"
}

func textOf(parts []Part) string {
	var texts []string
	for _, p := range parts {
		if p.Text != nil {
			texts = append(texts, *p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("a2a: value without a JSON form: " + err.Error())
	}
	return b
}

// Decode reads JSON into v, in which numbers of any form keep their digits.
func Decode(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}
