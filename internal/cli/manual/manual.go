// Package manual writes manual pages: one about the program, and one about each of its
// commands with all commands below it.
//
// No library does that: mango-kong makes one page of everything, without defaults, variables
// and arguments.
package manual

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// A Manual has what pages need to know beside the commands.
type Manual struct {
	App     *kong.Node // whose Name is in the names of all pages
	Version string
	Date    string // of the version, as 2006-01-02; "" leaves it out
	Files   []File // that the program reads or writes
}

// A File is a file or directory that the first page explains.
type File struct{ Name, Help string }

// Pages returns the commands that have pages, in the order of the help. The page about
// the program itself is "".
func (m Manual) Pages() []string {
	pages := []string{""}
	for _, c := range shownCommands(m.App) {
		pages = append(pages, c.Name)
	}
	return pages
}

// FileName is the name of the file for the page about a command.
func (m Manual) FileName(command string) string { return m.title(command) + ".1" }

// Write writes the page about a command, in the language of man(7).
func (m Manual) Write(w io.Writer, command string) error {
	out := &page{}
	n := m.App
	if command != "" {
		i := slices.IndexFunc(n.Children, func(c *kong.Node) bool { return !c.Hidden && c.Name == command })
		if i < 0 {
			return fmt.Errorf("no manual page about %q: name one of the commands %s", command, strings.Join(m.Pages()[1:], ", "))
		}
		n = n.Children[i]
	}
	fmt.Fprintf(&out.Builder, ".TH %q 1 %q %q %q\n", strings.ToUpper(escape(m.title(command))), m.Date, escape(m.App.Name+" "+m.Version), escape(m.App.Name)+" manual")
	// No hyphens, and lines need not fill the width: names and URLs stay whole.
	out.macro(".nh\n.ad l")
	if command == "" {
		m.program(out)
	} else {
		m.command(out, n)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (m Manual) title(command string) string {
	if command == "" {
		return m.App.Name
	}
	return m.App.Name + "-" + command
}

// program writes the page about the program.
func (m Manual) program(out *page) {
	first, rest, _ := strings.Cut(m.App.Help, "\n\n")
	out.section("NAME")
	out.text(m.App.Name + " - " + shortHelp(first))
	out.section("SYNOPSIS")
	out.synopsis(m.App.Name, "<command> [flags]")
	out.section("DESCRIPTION")
	out.text(first)
	out.macro(".PP")
	out.text(rest)
	out.section("COMMANDS")
	for _, c := range shownCommands(m.App) {
		out.macro(".TP")
		out.macro(`.BR ` + escape(m.title(c.Name)) + ` (1)`)
		out.text(c.Help)
	}
	if d := m.App.DefaultCmd; d != nil {
		out.macro(".PP")
		out.text("Without a command it does the same as " + m.App.Name + " " + d.Name + ".")
	}
	out.section("OPTIONS")
	out.text("Every command takes these. A flag overrides its variable of the environment, and that the configuration file.")
	out.flags(m.App.Flags)
	if len(m.Files) > 0 {
		out.section("FILES")
		for _, f := range m.Files {
			out.macro(".TP")
			out.macro(".I " + escape(f.Name))
			out.text(f.Help)
		}
	}
}

// command writes the page about a command, and those below it.
func (m Manual) command(out *page, n *kong.Node) {
	out.section("NAME")
	out.text(m.title(n.Name) + " - " + shortHelp(n.Help))
	out.section("SYNOPSIS")
	for i, c := range leafCommands(n) {
		if i > 0 {
			out.macro(".br")
		}
		out.synopsis(fullName(c), usageLine(c))
	}
	out.section("DESCRIPTION")
	out.text(n.Help)
	if n == m.App.DefaultCmd {
		out.macro(".PP")
		out.text("It is the default: " + m.App.Name + " without a command does the same.")
	}
	if n.Leaf() {
		out.arguments(n)
		if len(n.Flags) > 0 {
			out.section("OPTIONS")
			out.flags(n.Flags)
		}
	} else {
		out.section("COMMANDS")
		for _, c := range leafCommands(n) {
			out.macro(".SS \"" + escape(strings.Join(strings.Fields(fullName(c))[1:], " ")) + `"`)
			out.text(c.Help)
			if len(c.Aliases) > 0 {
				out.text("Also: " + strings.Join(c.Aliases, ", ") + ".")
			}
			out.arguments(c)
			out.flags(c.Flags)
		}
	}
	out.section("SEE ALSO")
	out.macro(".BR " + escape(m.App.Name) + " (1)")
}

// shownCommands returns the commands below n that the help shows.
func shownCommands(n *kong.Node) []*kong.Node {
	return slices.DeleteFunc(slices.Clone(n.Children), func(c *kong.Node) bool { return c.Hidden })
}

// leafCommands returns n, or the commands below it that do something.
func leafCommands(n *kong.Node) []*kong.Node {
	if n.Leaf() {
		return []*kong.Node{n}
	}
	return n.Leaves(true)
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
	for _, f := range n.Flags {
		if f.Required && !f.Hidden {
			parts = append(parts, f.Summary())
		}
	}
	return strings.Join(append(parts, "[flags]"), " ")
}

// shortHelp is a help text as it follows the name of a page: its first sentence, without a
// full stop and without a capital at its beginning.
func shortHelp(help string) string {
	help, _, _ = strings.Cut(help, ". ")
	help = strings.TrimSuffix(help, ".")
	if len(help) > 1 && strings.ToLower(help[1:2]) == help[1:2] {
		help = strings.ToLower(help[:1]) + help[1:]
	}
	return help
}
