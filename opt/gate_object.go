package opt

import (
	"encoding/json"

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
