package workflows

import (
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
	_, err := r.o.Reordered(p, c.Change.Dependencies)
	return refused(err)
}

// reorder has a plan that was not begun depend on others. The plan, and those that
// other plans come after now or do not any more, are told.
func (r *objectiveRun) reorder(ctx workflow.Context, c Reorder) error {
	p := r.o.Plan(c.PlanID)
	ids, err := r.o.Reordered(p, c.Change.Dependencies)
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
