package planner

import (
	"cmp"
	"strings"
	"unicode"

	"longhaul/a2a"
	"longhaul/opt"
)

// nameLength is the length of a name that is made from a text.
const nameLength = 80

// facts are the values of a request that a template may use. Each is cut to the
// length of a description. Executors also get the whole message.
type facts struct {
	Message     string // the text of the message
	Name        string // of the objective
	Description string // of the objective
}

// factNames are the fields of facts, as templates know them.
var factNames = []string{"Message", "Name", "Description"}

func newFacts(name, description string, m *a2a.Message) facts {
	f := facts{Name: clipText(name), Description: clipText(description)}
	if m != nil {
		f.Message = clipText(m.Text())
	}
	f.Name = cmp.Or(f.Name, shorten(oneLine(f.Message), nameLength))
	return f
}

// request returns the text of the request: the message, or else the name and
// description of the objective.
func (f facts) request() string {
	for _, s := range []string{f.Message, f.Description, f.Name} {
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
	return ""
}

// clipText cuts s to the length that a description may have.
func clipText(s string) string {
	if len(s) > opt.MaxDescription {
		s = strings.ToValidUTF8(s[:opt.MaxDescription], "")
	}
	return s
}

// oneLine makes each run of white space in s a single blank.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// shorten returns s with at most n characters. A shortened text ends with an ellipsis.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return strings.TrimRightFunc(string(r[:n-1]), unicode.IsSpace) + "…"
}
