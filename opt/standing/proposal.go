package standing

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Proposal is a decision that equal answers of a person propose. The person makes it, or does not.
type Proposal struct {
	Gates  string     `json:"gates"`
	Action opt.Action `json:"action"`
	Alike  int        `json:"alike"`       // how many answers
	MadeAt string     `json:"interruptId"` // of the latest of them
	Holds  string     `json:"holds"`       // the condition that holds for their objects, and for few others
}

// Alike is how many equal answers in a row propose a standing decision.
const Alike = 3

// Propose returns the gates at which the latest answers of a person are equal, of each name the latest
// [Alike]. answers are the latest first.
func Propose(answers []Answer) (alike [][]Answer) {
	by := map[string][]Answer{}
	for _, a := range answers {
		if len(by[a.Gates]) < Alike {
			by[a.Gates] = append(by[a.Gates], a)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		list := by[name]
		if len(list) == Alike && !slices.ContainsFunc(list, func(a Answer) bool { return a.Action != list[0].Action }) {
			alike = append(alike, list)
		}
	}
	return alike
}

// Condition returns a condition that holds for some objects: texts and flags that all have are equal,
// and numbers are no larger than the largest. It is "" if they have nothing of that.
func Condition(objects []json.RawMessage) string {
	var values []any
	for _, o := range objects {
		var v any
		if a2a.Decode(o, &v) != nil {
			return ""
		}
		values = append(values, v)
	}
	return strings.Join(clauses("object", values), " && ")
}

// longest bounds the texts of a condition, in bytes: people read it.
const longest = 200

// plain is a name that can be selected in CEL.
var plain = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

func clauses(path string, values []any) (list []string) {
	switch first := values[0].(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(first)) {
			at := path + "." + name
			if !plain.MatchString(name) {
				at = fmt.Sprintf("%s[%s]", path, strconv.Quote(name))
			}
			if inner := each(values, name); inner != nil {
				list = append(list, clauses(at, inner)...)
			}
		}
	case string, bool:
		text, _ := json.Marshal(first) // cannot fail
		if len(text) <= longest && !slices.ContainsFunc(values, func(v any) bool { return v != first }) {
			list = append(list, path+" == "+string(text))
		}
	case json.Number:
		if most := largest(values); most != "" {
			list = append(list, path+" <= "+most)
		}
	}
	return list
}

// each returns the member of all values, nil unless all have it.
func each(values []any, name string) (out []any) {
	for _, v := range values {
		m, _ := v.(map[string]any)
		inner, ok := m[name]
		if !ok {
			return nil
		}
		out = append(out, inner)
	}
	return out
}

// largest returns the largest of numbers, "" if one of values is none.
func largest(values []any) (most string) {
	at := 0.0
	for _, v := range values {
		n, ok := v.(json.Number)
		f, err := n.Float64()
		if !ok || err != nil {
			return ""
		}
		if most == "" || f > at {
			most, at = n.String(), f
		}
	}
	return most
}
