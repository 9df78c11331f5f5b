package workflows

import (
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/opt"
)

// A plan that failed, without which its objective goes on, can be tried again: as
// a new run of the same workflow. Between two runs the plan is its objective's.

// mayPlanAgain refuses what cannot be. A plan that the objective has not seen the
// end of is unknown yet.
func (r *objectiveRun) mayPlanAgain(_ workflow.Context, a AgainPlan) error {
	p := r.o.Plan(a.Plan.ID)
	switch {
	case r.o.Status.Ended() || r.o.Stopping != "":
		return moveError(string(opt.PlanFailed), string(a.Status))
	case p == nil || !p.Over() || !a.Plan.Settled() || r.children[p.ID] != nil && !r.heard[p.ID]:
		return temporal.NewApplicationError("unknown plan", unknownErrorType)
	case p.Status != opt.PlanFailed || !p.Status.May(a.Status) || a.Status == opt.PlanWorking && !r.o.Met(p):
		return moveError(string(p.Status), string(a.Status))
	}
	return r.fresh(a.Seen)
}

// planAgain begins a new attempt at a plan: what was completed stays so, the rest
// is pending again. It waits for its turn, or starts at once.
func (r *objectiveRun) planAgain(ctx workflow.Context, a AgainPlan) error {
	plan, p := a.Plan, r.o.Plan(a.Plan.ID)
	e := opt.Event{Kind: opt.PlanAgain, At: r.now(), PlanID: p.ID, Attempt: plan.NextRun(max(r.o.Attempt, p.Run) + 1)}
	r.apply(e)
	if err := plan.Apply(e); err != nil {
		return err
	}
	r.plans[p.ID], r.heard[p.ID], r.stopped[p.ID] = &plan, false, false
	r.state.Orders = slices.DeleteFunc(r.state.Orders, func(o PlanOrder) bool { return o.PlanID == p.ID })
	if a.Status == opt.PlanWorking {
		start := Order{Do: startOrder, Inputs: r.inputs(p), Notes: r.state.Notes, Asks: !r.mayWork()}
		r.state.Orders = append(r.state.Orders, PlanOrder{p.ID, taken(p, start)})
		r.take(p, opt.PlanWorking, "")
		r.begin()
	}
	r.revise(nil)
	r.finish(ctx)
	return nil
}
