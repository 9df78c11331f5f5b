package shown

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// A CostBy says of what costs are added up.
type CostBy string

// What costs are added up of.
const (
	ByTenant  CostBy = "tenant"
	ByContext CostBy = "context"
	ByModel   CostBy = "model"
)

// CostBys lists them.
var CostBys = []CostBy{ByContext, ByModel, ByTenant}

// A CostSearch selects costs by the time when they arose.
type CostSearch struct {
	By    CostBy   `param:"by"`
	Since a2a.Time `param:"since"`
	Until a2a.Time `param:"until"` // not included; zero for no end
	All   bool     // tenants
	Limit int      `param:"pageSize,page of 50"`
}

// A Cost is what one tenant, context or model has cost.
type Cost struct {
	Of    string // its name or id; "" for work that has named no model
	Usage opt.Usage
}
