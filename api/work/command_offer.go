package work

import (
	"slices"

	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// Offers reports whether a caller may ask for a change now: the scopes allow it, the
// state of o, as the caller has read it, does too, and it would change something. The
// objective decides again when the change arrives.
func Offers(c *call.Call, o *opt.Objective, cmd opt.Command) bool {
	p := o.Plan(cmd.PlanID)
	if c.RequireScopes(scopesOf(p, cmd)...) != nil || cmd.Kind == opt.MoveTask && o.Closed() {
		return false
	}
	return machineRefusal(o, cmd) == nil && !machine.Unchanged(o, p, cmd)
}

// scopesOf returns the scopes that a change needs.
func scopesOf(p *opt.Plan, cmd opt.Command) []call.Scope {
	switch cmd.Kind {
	case opt.UpdateObjective:
		return call.ScopesOfChange(cmd.Status, !cmd.Change.Empty())
	case opt.UpdatePlan:
		scopes := call.ScopesOfChange(cmd.Status, !cmd.Change.Empty())
		if p != nil && cmd.Status == string(opt.PlanSkipped) && opt.AsksPeople(p) {
			scopes = append(scopes, call.RespondApprovals) // plans that wait for it begin without the answers
		}
		return scopes
	case opt.Replan:
		return []call.Scope{call.CreateRuns, call.CancelRuns}
	case opt.CancelTask:
		return []call.Scope{call.CancelRuns}
	case opt.MoveTask:
		scopes := call.ScopesOfChange(cmd.Status, false)
		if p != nil && closesGate(p.Task(cmd.TaskID), opt.TaskState(cmd.Status)) && !slices.Contains(scopes, call.RespondApprovals) {
			scopes = append(scopes, call.RespondApprovals)
		}
		return scopes
	}
	return []call.Scope{call.CreateRuns}
}

// closesGate reports whether a move by hand to a state takes the place of an answer at
// the gate of t.
func closesGate(t *opt.Task, to opt.TaskState) bool {
	return t != nil && t.State.Waiting() && to != opt.TaskCanceled
}
