package read

import (
	"cmp"
	"context"

	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/wire"
)

// UsageOf returns a usage as clients see it, without budgets.
func UsageOf(u opt.Usage) *wire.Usage { return wire.UsageOf(opt.Used{Usage: u}) }

// A CostReader adds costs up, the highest first: of a tenant, or of all if s says so.
type CostReader interface {
	Costs(ctx context.Context, tenant string, s shown.CostSearch) ([]shown.Cost, error)
}

// Costs lists what models have cost.
type Costs struct{ Journal CostReader }

// ListCosts returns what the contexts or models of the caller's tenant have cost, or all tenants to a
// caller who may read those.
func (s Costs) ListCosts(ctx context.Context, c *call.Call, p shown.CostSearch) ([]shown.Cost, error) {
	p.By, p.All = cmp.Or(p.By, shown.ByContext), p.By == shown.ByTenant
	if p.All {
		if err := c.RequireScopes(call.ReadCosts); err != nil {
			return nil, err
		}
	}
	return s.Journal.Costs(ctx, c.Tenant, p)
}
