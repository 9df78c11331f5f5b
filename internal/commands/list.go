package commands

import (
	"fmt"
	"io"
	"time"

	"longhaul/a2a"
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
	keep  func(ids []string)                                    // stores the first cells of the table, for @1; nil: they are no ids
}

// listPage is how many items a list asks for at a time.
const listPage = 100

// print reads and prints the list, and reports whether it has printed a table.
func (l listing[T]) print(out io.Writer) (table bool, err error) {
	rows, err := l.rows(out)
	switch {
	case err != nil || l.json:
		return false, err
	case len(rows) == 0:
		if l.none != "" {
			fmt.Fprintln(out, l.none)
		}
		return false, nil
	}
	process.WriteTable(out, l.head, rows)
	if l.keep == nil {
		return true, nil
	}
	var ids []string
	for _, row := range rows {
		ids = append(ids, row[0])
	}
	l.keep(ids)
	return true, nil
}

// rows returns the rows of a table; JSON is printed at once, and has none.
func (l listing[T]) rows(out io.Writer) (rows [][]string, err error) {
	for left, token := l.limit, ""; ; {
		page, err := l.read(min(left, listPage), token)
		if err != nil {
			return nil, err
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
			return rows, nil
		}
	}
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
		json: c.JSON, limit: c.Limit, none: "No objectives.", keep: func(ids []string) { keepList(r, ids) }, head: []string{"OBJECTIVE", "STATUS", "CHANGED", "NAME"},
		read: func(size int, token string) (*client.Page[client.Objective], error) {
			return r.client.ListObjectives(p.Ctx, client.ObjectiveOptions{Status: opt.ObjectiveStatus(c.Status), PageSize: size, PageToken: token})
		},
		row: func(o client.Objective) []string {
			return []string{o.ID, lookOf(&o).Word, durationText(now.Sub(o.UpdatedAt.Time())) + " ago", o.Name}
		},
	}.print(p.Stdout)
	return err
}

// costsCommand is "longhaul costs".
type costsCommand struct {
	remoteSettings
	By    string `help:"Add up the costs of each context, model or tenant." enum:"context,model,tenant" default:"context"`
	Since string `help:"Only costs of this long until now, such as 7d or 12h." placeholder:"SPAN"`
	Limit int    `help:"Show at most this many, the highest first." default:"50"`
	JSON  bool   `help:"Print each line as JSON, as ListCosts has it."`
}

func (c *costsCommand) Run(p *process.Process, r *remote) error {
	if c.Limit < 1 || c.Limit > listPage {
		return process.Usagef("--limit must be from 1 to %d", listPage)
	}
	o := client.CostOptions{By: c.By}
	if c.Since != "" {
		span, err := opt.ParseSpan(c.Since)
		if err != nil {
			return process.Usagef("--since: %v", err)
		}
		o.Since = a2a.At(time.Now().Add(-span))
	}
	columns := []string{"OF", "INPUT", "OUTPUT", "COST", "RAN"}
	if c.By == "model" {
		columns = columns[:4]
	}
	_, err := listing[client.Cost]{
		json: c.JSON, limit: c.Limit, none: "No costs.", head: columns,
		read: func(size int, _ string) (*client.Page[client.Cost], error) {
			o.PageSize = size
			return r.client.Costs(p.Ctx, o)
		},
		row: func(k client.Cost) []string {
			return []string{k.Of, opt.Grouped(k.InputTokens), opt.Grouped(k.OutputTokens), k.Cost, k.Time()}[:len(columns)]
		},
	}.print(p.Stdout)
	return err
}
