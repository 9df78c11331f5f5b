package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"longhaul/internal/cli/completion"
	"longhaul/internal/cli/manual"
	"longhaul/internal/process"
)

// completionCommand is "longhaul completion".
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
	Name  string `help:"Name that you call the program by. Default: the name of its file." placeholder:"NAME"`
}

func (c *completionCommand) Run(p *program, parsed *kong.Context) error {
	name := cmp.Or(c.Name, filepath.Base(cmp.Or(p.build.Called, p.Name.String())))
	var script bytes.Buffer
	if err := completion.Write(&script, c.Shell, parsed.Model.Node, name); err != nil {
		return err
	}
	_, err := script.WriteTo(p.Stdout)
	return err
}

// showPage shows a manual page on a terminal as man does, if this machine has man or mandoc, and
// writes its source elsewhere.
func showPage(p *program, page *bytes.Buffer) error {
	if out, _, ok := process.TerminalOf(p.Stdout); ok {
		for _, viewer := range [][]string{{"man", "-l", "-"}, {"mandoc", "-a"}} {
			path, err := exec.LookPath(viewer[0])
			if err != nil {
				continue
			}
			show := exec.CommandContext(p.Ctx, path, viewer[1:]...)
			show.Stdin, show.Stdout = bytes.NewReader(page.Bytes()), out
			if show.Run() == nil { // else this man takes no page from its input
				return nil
			}
		}
	}
	_, err := page.WriteTo(p.Stdout)
	return err
}

// manCommand is "longhaul man".
type manCommand struct {
	Command []string `arg:"" optional:"" help:"Command that the page is about, such as send or keys create. Default: the program itself."`
	Dir     string   `help:"Write the pages about the program and all its commands into this directory." type:"path" placeholder:"DIR"`
}

func (c *manCommand) Run(p *program, parsed *kong.Context) error {
	of := process.NewRelease(p.build.Version)
	m := manual.Manual{App: parsed.Model.Node, Version: of.Version, Date: of.Date(), Files: []manual.File{
		{Name: defaultConfigFile, Help: "Settings: the names of flags without their dashes. It is read from the working directory; --config names another."},
		{Name: ".longhaul", Help: "The data of processes on this machine: the journal, if it is a file, keys, and the database of the built-in Temporal. --data-dir names another directory."},
	}}
	if c.Dir == "" {
		var page bytes.Buffer
		if err := m.Write(&page, strings.Join(c.Command, " ")); err != nil {
			return process.Usagef("%v", err)
		}
		return showPage(p, &page)
	}
	if len(c.Command) > 0 {
		return process.Usagef("--dir writes all pages: name no command with it")
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return fmt.Errorf("make the directory for pages: %w", err)
	}
	for _, name := range m.Pages() {
		var page bytes.Buffer
		if err := m.Write(&page, name); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(c.Dir, m.FileName(name)), page.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write a page: %w", err)
		}
	}
	return nil
}
