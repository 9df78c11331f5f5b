// Package completion writes scripts that complete command lines in bash, zsh and fish.
//
// A script has all commands, flags and their values in itself, so completing starts no
// program and asks no server. All three scripts work alike: a function with the name _at
// (or, in fish, a condition) knows what may follow each command, and a loop over the words
// before the cursor finds the command that they name.
//
// No library does that: kongplete and kong-completion start the program at each press of the
// key, and king puts help texts into scripts without quoting them.
package completion

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
)

// shells are those that scripts exist for, with their templates.
var shells = map[string]string{"bash": "bash.tmpl", "zsh": "zsh.tmpl", "fish": "fish.tmpl"}

//go:embed *.tmpl
var templates embed.FS

// Write writes the script that completes the commands of app in a shell: bash, zsh or
// fish. name is the name that users call the program by.
func Write(w io.Writer, shell string, app *kong.Node, name string) error {
	file, ok := shells[shell]
	if !ok {
		return fmt.Errorf("no completion for the shell %q: choose bash, zsh or fish", shell)
	}
	t, err := template.New(file).Funcs(template.FuncMap{"sh": quoteShell, "fish": quoteFish}).ParseFS(templates, file)
	if err != nil {
		return fmt.Errorf("read the template of the script: %w", err)
	}
	return t.Execute(w, script{Name: name, Func: identifier(name), Commands: commandsBelow(app, "")})
}

// A script is what the templates show.
type script struct {
	Name     string // of the program
	Func     string // with which functions in the script begin
	Commands []command
}

// A command is one that words before the cursor may name.
type command struct {
	Path     string // its names, separated by spaces; "" for the program itself
	Children []child
	Flags    []flag
	Args     []value
}

// A child is a command below another one.
type child struct{ Name, Help string }

// A flag is a flag with its dashes.
type flag struct {
	Name string
	Help string
	value
}

// A value is the value of a flag, or an argument.
type value struct {
	Takes bool     // false for a flag that is only given or not
	Words []string // that it may be; none if anything is possible
	File  bool     // it names a file or a directory
	Many  bool     // it may be repeated: the last argument of a command
}

// Spec is the value in the form of the scripts for bash and zsh: @ for a file, words with
// bars between them, or a dash if there is nothing to propose. An argument that may be
// repeated begins with a plus sign.
func (v value) Spec() string {
	spec := strings.Join(v.Words, "|")
	switch {
	case v.File:
		spec = "@"
	case spec == "":
		spec = "-"
	}
	if v.Many {
		return "+" + spec
	}
	return spec
}

// commandsBelow returns n and everything below it that is not hidden. A command with
// aliases is there once for each of its names.
func commandsBelow(n *kong.Node, path string) []command {
	c := command{Path: path, Flags: flagsOf(n)}
	for _, p := range n.Positional {
		v := valueOf(p)
		v.Many = p.IsCumulative()
		c.Args = append(c.Args, v)
	}
	var below []command
	for _, sub := range n.Children {
		if sub.Hidden {
			continue
		}
		c.Children = append(c.Children, child{sub.Name, summary(sub.Help)})
		for _, name := range append([]string{sub.Name}, sub.Aliases...) {
			below = append(below, commandsBelow(sub, strings.TrimSpace(path+" "+name))...)
		}
	}
	return append([]command{c}, below...)
}

// flagsOf returns the flags that may follow n: its own, those of the commands above it,
// and those of the command that runs if none is named.
func flagsOf(n *kong.Node) []flag {
	groups := n.AllFlags(true)
	if d := n.DefaultCmd; d != nil && d.Tag.Default == "withargs" {
		groups = append(groups, d.Flags)
	}
	var all []flag
	for i := range groups {
		for _, f := range groups[len(groups)-1-i] { // its own first
			if f.Hidden {
				continue
			}
			v := valueOf(f.Value)
			v.Takes = !f.IsBool() && !f.IsCounter()
			all = append(all, flag{"--" + f.Name, summary(f.Help), v})
			if f.Short != 0 {
				all = append(all, flag{"-" + string(f.Short), summary(f.Help), v})
			}
		}
	}
	return all
}

func valueOf(v *kong.Value) value {
	var words []string
	for _, w := range v.EnumSlice() {
		if w != "" {
			words = append(words, w)
		}
	}
	named := v.Tag.PlaceHolder == "FILE" || v.Tag.PlaceHolder == "DIR"
	if named || slices.Contains([]string{"path", "existingfile", "existingdir", "filecontent"}, v.Tag.Type) {
		return value{Takes: true, File: true}
	}
	return value{Takes: true, Words: words}
}

// summary is the first sentence of a help text, without its full stop.
func summary(help string) string {
	help, _, _ = strings.Cut(strings.Join(strings.Fields(help), " "), ". ")
	return strings.TrimSuffix(help, ".")
}

// identifier makes a name that functions may have from that of a program.
func identifier(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
}

// quoteShell quotes a word for bash and zsh.
func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// quoteFish quotes a word for fish.
func quoteFish(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
