package commands

import (
	"cmp"
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
)

// forkCommand is "longhaul fork".
type forkCommand struct {
	remoteSettings
	Objective string            `arg:"" help:"Id of the objective to continue from, which stays as it is."`
	At        int               `help:"Number of its event after which the fork continues. Default: the latest." placeholder:"EVENT"`
	Message   string            `help:"Text in place of its request: new plans are made for it." placeholder:"TEXT"`
	Task      map[string]string `help:"New description of a task, which is done again with all that follows on it; may be repeated." placeholder:"ID=TEXT" mapsep:"none"`
	Repeat    bool              `help:"Also do tasks again that have begun and have no recorded end."`
	Key       string            `help:"Name of the fork: a repeat with the same one makes no second fork." placeholder:"KEY"`
	JSON      bool              `help:"Print the objective as JSON, as objectives/fork has it."`
}

func (c *forkCommand) Run(p *process.Process, r *remote) error {
	id, err := wholeID(p.Ctx, r, c.Objective)
	if err != nil {
		return err
	}
	id, _ = opt.SplitRoot(id)
	f := client.Fork{Key: cmp.Or(c.Key, client.NewKey())}
	f.At, f.Message, f.Repeat = c.At, c.Message, c.Repeat
	for task, text := range c.Task {
		f.Tasks = append(f.Tasks, client.TaskChange{ID: task, Description: &text})
	}
	o, err := r.client.Fork(p.Ctx, id, f)
	switch {
	case err != nil && strings.Contains(err.Error(), "no recorded end"):
		return fmt.Errorf("%w. To repeat them, add --repeat", err)
	case err != nil:
		return err
	case c.JSON:
		return r.callAndPrint(p, "objectives/get", map[string]any{"id": o.ID})
	}
	fmt.Fprintf(p.Stdout, "Objective %s: %s\n\n  %s %s\n", a2a.VisibleLine(o.ID), a2a.VisibleLine(o.Name), r.command("watch"), process.ShellWord(o.ID))
	return nil
}
