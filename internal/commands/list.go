package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"longhaul/client"
	"longhaul/internal/process"
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

func (c *listCommand) Run(p *process.Process) error {
	if c.Limit < 1 {
		return process.Usagef("--limit must be 1 or more")
	}
	r, err := c.newRemote(p)
	if err != nil {
		return err
	}
	var table [][]string
	now, left, token := time.Now(), c.Limit, ""
	for {
		raw, err := r.client.Call(p.Ctx, "objectives/list", client.ObjectiveOptions{Status: opt.ObjectiveStatus(c.Status), PageSize: min(left, listPage), PageToken: token})
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
				process.RawLine(p.Stdout, raw)
			}
			table = append(table, []string{o.ID, lookOf(&o).Word, durationText(now.Sub(o.UpdatedAt.Time())) + " ago", o.Name})
		}
		left, token = left-len(page.Objectives), page.NextPageToken
		if token == "" || left <= 0 || len(page.Objectives) == 0 {
			break
		}
	}
	switch {
	case c.JSON:
	case len(table) == 0:
		fmt.Fprintln(p.Stdout, "No objectives.")
	default:
		process.WriteTable(p.Stdout, []string{"OBJECTIVE", "STATUS", "CHANGED", "NAME"}, table)
	}
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

func (c *inboxCommand) Run(p *process.Process) error {
	r, err := c.newRemote(p)
	if err != nil {
		return err
	}
	var table [][]string
	now := time.Now()
	for o := (client.InterruptOptions{Kind: opt.GateKind(c.Kind), ObjectiveID: c.Objective, Mine: c.Mine, PageSize: listPage}); ; {
		page, err := r.client.Interrupts(p.Ctx, o)
		if err != nil {
			return r.explain(explainNoInbox(err))
		}
		for i, g := range page.Interrupts {
			if c.JSON {
				process.RawLine(p.Stdout, page.Raw[i])
			}
			next := "-"
			if g.Next != nil {
				next = fmt.Sprintf("%s in %s", g.Next, durationText(max(0, g.Next.At.Time().Sub(now))))
			}
			table = append(table, []string{g.ID, string(g.Kind), durationText(now.Sub(g.RequestedAt.Time())), next, g.Prompt()})
		}
		if o.PageToken = page.NextPageToken; o.PageToken == "" || len(page.Interrupts) == 0 {
			break
		}
	}
	switch {
	case c.JSON:
	case len(table) == 0:
		fmt.Fprintln(p.Stdout, "Nothing waits for a person.")
	default:
		process.WriteTable(p.Stdout, []string{"ID", "KIND", "WAITS", "NEXT", "QUESTION"}, table)
		fmt.Fprintf(p.Stdout, "\nTo see one whole, and how to answer it:\n\n  %s ID\n", c.command("get"))
	}
	return nil
}

// explainNoInbox adds to err that the agent has no list of open gates, if that is the cause.
func explainNoInbox(err error) error { return explainNoPage(err, "open gates", "/v1/interrupts") }

// explainNoPage adds to err that the agent has no list of things, if that is the cause.
func explainNoPage(err error, things, path string) error {
	var refused *client.Error
	served := errors.As(err, &refused) && refused.Reason != ""
	if !served && refused != nil && (refused.Status == http.StatusNotFound || refused.Status == http.StatusMethodNotAllowed) {
		return fmt.Errorf("the agent has no list of %s: only a Longhaul server has it, at %s below --url: %w", things, path, err)
	}
	return err
}
