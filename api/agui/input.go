package agui

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/gateform"
	"longhaul/api/message"
	"longhaul/api/wire"
	"longhaul/opt"
)

// An Input is the request of a run.
type Input struct {
	ThreadID string          `json:"threadId"`
	RunID    string          `json:"runId"` // "" for the latest of the thread
	Messages []sent          `json:"messages"`
	State    any             `json:"state"`
	Resume   []reply         `json:"resume"`
	Props    json.RawMessage `json:"forwardedProps"`
}

// A sent is a message of a client, which is written as it was read.
type sent struct {
	ID, Role string
	Content  json.RawMessage
	raw      json.RawMessage
}

func (s *sent) UnmarshalJSON(raw []byte) error {
	type members sent
	err := json.Unmarshal(raw, (*members)(s))
	s.raw = bytes.Clone(raw)
	return err
}

func (s sent) MarshalJSON() ([]byte, error) { return s.raw, nil }

// ReadInput reads the body of a request, which is JSON.
func ReadInput(body []byte) (in Input, err error) {
	if err := a2a.Decode(body, &in); err != nil {
		return in, call.InvalidField("body", "is not a RunAgentInput: "+err.Error())
	}
	for i, e := range in.Resume {
		in.Resume[i].ID, in.Resume[i].digest, _ = strings.Cut(e.ID, "#")
		if e.Status != "resolved" && e.Status != "cancelled" {
			return in, call.InvalidField(fmt.Sprintf("resume[%d].status", i), "must be one of: resolved, cancelled")
		}
	}
	if in.RunID == "" {
		return in, call.InvalidField("runId", "is missing")
	}
	return in, in.checkIDs()
}

// ReadQuery reads the query of a request that sends nothing: it names a thread, and perhaps one
// of its runs.
func ReadQuery(q url.Values) (Input, error) {
	in := Input{ThreadID: q.Get("threadId"), RunID: q.Get("runId")}
	return in, in.checkIDs()
}

func (in Input) checkIDs() error {
	for _, id := range [][2]string{{"threadId", in.ThreadID}, {"runId", cmp.Or(in.RunID, in.ThreadID)}} {
		if id[1] == "" || !call.IsValidID(id[1]) {
			return call.InvalidField(id[0], fmt.Sprintf("must be an id of 1 to %d bytes", call.MaxID))
		}
	}
	return nil
}

// Operation returns the operation that the run needs first, whose right its caller must have.
func (in Input) Operation() string {
	switch n := len(in.Messages); {
	case len(in.Resume) > 0:
		return "AnswerInterrupt"
	case n > 0 && in.Messages[n-1].Role == "user":
		return "SendMessage"
	}
	return "SubscribeToTask"
}

// keyMessage is the key in the metadata of a message for the id that its client gave it.
const keyMessage = "agui/v1/messageId"

// message returns the last message, which is sent. Its id is that of the run.
func (in Input) message(c *call.Call) (message.SendParams, error) {
	last := len(in.Messages) - 1
	parts, err := partsOf(in.Messages[last].Content, fmt.Sprintf("messages[%d].content", last))
	if err != nil {
		return message.SendParams{}, err
	}
	var props struct {
		Metadata a2a.Metadata `json:"metadata"`
	}
	_ = json.Unmarshal(in.Props, &props) // other properties are the application's
	m := object{
		"messageId": in.RunID, "contextId": in.ThreadID, "role": "ROLE_USER", "parts": parts, "metadata": props.Metadata.With(keyMessage, in.Messages[last].ID),
	}
	p, err := readParams(c, object{"message": m, "configuration": object{"returnImmediately": true}}, wire.ReadSend)
	p.Once = true
	return p, err
}

