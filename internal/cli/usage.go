package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"longhaul/internal/process"
)

// checkCommand returns an error if the first of args is no command of app, with the names
// that are most like it. Without it, the default command would refuse the word. Without args the
// error has the first commands.
func (p *program) checkCommand(app *kong.Application, args []string) error {
	names, first := []string{}, ""
	for _, c := range app.Children {
		names = append(names, c.Name)
		if slices.Contains(p.firstCommands(), c.Name) {
			first += fmt.Sprintf("\n  %s %-8s%s", p.Command, c.Name, c.Help)
		}
	}
	switch {
	case len(args) == 0:
		return process.Usagef("name a command. The first ones:\n%s\n", first)
	case strings.HasPrefix(args[0], "-"):
		return nil
	}
	if slices.Contains(names, args[0]) {
		return nil
	}
	if args[0] == "dev" || args[0] == "temporal" {
		err := fmt.Sprintf("this program has no Temporal inside, which the command %s needs: use api and worker with a Temporal elsewhere", args[0])
		if app.Name == "longhaul" {
			err += ", or from the source of Longhaul: go run ./dev " + args[0]
		}
		return process.Usagef("%s", err)
	}
	text := fmt.Sprintf("there is no command %s", args[0])
	if like := similarNames(args[0], names); len(like) > 0 {
		text += ". Did you mean " + strings.Join(like, " or ") + "?"
	}
	return &process.UsageError{Text: text, Command: app.Name}
}

// firstCommands returns the commands that a newcomer needs.
func (p *program) firstCommands() []string {
	if p.Embeds {
		return []string{"dev", "send", "inbox"}
	}
	return []string{"api", "worker", "send", "inbox"}
}

// similarNames returns the names that are most like word, none if all differ too much.
func similarNames(word string, names []string) (out []string) {
	least := min(2, (len(word)+1)/2)
	for _, name := range names {
		d := editDistance(word, name, least)
		if len(word) > 1 && strings.HasPrefix(name, word) {
			d = 0
		}
		if d < least {
			least, out = d, nil
		}
		if d == least {
			out = append(out, name)
		}
	}
	return out
}

// editDistance returns how many letters have to be added, removed, replaced or exchanged with
// the next one to make b of a. If these are more than most, it returns any number above most.
func editDistance(a, b string, most int) int {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	switch {
	case a == "" || b == "":
		return len(a) + len(b)
	case most == 0:
		return 1
	}
	rest := min(editDistance(a[1:], b, most-1), editDistance(a, b[1:], most-1), editDistance(a[1:], b[1:], most-1))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		rest = min(rest, editDistance(a[2:], b[2:], most-1))
	}
	return 1 + rest
}

// helpCommand is "longhaul help".
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"Command, such as send or keys create. Default: all commands."`
}

func (c *helpCommand) Run(p *program) error {
	return newProgram(p.Ctx, p.Stdout, p.Stderr, p.build).start(append(slices.Clone(c.Command), "--help"))
}
