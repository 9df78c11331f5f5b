package workflows

import (
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/opt"
)

// mayReorder refuses what cannot be.
func (r *objectiveRun) mayReorder(_ workflow.Context, c Reorder) error {
	p := r.o.Plan(c.PlanID)
	switch {
	case r.o.Status.Ended() || r.o.Stopping != "":
		return moveError(string(r.o.Status), "a change")
	case p == nil:
		return temporal.NewApplicationError("unknown plan", unknownErrorType)
	}
	if err := r.fresh(c.Seen); err != nil {
		return err
	}
	if err := c.Change.Check(); err != nil {
		return specError(err)
	}
	_, err := r.reordered(p, c)
	return refused(err)
}

// reordered returns the ids of what p is to depend on. A plan that is being told to
// start has begun.
func (r *objectiveRun) reordered(p *opt.Plan, c Reorder) ([]string, error) {
	if slices.Contains(r.starting, p) {
		return nil, &opt.MoveError{From: string(opt.PlanWorking), To: "other dependencies"}
	}
	return r.o.Reordered(p, c.Change.Dependencies)
}

// reorder has a plan that was not begun depend on others. The plan, and those that
// other plans come after now or do not any more, are told.
func (r *objectiveRun) reorder(ctx workflow.Context, c Reorder) error {
	p := r.o.Plan(c.PlanID)
	ids, err := r.reordered(p, c)
	if err != nil {
		return refused(err)
	}
	leaf := map[string]bool{}
	for _, q := range r.o.Plans {
		leaf[q.ID] = r.o.Leaf(q)
	}
	change := *c.Change
	change.Dependencies = ids
	r.apply(opt.Event{Kind: opt.PlanChanged, PlanID: p.ID, Change: &change})
	for _, q := range r.o.Plans {
		switch {
		case q == p:
			r.leaveOrder(q, Order{Do: changeOrder, Change: &change, Leaf: r.o.Leaf(q)})
		case !q.Started && !q.Status.Ended() && r.o.Leaf(q) != leaf[q.ID]:
			r.leaveOrder(q, Order{Do: changeOrder, Leaf: r.o.Leaf(q)})
		}
	}
	if p.Status == opt.PlanBlocked && r.o.Met(p) {
		r.leaveOrder(p, taken(p, Order{Do: freeOrder}))
		r.take(p, opt.PlanPending, "")
	}
	r.revise(nil)
	r.finish(ctx)
	return nil
}

// leaveOrder leaves an order that the main loop gives.
func (r *objectiveRun) leaveOrder(p *opt.Plan, o Order) {
	r.state.Orders = append(r.state.Orders, PlanOrder{p.ID, o})
}
