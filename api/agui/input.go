package agui

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/message"
	"longhaul/api/wire"
)

// An Input is the request of a run.
type Input struct {
	ThreadID string            `json:"threadId"`
	RunID    string            `json:"runId"`
	Messages []json.RawMessage `json:"messages"`
	State    json.RawMessage   `json:"state"`
	Resume   []resume          `json:"resume"`
	Props    json.RawMessage   `json:"forwardedProps"`

	last *sent // the message to send; nil for none
}

// A resume is an answer to an interrupt.
type resume struct {
	ID      string          `json:"interruptId"`
	Status  string          `json:"status"`
	Payload json.RawMessage `json:"payload"`
}

// A sent is a message of a client.
type sent struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// A content is a part of the content of a message.
type content struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Source struct {
		Type  string `json:"type"`
		Value string `json:"value"`
		Media string `json:"mimeType"`
	} `json:"source"`
}

// ReadInput reads the body of a request, which is JSON.
func ReadInput(body []byte) (in Input, err error) {
	if err := json.Unmarshal(body, &in); err != nil {
		return in, call.InvalidField("body", "is not a RunAgentInput: "+err.Error())
	}
	var wrong []call.Violation
	add := func(field, problem string) {
		wrong = append(wrong, call.Violation{Field: field, Description: problem})
	}
	for _, id := range []struct{ field, value string }{{"threadId", in.ThreadID}, {"runId", in.RunID}} {
		if id.value == "" || !call.IsValidID(id.value) {
			add(id.field, fmt.Sprintf("must be an id of 1 to %d bytes", call.MaxID))
		}
	}
	for i, e := range in.Resume {
		if e.Status != "resolved" && e.Status != "cancelled" {
			add(fmt.Sprintf("resume[%d].status", i), "must be one of: resolved, cancelled")
		}
	}
	if len(wrong) > 0 {
		return in, call.Invalid(wrong...)
	}
	if n := len(in.Messages); n > 0 && len(in.Resume) == 0 {
		var last sent
		if err := json.Unmarshal(in.Messages[n-1], &last); err != nil {
			return in, call.InvalidField(fmt.Sprintf("messages[%d]", n-1), "is not a message: "+err.Error())
		}
		if last.Role == "user" {
			in.last = &last
		}
	}
	return in, nil
}

// ReadQuery reads the query of a request that sends nothing: it names a thread, and perhaps one
// of its runs.
func ReadQuery(q url.Values) (Input, error) {
	in := Input{ThreadID: q.Get("threadId"), RunID: q.Get("runId")}
	if in.ThreadID == "" || !call.IsValidID(in.ThreadID) || !call.IsValidID(in.RunID) {
		return in, call.InvalidField("threadId", "must be an id, and runId one or nothing")
	}
	return in, nil
}

// Operation returns the operation that the run needs first, whose right its caller must have.
func (in Input) Operation() string {
	switch {
	case len(in.Resume) > 0:
		return "AnswerInterrupt"
	case in.last != nil:
		return "SendMessage"
	}
	return "SubscribeToTask"
}

// keyMessage is the key in the metadata of a message for the id that its client gave it.
const keyMessage = "agui/v1/messageId"

// params returns the message to send. Its id is that of the run.
func (in Input) params(c *call.Call) (message.SendParams, error) {
	parts, err := in.parts()
	if err != nil {
		return message.SendParams{}, err
	}
	var props struct {
		Metadata a2a.Metadata `json:"metadata"`
	}
	_ = json.Unmarshal(in.Props, &props) // other properties are the application's
	m := map[string]any{
		"messageId": in.RunID, "contextId": in.ThreadID, "role": "ROLE_USER", "parts": parts, "metadata": props.Metadata.With(keyMessage, in.last.ID),
	}
	p, err := readParams(c, map[string]any{"message": m, "configuration": map[string]any{"returnImmediately": true}}, wire.ReadSend)
	p.Once = true
	return p, err
}

// parts returns the parts of the message to send, as A2A 1.0 writes them.
func (in Input) parts() ([]map[string]any, error) {
	var text string
	if json.Unmarshal(in.last.Content, &text) == nil {
		return []map[string]any{{"text": text}}, nil
	}
	field := fmt.Sprintf("messages[%d].content", len(in.Messages)-1)
	var list []content
	if err := json.Unmarshal(in.last.Content, &list); err != nil {
		return nil, call.InvalidField(field, "must be a text, or a list of parts")
	}
	var parts []map[string]any
	for i, p := range list {
		member := map[string]string{"data": "raw", "url": "url"}[p.Source.Type]
		switch media := []string{"image", "audio", "video", "document"}; {
		case p.Type == "text":
			parts = append(parts, map[string]any{"text": p.Text})
		case slices.Contains(media, p.Type) && member != "":
			part := map[string]any{member: p.Source.Value}
			if p.Source.Media != "" {
				part["mediaType"] = p.Source.Media
			}
			parts = append(parts, part)
		default:
			return nil, call.InvalidField(fmt.Sprintf("%s[%d]", field, i), "must be text, or a file as data or with a URL")
		}
	}
	return parts, nil
}

// readParams reads the params of an operation of A2A 1.0 or below /v1, as its binding does.
func readParams[P any](c *call.Call, params any, by func(*wire.Reader) P) (p P, err error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return p, fmt.Errorf("write the params of an operation: %w", err)
	}
	return wire.Params(c, wire.NewReader(wire.V10, raw), by, func([]string) error { return nil })
}
