package shown

import (
	"cmp"
	"encoding/json"
	"maps"
	"mime"
	"slices"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// untitled say what a gate without a title and a question waits for.
var untitled = map[opt.GateKind]string{opt.Credential: "an authorization", opt.Clarification: "a question"}

// Title returns the title of a gate, or what it waits for if it has none.
func Title(g *opt.Gate) string {
	first := ""
	if len(g.Questions) > 0 {
		first = g.Questions[0].Question
	}
	return cmp.Or(strings.TrimSpace(a2a.Visible(g.Title)), strings.TrimSpace(a2a.Visible(first)), untitled[g.Kind], "a decision")
}

// deciding are in the names of members of JSON by which people decide, and the last in all names.
var deciding = []string{"amount", "total", "sum", "price", "cost", "currency", "risk", "severity", "priority", ""}

// maxGist is the maximum length of a gist, in characters.
const maxGist = 150

// Gist returns what the object of a gate is about, in a line: the first lines of a text, or
// members of JSON, those by which people decide first.
func Gist(g *opt.Gate) string {
	text := ""
	if len(g.Object) == 0 {
		text = cmp.Or(g.Description, membersText(g.ArtifactData))
	}
	for i, p := range g.Object {
		if len(p.Data) > 0 && p.Data[0] == '{' {
			text = membersText(p.Data)
			break
		}
		if content, ok := p.Content(); ok {
			text = plainLines(content[:min(len(content), 4*maxGist)])
			break
		}
		if i == 0 {
			kind, _, _ := mime.ParseMediaType(p.MediaType)
			text = strings.Trim(p.Filename+", "+kind, ", ")
		}
	}
	return inLine(a2a.Visible(text), maxGist)
}

// plainLines returns the lines of a text in one, without the signs of Markdown.
func plainLines(text string) string {
	var list []string
	for line := range strings.Lines(strings.ToValidUTF8(text, "")) {
		if line = strings.TrimSpace(strings.TrimLeft(strings.ReplaceAll(line, "**", ""), "#>` \t")); line != "" {
			list = append(list, line)
		}
	}
	return strings.Join(list, " · ")
}

// membersText returns members of a JSON object that are no lists in a line, "" for other data.
func membersText(data json.RawMessage) string {
	var members map[string]any
	if json.Unmarshal(data, &members) != nil {
		return ""
	}
	rank := func(name string) int {
		return slices.IndexFunc(deciding, func(word string) bool { return strings.Contains(strings.ToLower(name), word) })
	}
	var list []string
	for _, name := range slices.SortedFunc(maps.Keys(members), func(a, b string) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
	}) {
		switch value := members[name].(type) {
		case string:
			list = append(list, name+" "+value)
		case float64:
			list = append(list, name+" "+strconv.FormatFloat(value, 'f', -1, 64))
		}
	}
	return strings.Join(list, " · ")
}

// A Follow says what happens after a decision, "" for what cannot be decided.
type Follow struct{ Accept, Reject, Refine string }

// FollowOf returns what happens after a decision at a gate of a task of p.
func FollowOf(g *opt.Gate, p *opt.Plan, t *opt.Task) (f Follow) {
	next := namesIn(p, func(other *opt.Task) bool { return !other.State.Ended() && slices.Contains(p.Before(other), t) })
	if t.Ask == nil { // its executor gets the answer
		return Follow{Accept: "this task continues with the answer" + Behind(", then: ", next)}
	}
	f.Accept = cmp.Or(next, "no other task waits for it")
	if f.Reject = f.Accept; !t.Optional() {
		f.Reject = "the plan " + Quoted(p.Name) + " fails" + Behind(", without: ", next)
	}
	again := namesIn(p, func(t *opt.Task) bool { return slices.Contains(g.Sources, t.ID) })
	f.Refine, f.Reject = When(g.Allows(opt.Refine), Behind("made again: ", again)), When(g.Allows(opt.Reject), f.Reject)
	return f
}

// namesIn returns the names of the tasks of a plan that are chosen, "" for none.
func namesIn(p *opt.Plan, chosen func(*opt.Task) bool) string {
	var names []string
	for _, t := range p.Tasks {
		if chosen(t) {
			names = append(names, Name(t.Name))
		}
	}
	return Listed("", names)
}