// partsOf returns the content of a message as A2A 1.0 writes its parts.
func partsOf(content json.RawMessage, field string) (parts []object, err error) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []object{{"text": text}}, nil
	}
	var list []struct {
		Type, Text string
		Source     struct{ Type, Value, MimeType string }
	}
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, call.InvalidField(field, "must be a text, or a list of parts")
	}
	for i, p := range list {
		member := map[string]string{"data": "raw", "url": "url"}[p.Source.Type]
		switch media := []string{"image", "audio", "video", "document"}; {
		case p.Type == "text":
			parts = append(parts, object{"text": p.Text})
		case slices.Contains(media, p.Type) && member != "":
			parts = append(parts, object{member: p.Source.Value, "mediaType": p.Source.MimeType})
		default:
			return nil, call.InvalidField(fmt.Sprintf("%s[%d]", field, i), "must be text, or a file as data or with a URL")
		}
	}
	return parts, nil
}

// readParams reads the params of an operation of A2A 1.0 or below /v1, as its binding does.
func readParams[P any](c *call.Call, params any, by func(*wire.Reader) P) (P, error) {
	raw, _ := json.Marshal(params) // they were made from JSON
	return wire.Params(c, wire.NewReader(wire.V10, raw), by, func([]string) error { return nil })
}

// A reply is what a client sends to an interrupt.
type reply struct {
	ID      string          `json:"interruptId"` // of the gate; the client also sends the digest
	Status  string          `json:"status"`
	Payload json.RawMessage `json:"payload"` // nil for none, which null is not: it may be an answer
	digest  string          // of the object that its client has seen; "" for none
}

// answer returns the answer to a gate, as /v1/interrupts takes it.
func (e reply) answer(c *call.Call, g *opt.Gate) (gate.AnswerParams, error) {
	var payload any
	_ = a2a.Decode(e.Payload, &payload) // nothing, or part of JSON
	answer := object{}
	members, _ := payload.(object)
	if approved, ok := payload.(bool); ok {
		members = object{"approved": approved}
	}
	switch {
	case e.Status == "cancelled":
		answer["action"] = opt.Reject
	case g.Kind == opt.Clarification:
		answer["answers"] = answersIn(g, payload, e.Payload != nil)
	case members != nil:
		answer = decisionIn(g, members)
	case payload != nil && payload != "":
		answer["text"] = payload
	default:
		return gate.AnswerParams{}, call.InvalidField("resume.payload", "must be an object as the responseSchema of the interrupt describes it")
	}
	if _, named := answer["objectDigest"]; e.digest != "" && !named && answer["text"] == nil {
		answer["objectDigest"] = e.digest
	}
	answer["id"] = g.ID
	return readParams(c, answer, wire.ReadAnswer)
}

// answersIn returns the answers of a payload, if one is given, to the questions of a gate. The answer to
// one question may be the whole payload.
func answersIn(g *opt.Gate, payload any, given bool) any {
	members, _ := payload.(object)
	if list, ok := members["answers"].([]any); ok {
		return list
	}
	if len(g.Questions) == 1 && given {
		if _, named := members[g.Questions[0].ID]; !named {
			members = object{g.Questions[0].ID: payload}
		}
	}
	return gateform.Answers(g, members)
}

// decisionIn returns the decision in a payload: an action of the gate, or approved as AG-UI has
// it, perhaps with other arguments of a call.
func decisionIn(g *opt.Gate, payload object) object {
	approved, ok := payload["approved"].(bool)
	if _, named := payload["action"]; named || !ok {
		return payload
	}
	out := object{"action": opt.Reject}
	for _, name := range []string{"feedback", "objectDigest"} {
		if v, ok := payload[name]; ok {
			out[name] = v
		}
	}
	if !approved {
		return out
	}
	out["action"] = opt.Accept
	var call object
	if args, ok := payload["editedArgs"]; ok && a2a.Decode(g.Shown().ArtifactData, &call) == nil && call != nil {
		call["arguments"] = args
		out["action"], out["editedArtifactData"] = opt.EditAccept, call
	} else if edited, ok := payload["editedArtifactData"]; ok {
		out["action"], out["editedArtifactData"] = opt.EditAccept, edited
	}
	return out
}
