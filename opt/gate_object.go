package opt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"longhaul/a2a"
)

// A GateForm says how a gate is made from results of tasks when it opens.
type GateForm struct {
	Title       []Piece  `json:"title,omitempty"`
	Description []Piece  `json:"description,omitempty"`
	Object      []string `json:"object,omitempty"` // whose results are to be decided on, as in Piece.Results
	Checks      *Checks  `json:"checks,omitempty"` // before people are asked; nil for none
}

// A Piece is a part of a text that includes results of tasks.
type Piece struct {
	Literal string `json:"literal,omitempty"`
	Results string `json:"results,omitempty"` // "task-2" for the results of that task of the plan, or [AllResults]; "" for a literal
	Answer  string `json:"answer,omitempty"`  // id of a question of that task, to which it is the answer in place of results; "" for none
}

// AllResults is what a [Piece] names for the results of every task before its
// own.
const AllResults = "all"

// mostShown is the size up to which an object is also in the gate that clients see.
// All of it is always in the status message.
const mostShown = 16 << 10

// Shown returns g as clients see it. An object of one part that is text or JSON of
// modest size is its ArtifactData.
func (g *Gate) Shown() *Gate {
	out := *g
	if next, ok := g.NextStep(); ok {
		out.Next = &next
	}
	out.Object, out.Sources, out.Form = nil, nil, nil
	if len(g.Object) == 0 || g.ArtifactData != nil {
		return &out
	}
	if out.ArtifactType == "" {
		out.ArtifactType = typeOf(g.Object)
	}
	switch p := g.Object[0]; {
	case len(g.Object) > 1:
	case p.Text != nil && len(*p.Text) <= mostShown:
		out.ArtifactData = a2a.DataPart(*p.Text).Data
	case p.Data != nil && len(p.Data) <= mostShown:
		out.ArtifactData = p.Data
	}
	return &out
}

// typeOf returns the media type of an object, "" for one of several types.
func typeOf(parts []a2a.Part) string {
	of := func(p a2a.Part) string {
		member := ""
		if p.Ref != nil {
			member = p.Ref.Member
		}
		switch {
		case p.MediaType != "":
			return p.MediaType
		case p.Text != nil || member == "text":
			return "text/plain"
		case p.Data != nil || member == "data":
			return "application/json"
		}
		return "application/octet-stream"
	}
	for _, p := range parts[1:] {
		if of(p) != of(parts[0]) {
			return ""
		}
	}
	return of(parts[0])
}

// EditedPart returns the part for data that a person puts in the place of an
// object: text for a JSON string.
func EditedPart(data json.RawMessage) a2a.Part {
	var text string
	if json.Unmarshal(data, &text) == nil && len(data) > 0 && data[0] == '"' {
		return a2a.TextPart(text)
	}
	return a2a.Part{Data: data}
}

// Digest returns the digest of the object of g, "" if it has none: "sha256:" and the
// SHA-256, in hexadecimal, of a JSON list in the canonical form of RFC 8785. The
// list has an object for each part, in order, with "sha256", the part's own digest,
// and "mediaType" and "filename" if the part has them.
func (g *Gate) Digest() string {
	parts := g.Object
	if len(parts) == 0 && g.ArtifactData != nil {
		parts = []a2a.Part{{Data: g.ArtifactData}}
	}
	return PartsDigest(parts)
}

// PartsDigest returns the digest of parts, as in [Gate.Digest]; "" for none.
func PartsDigest(parts []a2a.Part) string {
	if len(parts) == 0 {
		return ""
	}
	list := make([]map[string]string, len(parts))
	for i, p := range parts {
		list[i] = map[string]string{"sha256": p.Digest()}
		if p.MediaType != "" {
			list[i]["mediaType"] = p.MediaType
		}
		if p.Filename != "" {
			list[i]["filename"] = p.Filename
		}
	}
	return digestOf(list)
}

// Checks say which tasks check the object of an approval before people are asked. Their results are
// findings. If each group accepts, no one is asked; if one rejects, the object goes back to those who
// made it, for some rounds; in all other cases people decide.
type Checks struct {
	Groups []CheckGroup `json:"groups"`
	Rounds int          `json:"rounds,omitempty"` // how often a rejection sends the object back; 0 for never
	Texts  bool         `json:"texts,omitempty"`  // some of them see only texts of modest size: people decide about other objects

	Requested bool `json:"requested,omitempty"` // the criteria are those of the message that began the work
}

// A CheckGroup is a number of checks that vote.
type CheckGroup struct {
	Tasks []string `json:"tasks"` // as in [Piece.Results]
	Need  int      `json:"need"`  // how many of them must accept, and how many must reject to reject
}

