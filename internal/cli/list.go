package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/opt"
)

// listPage is how many entries a list asks for at a time.
const listPage = 100

// listCommand is "longhaul list".
type listCommand struct {
	remoteSettings
	Status string `help:"Only objectives with this status." enum:",submitted,planning,working,blocked,completed,failed,canceled" default:"" placeholder:"STATUS"`
	Limit  int    `help:"Show at most this many, the newest first." default:"50"`
	JSON   bool   `help:"Print each objective as a line of JSON, as objectives/list has it."`
}

func (c *listCommand) Run(p *program) error {
	r, err := c.reach(p)
	if err != nil {
		return err
	}
	var table [][]string
	now, left, token := time.Now(), max(1, c.Limit), ""
	for {
		raw, err := r.client.Call(p.ctx, "objectives/list", client.ObjectiveOptions{Status: opt.ObjectiveStatus(c.Status), PageSize: min(left, listPage), PageToken: token})
		if err != nil {
			return r.explain(err)
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
			if c.JSON {
				rawLine(p.stdout, raw)
			}
			table = append(table, []string{o.ID, string(o.Status), span(now.Sub(o.UpdatedAt.Time())) + " ago", o.Name})
		}
		left, token = left-len(page.Objectives), page.NextPageToken
		if token == "" || left <= 0 || len(page.Objectives) == 0 {
			break
		}
	}
	switch {
	case c.JSON:
	case len(table) == 0:
		fmt.Fprintln(p.stdout, "No objectives.")
	default:
		writeTable(p.stdout, []string{"OBJECTIVE", "STATUS", "CHANGED", "NAME"}, table)
	}
	return nil
}

// inboxCommand is "longhaul inbox".
type inboxCommand struct {
	remoteSettings
	JSON bool `help:"Print each waiting task as a line of JSON, as ListTasks has it."`
}

// A waiting is a task that waits for a person.
type waiting struct {
	task a2a.Task
	raw  json.RawMessage
	gate *opt.Gate // nil if it shows none
}

// since returns when the wait began.
func (w waiting) since() time.Time {
	if w.gate != nil && !w.gate.RequestedAt.IsZero() {
		return w.gate.RequestedAt.Time()
	}
	return w.task.Status.At.Time()
}

func (c *inboxCommand) Run(p *program) error {
	r, err := c.reach(p)
	if err != nil {
		return err
	}
	list, err := waits(p.ctx, r.client)
	if err != nil {
		return r.explain(err)
	}
	if c.JSON {
		for _, w := range list {
			rawLine(p.stdout, w.raw)
		}
		return nil
	}
	if len(list) == 0 {
		fmt.Fprintln(p.stdout, "Nothing waits for a person.")
		return nil
	}
	var table [][]string
	for _, w := range list {
		id, kind, next, question := w.task.ID, string(w.task.Status.State), "-", ""
		if w.task.Status.Message != nil {
			question = w.task.Status.Message.Text()
		}
		if w.gate != nil {
			id, kind, question = w.gate.ID, string(w.gate.Kind), w.gate.Prompt()
			if s := w.gate.Next; s != nil {
				next = fmt.Sprintf("%s in %s", s, span(max(0, time.Until(s.At.Time()))))
			}
		}
		table = append(table, []string{id, kind, span(time.Since(w.since())), next, question})
	}
	writeTable(p.stdout, []string{"ID", "KIND", "WAITS", "NEXT", "QUESTION"}, table)
	fmt.Fprintf(p.stdout, "\nTo see one whole, and how to answer it:\n\n  longhaul get%s ID\n", c.flags())
	return nil
}

// waits returns the tasks that wait for a person, the oldest first. A gate that a
// root task shows too is listed once, at its own task.
func waits(ctx context.Context, agent *client.Client) ([]waiting, error) {
	var out []waiting
	at := map[string]int{} // index in out, by gate
	for _, state := range []a2a.TaskState{a2a.InputRequired, a2a.AuthRequired} {
		for o := (client.ListOptions{State: state, PageSize: listPage}); ; {
			page, err := agent.List(ctx, o)
			if err != nil {
				return nil, err
			}
			for i, t := range page.Tasks {
				w := waiting{task: t, raw: page.Raw[i]}
				g, ok := client.Gate(t.Metadata)
				if !ok {
					out = append(out, w)
					continue
				}
				w.gate = g
				before, known := at[g.ID]
				switch {
				case !known:
					at[g.ID] = len(out)
					out = append(out, w)
				case t.ID == g.TaskID:
					out[before] = w
				}
			}
			if o.PageToken = page.NextPageToken; o.PageToken == "" || len(page.Tasks) == 0 {
				break
			}
		}
	}
	slices.SortStableFunc(out, func(a, b waiting) int { return a.since().Compare(b.since()) })
	return out, nil
}

// writeTable writes rows below a head. On a terminal the last column is cut to the
// width; the others are never cut, since they are copied.
func writeTable(out io.Writer, head []string, rows [][]string) {
	_, size, terminal := terminalOf(out)
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row[:len(row)-1] {
			widths[i] = max(widths[i], columnsOf(cell))
		}
	}
	for _, row := range append([][]string{head}, rows...) {
		line, used := "", 0
		for i, cell := range row[:len(row)-1] {
			line += padded(visible(cell), widths[i]) + "  "
			used += widths[i] + 2
		}
		room := 1 << 20
		if terminal {
			columns, _ := size()
			room = max(10, columns-used-1)
		}
		fmt.Fprintln(out, line+oneLine(row[len(row)-1], room))
	}
}
