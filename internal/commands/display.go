package commands

import (
	"io"
	"os"

	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
)

// A display shows what happens to a task.
type display interface {
	event(e client.Event)
	progress(o *client.Objective)
	// showWaiting prints what the task waits for, and each open gate, once.
	showWaiting(open func() []*opt.Gate)
	end()
}

// display returns the display for the output of the program: a live one on a
// terminal, unless raw events or only the result are wanted.
func (r *remote) display(raw, quiet bool) display {
	f, width, terminal := process.TerminalOf(r.process.Stdout)
	if raw || quiet || !terminal || os.Getenv("TERM") == "dumb" {
		return r.plain(raw, quiet)
	}
	inner := r.plain(false, true).(*printer)
	l := newLive(f, width, inner)
	r.outage.note = l.aboveTree(r.process.Note)
	return l
}

// plain returns the display for output that is not redrawn.
func (r *remote) plain(raw, quiet bool) display {
	if raw {
		return rawDisplay{r.process.Stdout}
	}
	_, _, terminal := process.TerminalOf(r.process.Stdout)
	return &printer{
		out: r.process.Stdout, quiet: quiet, color: process.Colored(r.process.Stdout), terminal: terminal, command: r.command,
		asked: map[string]bool{}, gates: map[string]*opt.Gate{}, closed: map[string]bool{}, seen: map[string]string{}, shown: map[string]string{},
	}
}

// A rawDisplay prints events as they came, one on a line.
type rawDisplay struct{ out io.Writer }

func (d rawDisplay) event(e client.Event) {
	process.RawLine(d.out, e.Raw)
}

func (rawDisplay) progress(*client.Objective)     {}
func (rawDisplay) showWaiting(func() []*opt.Gate) {}
func (rawDisplay) end()                           {}
