package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
)

// A listing prints entries: each as a line of JSON, or all as a table.
type listing struct {
	out  io.Writer
	json bool
	none string // in place of a table without rows
	head []string
	rows [][]string
}

// add adds an entry. raw is its JSON.
func (l *listing) add(raw json.RawMessage, row ...string) {
	if l.json {
		process.RawLine(l.out, raw)
	}
	l.rows = append(l.rows, row)
}

// end prints the table, and reports whether there is one.
func (l *listing) end() bool {
	switch {
	case l.json:
		return false
	case len(l.rows) == 0:
		fmt.Fprintln(l.out, l.none)
		return false
	}
	process.WriteTable(l.out, l.head, l.rows)
	return true
}

// listPage is how many entries a list asks for at a time.
const listPage = 100

// listCommand is "longhaul list".
type listCommand struct {
	remoteSettings
	Status string `help:"Only objectives with this status." enum:",submitted,planning,working,blocked,completed,failed,canceled" default:"" placeholder:"STATUS"`
	Limit  int    `help:"Show at most this many, the newest first." default:"50"`
	JSON   bool   `help:"Print each objective as a line of JSON, as objectives/list has it."`
}

func (c *listCommand) Run(p *process.Process, r *remote) error {
	if c.Limit < 1 {
		return process.Usagef("--limit must be 1 or more")
	}
	l := listing{out: p.Stdout, json: c.JSON, none: "No objectives.", head: []string{"OBJECTIVE", "STATUS", "CHANGED", "NAME"}}
	now, left, token := time.Now(), c.Limit, ""
	for {
		raw, err := r.client.Call(p.Ctx, "objectives/list", client.ObjectiveOptions{Status: opt.ObjectiveStatus(c.Status), PageSize: min(left, listPage), PageToken: token})
		if err != nil {
			return err
		}
		var page struct {
			Objectives    []json.RawMessage `json:"objectives"`
			NextPageToken string            `json:"nextPageToken"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return fmt.Errorf("read the list of objectives: %w", err)
		}
		for _, raw := range page.Objectives {
			var o client.Objective
			if err := json.Unmarshal(raw, &o); err != nil {
				return fmt.Errorf("read an objective: %w", err)
			}
			l.add(raw, o.ID, lookOf(&o).Word, durationText(now.Sub(o.UpdatedAt.Time()))+" ago", o.Name)
		}
		left, token = left-len(page.Objectives), page.NextPageToken
		if token == "" || left <= 0 || len(page.Objectives) == 0 {
			break
		}
	}
	l.end()
	return nil
}

// inboxCommand is "longhaul inbox".
type inboxCommand struct {
	remoteSettings
	Kind      string `help:"Only gates of this kind." enum:",approval,clarification,credential" default:"" placeholder:"KIND"`
	Objective string `help:"Only gates of this objective." placeholder:"ID"`
	Mine      bool   `help:"Only gates that wait for you: that you may answer, and at which you have not voted."`
	JSON      bool   `help:"Print each gate as a line of JSON, as /v1/interrupts has it."`
}

func (c *inboxCommand) Run(p *process.Process, r *remote) error {
	r.page = page{"open gates", "/v1/interrupts"}
	l := listing{out: p.Stdout, json: c.JSON, none: "Nothing waits for a person.", head: []string{"ID", "KIND", "WAITS", "NEXT", "QUESTION"}}
	now := time.Now()
	for o := (client.InterruptOptions{Kind: opt.GateKind(c.Kind), ObjectiveID: c.Objective, Mine: c.Mine, PageSize: listPage}); ; {
		page, err := r.client.Interrupts(p.Ctx, o)
		if err != nil {
			return err
		}
		for i, g := range page.Interrupts {
			next := "-"
			if g.Next != nil {
				next = fmt.Sprintf("%s in %s", g.Next, durationText(max(0, g.Next.At.Time().Sub(now))))
			}
			l.add(page.Raw[i], g.ID, string(g.Kind), durationText(now.Sub(g.RequestedAt.Time())), next, g.Prompt())
		}
		if o.PageToken = page.NextPageToken; o.PageToken == "" || len(page.Interrupts) == 0 {
			break
		}
	}
	if l.end() {
		fmt.Fprintf(p.Stdout, "\nTo see one whole, and how to answer it:\n\n  %s ID\n", r.command("get"))
	}
	return nil
}
