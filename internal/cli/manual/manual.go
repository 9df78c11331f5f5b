// Package manual writes manual pages: one about the program, and one about each of its
// commands with all commands below it.
//
// No library does that: mango-kong makes one page of everything, without defaults, variables
// and arguments.
package manual

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
)

//go:embed page.tmpl
var pageTemplate string

// A Manual has what pages need to know beside the commands.
type Manual struct {
	App     *kong.Node // whose Name is in the names of all pages
	Version string
	Date    string // of the version, as 2006-01-02; "" leaves it out
	Files   []File // that the program reads or writes
}

// A File is a file or directory that the first page explains.
type File struct{ Name, Help string }

// Shown returns the commands that the help shows.
func (m Manual) Shown() []*kong.Node {
	return slices.DeleteFunc(slices.Clone(m.App.Children), func(c *kong.Node) bool { return c.Hidden })
}

// Pages returns the commands that have pages, in the order of the help. The page about
// the program itself is "".
func (m Manual) Pages() []string {
	pages := []string{""}
	for _, c := range m.Shown() {
		pages = append(pages, c.Name)
	}
	return pages
}

// FileName is the name of the file for the page about a command.
func (m Manual) FileName(command string) string { return m.title(command) + ".1" }

func (m Manual) title(command string) string {
	return strings.TrimSuffix(m.App.Name+"-"+strings.ReplaceAll(command, " ", "-"), "-")
}

// find returns the command with a name, such as "keys create"; "" is the program. It returns nil
// if the help shows none of that name.
func (m Manual) find(command string) *kong.Node {
	found := m.App
	for word := range strings.FieldsSeq(command) {
		i := slices.IndexFunc(found.Children, func(c *kong.Node) bool { return c.Name == word && !c.Hidden })
		if i < 0 {
			return nil
		}
		found = found.Children[i]
	}
	return found
}

// Write writes the page about a command, such as "keys" or "keys create".
func (m Manual) Write(w io.Writer, command string) error {
	p := page{m, m.find(command), m.title(command)}
	if p.Node == nil {
		return fmt.Errorf("no manual page about %q: name one of the commands %s", command, strings.Join(m.Pages()[1:], ", "))
	}
	t, err := template.New("").Funcs(template.FuncMap{
		"esc": escape, "text": textLines, "short": shortHelp, "usage": usageLine, "words": words, "join": strings.Join, "upper": strings.ToUpper,
		"name":  fullName,
		"below": func(n *kong.Node) string { return strings.TrimPrefix(fullName(n), m.App.Name+" ") },
		"placeholder": func(f *kong.Flag) string {
			return cmp.Or(f.PlaceHolder, strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")))
		},
	}).Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("read the template of manual pages: %w", err)
	}
	return t.ExecuteTemplate(w, "page", p)
}

// A page is what the template shows.
type page struct {
	Manual
	Node  *kong.Node // the command, or the program
	Title string
}

// IsProgram reports whether the page is about the program.
func (p page) IsProgram() bool { return p.Node == p.App }

// Paragraphs are those of the help.
func (p page) Paragraphs() []string { return strings.SplitN(p.Node.Help, "\n\n", 2) }

// Leaves returns the command, or the commands below it that do something.
func (p page) Leaves() []*kong.Node {
	if p.Node.Leaf() {
		return []*kong.Node{p.Node}
	}
	return p.Node.Leaves(true)
}

// fullName is the name of a command with those above it.
func fullName(n *kong.Node) string {
	if n.Parent == nil {
		return n.Name
	}
	return fullName(n.Parent) + " " + n.Name
}

// usageLine is what may follow the name of a command.
func usageLine(n *kong.Node) string {
	var parts []string
	for _, a := range n.Positional {
		parts = append(parts, a.Summary())
	}
	if required := n.FlagSummary(true); required != "" {
		parts = append(parts, required)
	}
	return strings.Join(append(parts, "[flags]"), " ")
}

// shortHelp is a help text as it follows the name of a page: its first sentence, without a
// full stop and without a capital at its beginning.
func shortHelp(help string) string {
	help, _, _ = strings.Cut(help, "\n\n")
	help, _, _ = strings.Cut(help, ". ")
	help = strings.TrimSuffix(help, ".")
	if len(help) > 1 && strings.ToLower(help[1:2]) == help[1:2] {
		help = strings.ToLower(help[:1]) + help[1:]
	}
	return help
}

// words returns which words a value may be.
func words(v *kong.Value) []string {
	return slices.DeleteFunc(slices.Clone(v.EnumSlice()), func(w string) bool { return w == "" })
}

// textLines returns a text as lines that are short enough for people who read the source. A
// text without words has no lines, since an empty one would be shown.
func textLines(s string) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(s) {
		word = escape(word)
		switch {
		case column > 0 && column+1+len(word) <= 78:
			b.WriteByte(' ')
			column++
		case column > 0:
			b.WriteByte('\n')
			column = 0
		}
		if column == 0 && strings.ContainsAny(word[:1], ".'") {
			word = `\&` + word // not a macro
		}
		b.WriteString(word)
		column += len(word)
	}
	if column > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// escape writes a text so that no part of it is taken for the language: each hyphen is a
// minus sign, which people may copy.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`).Replace(s)
}
