package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"longhaul/internal/opfile"
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
	if like := opfile.Nearest(args[0], names); len(like) > 0 {
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

// helpCommand is "longhaul help".
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"Command, such as send or keys create. Default: all commands."`
}

func (c *helpCommand) Run(p *program) error {
	return newProgram(p.Ctx, p.Stdout, p.Stderr, p.build).start(append(slices.Clone(c.Command), "--help"))
}
