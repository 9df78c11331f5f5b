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
	"cmp"
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
	t, err := template.New(file).Funcs(template.FuncMap{
		"sh": quoteShell, "fish": quoteFish, "help": summary, "shown": shownCommands, "isFile": isFile, "words": words, "kind": kind, "argument": argument,
	}).ParseFS(templates, file)
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
	Path  string // its names, separated by spaces; "" for the program itself
	Node  *kong.Node
	Flags []flag
}

// A flag is a flag under one of its names, with dashes.
type flag struct {
	Name  string
	Takes bool // false for a flag that is only given or not
	*kong.Value
}

// commandsBelow returns n and everything below it that is not hidden. A command with
// aliases is there once for each of its names.
func commandsBelow(n *kong.Node, path string) []command {
	all := []command{{path, n, flagsOf(n)}}
	for _, sub := range shownCommands(n) {
		for _, name := range append([]string{sub.Name}, sub.Aliases...) {
			all = append(all, commandsBelow(sub, strings.TrimSpace(path+" "+name))...)
		}
	}
	return all
}

func shownCommands(n *kong.Node) []*kong.Node {
	return slices.DeleteFunc(slices.Clone(n.Children), func(c *kong.Node) bool { return c.Hidden })
}

// flagsOf returns the flags that may follow n: its own, those of the commands above it,
// and those of the command that runs if none is named.
func flagsOf(n *kong.Node) []flag {
	groups := n.AllFlags(true)
	if d := n.DefaultCmd; d != nil && d.Tag.Default == "withargs" {
		groups = append(groups, d.Flags)
	}
	var all []flag
	for _, group := range slices.Backward(groups) { // its own first
		for _, f := range group {
			if f.Hidden {
				continue
			}
			takes := !f.IsBool() && !f.IsCounter()
			all = append(all, flag{"--" + f.Name, takes, f.Value})
			if f.Short != 0 {
				all = append(all, flag{"-" + string(f.Short), takes, f.Value})
			}
		}
	}
	return all
}

// isFile reports whether a value names a file or a directory.
func isFile(v *kong.Value) bool {
	named := v.Tag.PlaceHolder == "FILE" || v.Tag.PlaceHolder == "DIR"
	return named || slices.Contains([]string{"path", "existingfile", "existingdir", "filecontent"}, v.Tag.Type)
}

// words returns what a value may be, none if anything is possible.
func words(v *kong.Value) []string {
	return slices.DeleteFunc(slices.Clone(v.EnumSlice()), func(w string) bool { return w == "" })
}

// kind is the form of a value in the scripts for bash and zsh: @ for a file, words with bars
// between them, or a dash if there is nothing to propose.
func kind(v *kong.Value) string {
	if isFile(v) {
		return "@"
	}
	return cmp.Or(strings.Join(words(v), "|"), "-")
}

// argument is the kind of an argument, with a plus sign before it if that may be repeated: the
// last one of a command.
func argument(v *kong.Value) string {
	if v.IsCumulative() {
		return "+" + kind(v)
	}
	return kind(v)
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
