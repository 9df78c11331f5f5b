package commands

import (
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
)

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
	_, err := listing[client.Cost]{
		json: c.JSON, limit: c.Limit, none: "No costs.", head: []string{"OF", "INPUT", "OUTPUT", "COST"},
		read: func(size int, _ string) (*client.Page[client.Cost], error) {
			o.PageSize = size
			return r.client.Costs(p.Ctx, o)
		},
		row: func(k client.Cost) []string {
			return []string{k.Of, opt.Grouped(k.InputTokens), opt.Grouped(k.OutputTokens), k.Cost}
		},
	}.print(p.Stdout)
	return err
}