// A Finding is what a check says about an object.
type Finding struct {
	Check   string `json:"check"` // the name of the task
	TaskID  string `json:"taskId"`
	Verdict Action `json:"verdict"`          // accept or reject; ask: people should decide
	Reason  string `json:"reason,omitempty"` // in words
	Asked   string `json:"asked,omitempty"`  // digest of the executor and the input of the check
	Digest  string `json:"digest,omitempty"` // of all that the check has returned, made as [Gate.Digest] is

	Requested bool `json:"requested,omitempty"` // by criteria of the message that began the work
}

// String returns f on one line, for people.
func (f Finding) String() string {
	text := f.Check
	if f.Requested {
		text += ", as requested"
	}
	text += ": " + string(f.Verdict)
	if f.Reason != "" {
		text += ", " + a2a.VisibleLine(f.Reason)
	}
	return text
}

// maxReason bounds the reason in a finding, in bytes.
const maxReason = 500

// Finding returns what t, which checks an object, has found. A task that has not checked it by
// itself has found nothing, so that people decide: it has failed, or a client has ended or linked it.
func (t *Task) Finding() Finding {
	f := Finding{Check: t.Name, TaskID: t.A2AID(), Verdict: Ask, Asked: digestOf([]any{t.Executor, t.Input})}
	if t.State != TaskCompleted || t.ByHand || t.Link != "" {
		f.Reason = strings.TrimSpace("It has not been checked. " + t.Failure)
		return f
	}
	var parts []a2a.Part
	for _, a := range t.Artifacts {
		parts = append(parts, a.Parts...)
	}
	f.Digest, f.Reason = PartsDigest(parts), "The check has returned no verdict."
	for _, p := range parts {
		if f.read(p) {
			break
		}
	}
	return f
}

// read reads a verdict from a part of a result: JSON as data or as a text.
func (f *Finding) read(p a2a.Part) bool {
	raw := []byte(p.Data)
	if p.Text != nil {
		raw = []byte(*p.Text)
	}
	var said struct {
		Verdict Action `json:"verdict"`
		Reason  string `json:"reason"`
	}
	if json.Unmarshal(raw, &said) != nil || !slices.Contains([]Action{Accept, Reject, Ask}, said.Verdict) {
		return false
	}
	f.Verdict, f.Reason = said.Verdict, strings.ToValidUTF8(said.Reason[:min(len(said.Reason), maxReason)], "")
	return true
}

// Decide returns what follows from findings, by the ids of their tasks: accept, reject, or ask.
func (c *Checks) Decide(found func(place string) Finding) Action {
	result := Accept
	for _, g := range c.Groups {
		count := map[Action]int{}
		for _, place := range g.Tasks {
			count[found(place).Verdict]++
		}
		switch {
		case count[Accept] >= g.Need:
		case count[Reject] >= g.Need:
			result = Reject
		default:
			return Ask
		}
	}
	return result
}

// Places lists the tasks of c.
func (c *Checks) Places() (list []string) {
	if c == nil {
		return nil
	}
	for _, g := range c.Groups {
		list = append(list, g.Tasks...)
	}
	return list
}

// Valid returns why c cannot be, nil if it can.
func (c *Checks) Valid() error {
	for _, g := range c.Groups {
		if n := len(g.Tasks); n == 0 || g.Need < 1 || g.Need > n || 2*g.Need <= n {
			return fmt.Errorf("of %d checks more than half must agree, and at most all: not %d", len(g.Tasks), g.Need)
		}
	}
	return nil
}

// A ToolCall is the object of a gate that asks whether a model may call a tool.
type ToolCall struct {
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// Call returns the call that g is about; ok is false if it is about something else.
func (g *Gate) Call() (c ToolCall, ok bool) {
	err := json.Unmarshal(g.Shown().ArtifactData, &c)
	return c, err == nil && c.Tool != "" && c.Server != "" && c.Arguments != nil
}

// Contents returns an object as JSON, nil if it is none, and as text. whole is false unless these
// have all of it: it is one value of JSON, or texts alone.
func Contents(parts []a2a.Part) (data json.RawMessage, text string, whole bool) {
	if len(parts) == 1 && parts[0].Data != nil {
		return parts[0].Data, string(parts[0].Data), true
	}
	var texts []string
	for _, p := range parts {
		if p.Text == nil {
			return nil, "", false
		}
		texts = append(texts, *p.Text)
	}
	if text = strings.Join(texts, "\n"); json.Valid([]byte(text)) {
		data = json.RawMessage(text)
	}
	return data, text, len(texts) > 0
}
