package serve

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"go.uber.org/zap"

	"longhaul/internal/opfile"
	"longhaul/internal/process"
)

// Check is "longhaul check": the files and settings are read as at the start of a process that
// serves and works, by the same parts, and nothing is started.
type Check struct {
	Files    []string `arg:"" optional:"" help:"Playbooks, directories of playbooks, and files with commands, endpoints, agents, models, calendars, triggers or channels for notices, in place of those of the settings." type:"path"`
	As       string   `help:"Process that is to start with them: dev, where the executor echo is on, or worker." enum:",dev,worker" default:"" placeholder:"PROCESS"`
	Settings Settings `embed:""`
}

func (c *Check) Run(p *process.Process, b Build) error {
	if err := c.sort(); err != nil {
		return err
	}
	if c.As == "dev" || c.As == "" && p.Embeds {
		b = b.withEcho()
	}
	quotas, _, err := c.Settings.check()
	h := newHost(zap.NewNop(), c.Settings.Shared.Work.executorsOf(b))
	defer func() { _ = h.Stop() }()
	g := c.Settings.ground(h, quotas, nil)
	if wrong := h.start(p.Ctx, g.reach); wrong != nil {
		return errors.Join(err, wrong)
	}
	if err := errors.Join(err, h.start(p.Ctx, g.notices), h.start(p.Ctx, g.triggers), h.start(p.Ctx, g.planning)); err != nil {
		return err
	}
	fmt.Fprintln(p.Stdout, "No mistakes.")
	for _, file := range c.read() {
		fmt.Fprintf(p.Stdout, "  %s\n", file)
	}
	return nil
}

// places returns the settings that name files, by the member that a file of theirs has.
func (c *Check) places() map[string]*string {
	s := &c.Settings
	return map[string]*string{
		"commands": &s.Worker.Commands, "endpoints": &s.Worker.Endpoints, "agents": &s.Shared.Work.Agents, "models": &s.Shared.Work.Models, "channels": &s.Notices.Notices, "triggers": &s.API.Triggers,
		"calendars": &s.Shared.Work.Calendars,
	}
}

// read returns the files of the settings.
func (c *Check) read() []string {
	files := slices.Clone(c.Settings.Shared.Work.Playbooks)
	for _, file := range c.places() {
		if *file != "" {
			files = append(files, *file)
		}
	}
	slices.Sort(files)
	return files
}

// sort puts the files of the arguments into the settings for their kinds.
func (c *Check) sort() error {
	var playbooks []string
	given := map[string]string{}
	for _, file := range c.Files {
		kind := kindOf(file, c.places())
		if kind == "" {
			playbooks = append(playbooks, file)
			continue
		}
		if given[kind] != "" {
			return process.Usagef("%s and %s both have %s: a process takes one such file", given[kind], file, kind)
		}
		given[kind], *c.places()[kind] = file, file
	}
	if len(playbooks) > 0 {
		c.Settings.Shared.Work.Playbooks = playbooks
	}
	return nil
}

// kindOf returns which of some members a file has, "" for a playbook, and for what cannot be read:
// the reader of playbooks says why.
func kindOf(path string, members map[string]*string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for _, name := range opfile.Members(data) {
		if members[name] != nil {
			return name
		}
	}
	return ""
}
