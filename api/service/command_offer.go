package service

import (
	"slices"

	"longhaul/opt"
	"longhaul/opt/machine"
)

// Offers reports whether a caller may ask for a change now: the scopes allow it, the
// state of o, as the caller has read it, does too, and it would change something. The
// objective decides again when the change arrives.
func Offers(c *Call, o *opt.Objective, cmd opt.Command) bool {
	p := o.Plan(cmd.PlanID)
	if c.requireScopes(scopesOf(o, p, cmd)...) != nil || cmd.Kind == opt.MoveTask && isClosed(o) {
		return false
	}
	return machineRefusal(o, cmd) == nil && !machine.Unchanged(o, p, cmd)
}

// scopesOf returns the scopes that a change needs.
func scopesOf(o *opt.Objective, p *opt.Plan, cmd opt.Command) []Scope {
	switch cmd.Kind {
	case opt.UpdateObjective, opt.UpdatePlan:
		return scopesOfChange(cmd.Status, !cmd.Change.Empty())
	case opt.Replan:
		return []Scope{CreateRuns, CancelRuns}
	case opt.CancelTask:
		return []Scope{CancelRuns}
	case opt.MoveTask:
		scopes := scopesOfChange(cmd.Status, false)
		if p != nil && closesGate(p.Task(cmd.TaskID), opt.TaskState(cmd.Status)) && !slices.Contains(scopes, RespondApprovals) {
			scopes = append(scopes, RespondApprovals)
		}
		return scopes
	}
	return []Scope{CreateRuns}
}

// closesGate reports whether a move by hand to a state takes the place of an answer at
// the gate of t.
func closesGate(t *opt.Task, to opt.TaskState) bool {
	return t != nil && t.State.Waiting() && to != opt.TaskCanceled
}
