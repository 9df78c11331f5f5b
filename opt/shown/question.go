package shown

import (
	"cmp"
	"encoding/json"
	"math/big"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Question is one of a clarification, with the kind of input that fits its schema, on pages, in
// chats and in terminals.
type Question struct {
	Text, Hint string
	Options    []string          // the only answers, if there are any
	Several    []json.RawMessage // of which a list is the answer, if the schema names them
	Boolean    bool              // yes or no. It has no default, which would be an answer by accident
	Number     bool
	Step       string // of a number: "1" for whole ones, or "any"
	Min, Max   string // of a number, "" for none
}

// NewQuestion returns how q is asked.
func NewQuestion(q opt.Question) Question {
	out := Question{Text: a2a.Visible(cmp.Or(q.Question, q.ID))}
	var s bounds
	if json.Unmarshal(q.Schema, &s) != nil {
		return out
	}
	for _, v := range q.Choices() {
		out.Options = append(out.Options, a2a.DataText(v))
	}
	switch {
	case len(out.Options) > 0:
	case s.Type == "boolean":
		out.Boolean = true
	case s.Type == "integer", s.Type == "number":
		out.Number, out.Step = true, "any"
		if s.Type == "integer" {
			out.Step = "1"
		}
		out.Min, out.Max = s.attribute(s.Minimum), s.attribute(s.Maximum)
		out.Hint = s.numbersHint()
	case s.Type == "string":
		out.Hint = limitsHint("", [4]string{"at least ", "", "at most ", ""}, s.MinLength, "", s.MaxLength, "")
		if out.Hint != "" {
			out.Hint += " characters"
		}
	case s.Type == "array", s.Type == "object":
		out.Hint = "as JSON"
		out.Several = opt.Question{Schema: s.Items}.Choices()
	}
	return out
}

// bounds are the members of a schema that an input shows. Numbers are kept as they are
// written.
type bounds struct {
	Type      any             `json:"type"`
	Minimum   json.Number     `json:"minimum"`
	Maximum   json.Number     `json:"maximum"`
	MoreThan  json.Number     `json:"exclusiveMinimum"`
	LessThan  json.Number     `json:"exclusiveMaximum"`
	MinLength json.Number     `json:"minLength"`
	MaxLength json.Number     `json:"maxLength"`
	Items     json.RawMessage `json:"items"`
}

// attribute returns a bound as an attribute of the input. Whole numbers are counted from the
// minimum, so a minimum that is no whole number is left to the server.
func (s bounds) attribute(n json.Number) string {
	if r, ok := new(big.Rat).SetString(n.String()); s.Type == "integer" && (!ok || !r.IsInt()) {
		return ""
	}
	return n.String()
}

// numbersHint returns which numbers are allowed, for people.
func (s bounds) numbersHint() string {
	kind := "a number"
	if s.Type == "integer" {
		kind = "a whole number"
	}
	return limitsHint(kind, [4]string{"at least ", "more than ", "at most ", "less than "}, s.Minimum, s.MoreThan, s.Maximum, s.LessThan)
}

// limitsHint returns the kind of a value and its bounds for people. Bounds may be missing.
func limitsHint(kind string, words [4]string, bounds ...json.Number) string {
	var list []string
	if kind != "" {
		list = append(list, kind)
	}
	for i, n := range bounds {
		if n != "" {
			list = append(list, words[i]+n.String())
		}
	}
	return strings.Join(list, ", ")
}
