package call

import (
	"fmt"
	"slices"
	"strings"

	"longhaul/opt"
)

// A Scope is a right of a caller within its tenant.
type Scope string

// The scopes.
const (
	CreateRuns       Scope = "runs:create"       // begin work, say something to it, and change objectives and plans
	ReadRuns         Scope = "runs:read"         // get, list and subscribe
	CancelRuns       Scope = "runs:cancel"       // stop work, and leave out or replace parts of it
	RespondApprovals Scope = "approvals:respond" // answer at gates, and declare work completed by hand
	ManageWebhooks   Scope = "webhooks:manage"   // push configs
	ManageSchedules  Scope = "schedules:manage"  // make, change, trigger and delete schedules; also needs runs:create where work begins
	ManageAbsences   Scope = "absences:manage"   // make and end absences of others, with their deputies
	ReadCosts        Scope = "costs:read"        // read what tenants have cost, all of them
	ReadPayloads     Scope = "payloads:read"     // decrypt payloads of Temporal, which may be of any tenant
)

// Scopes lists all scopes.
func Scopes() []Scope {
	return []Scope{CreateRuns, ReadRuns, CancelRuns, RespondApprovals, ManageWebhooks, ManageSchedules, ManageAbsences, ReadCosts, ReadPayloads}
}

// named are the scopes that "all" does not have: they reach beyond a tenant, or give rights to others.
var named = []Scope{ManageAbsences, ReadCosts, ReadPayloads}

// ParseScopes returns the scopes with the given names; "all" means every
// scope but absences:manage, costs:read and payloads:read. The error about another name lists the scopes.
func ParseScopes(names []string) ([]Scope, error) {
	var out []Scope
	for _, name := range names {
		switch {
		case name == "all":
			out = append(out, slices.DeleteFunc(Scopes(), func(s Scope) bool { return slices.Contains(named, s) })...)
		case slices.Contains(Scopes(), Scope(name)):
			out = append(out, Scope(name))
		default:
			return nil, fmt.Errorf("unknown scope %q: the scopes are %s, and all for every one of them but %s", name, join(Scopes(), ", "), join(named, ", "))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func join(scopes []Scope, separator string) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, separator)
}

// A Right is the right to call an operation: a caller needs at least one of its scopes. The
// service checks more where that depends on the parameters.
type Right struct {
	Operation string // its name in A2A 1.0 or in the extension
	Scopes    []Scope
}

// permit refuses a caller without any of the scopes of a right, before anything is looked up.
func (c *Call) permit(r Right) error {
	switch {
	case len(r.Scopes) == 0:
		return fmt.Errorf("operation %q has no scopes", r.Operation)
	case !slices.ContainsFunc(r.Scopes, func(s Scope) bool { return slices.Contains(c.Scopes, s) }):
		return missingScope(r.Scopes...)
	}
	return nil
}

// RequireScopes refuses a caller who lacks one of the given scopes.
func (c *Call) RequireScopes(scopes ...Scope) error {
	for _, s := range scopes {
		if !slices.Contains(c.Scopes, s) {
			return missingScope(s)
		}
	}
	return nil
}

// missingScope returns the fault of a caller who has none of the given scopes.
func missingScope(scopes ...Scope) *Fault {
	return &Fault{
		Kind: Forbidden, Message: "Permission denied: needs the scope " + join(scopes, " or "), Reason: ReasonForbidden,
		Info: map[string]string{"scope": join(scopes, " ")},
	}
}

// ScopesOfChange returns the scopes that a change needs. status is the status or
// state that it asks for, "" to stay. fields says that it changes other things too.
func ScopesOfChange(status string, fields bool) []Scope {
	var out []Scope
	switch status {
	case string(opt.ObjectiveCanceled), string(opt.ObjectiveFailed), string(opt.PlanSkipped), string(opt.TaskRejected):
		out = []Scope{CancelRuns}
	case string(opt.ObjectiveCompleted): // it would take the place of answers at gates
		out = []Scope{RespondApprovals}
	default:
		return []Scope{CreateRuns}
	}
	if fields {
		out = append(out, CreateRuns)
	}
	return out
}
