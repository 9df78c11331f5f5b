package commands

import (
	"fmt"
	"io"
	"math"
	"time"

	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
)

// A listing prints a list of the agent: each item as a line of JSON, or all as a table.
type listing[T any] struct {
	json  bool
	limit int    // of items; 0 reads one page
	none  string // in place of a table without rows
	head  []string
	row   func(T) []string
	read  func(size int, token string) (*client.Page[T], error) // a page of at most size items
}

// listPage is how many items a list asks for at a time.
const listPage = 100

// print reads and prints the list, and reports whether it has printed a table.
func (l listing[T]) print(out io.Writer) (table bool, err error) {
	var rows [][]string
	for left, token := l.limit, ""; ; {
		page, err := l.read(min(left, listPage), token)
		if err != nil {
			return false, err
		}
		for i, item := range page.Items {
			if l.json {
				process.RawLine(out, page.Raw[i])
				continue
			}
			rows = append(rows, l.row(item))
		}
		left, token = left-len(page.Items), page.NextPageToken
		if token == "" || left <= 0 || len(page.Items) == 0 {
			break
		}
	}
	switch {
	case l.json:
		return false, nil
	case len(rows) == 0:
		fmt.Fprintln(out, l.none)
		return false, nil
	}
	process.WriteTable(out, l.head, rows)
	return true, nil
}

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
	now := time.Now()
	_, err := listing[client.Objective]{
		json: c.JSON, limit: c.Limit, none: "No objectives.", head: []string{"OBJECTIVE", "STATUS", "CHANGED", "NAME"},
		read: func(size int, token string) (*client.Page[client.Objective], error) {
			return r.client.ListObjectives(p.Ctx, client.ObjectiveOptions{Status: opt.ObjectiveStatus(c.Status), PageSize: size, PageToken: token})
		},
		row: func(o client.Objective) []string {
			return []string{o.ID, lookOf(&o).Word, durationText(now.Sub(o.UpdatedAt.Time())) + " ago", o.Name}
		},
	}.print(p.Stdout)
	return err
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
	now := time.Now()
	table, err := listing[client.Interrupt]{
		json: c.JSON, limit: math.MaxInt, none: "Nothing waits for a person.", head: []string{"ID", "KIND", "WAITS", "NEXT", "QUESTION"},
		read: func(size int, token string) (*client.Page[client.Interrupt], error) {
			return r.client.Interrupts(p.Ctx, client.InterruptOptions{Kind: opt.GateKind(c.Kind), ObjectiveID: c.Objective, Mine: c.Mine, PageSize: size, PageToken: token})
		},
		row: func(g client.Interrupt) []string {
			next := "-"
			if g.Next != nil {
				next = fmt.Sprintf("%s in %s", g.Next, durationText(max(0, g.Next.At.Time().Sub(now))))
			}
			return []string{g.ID, string(g.Kind), durationText(now.Sub(g.RequestedAt.Time())), next, g.Prompt()}
		},
	}.print(p.Stdout)
	if table {
		fmt.Fprintf(p.Stdout, "\nTo see one whole, and how to answer it:\n\n  %s ID\n", r.command("get"))
	}
	return err
}
