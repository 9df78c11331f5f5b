package workflows

import (
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/opt"
)

// lead begins, starts, holds and stops plans as the objective's state asks, and
// reports whether it changed anything. A plan is recorded before it begins, so
// that it can record for itself.
func (r *objectiveRun) lead() bool {
	r.giveOrders()
	changed := false
	r.starting = r.startable()
	for _, p := range r.starting {
		r.order(p, Order{Do: startOrder, Inputs: r.inputs(p), Notes: r.state.Notes}, opt.PlanWorking)
		changed = true
	}
	r.starting = nil
	for _, p := range r.o.Held() {
		r.order(p, Order{Do: holdOrder}, opt.PlanBlocked)
		changed = true
	}
	for _, p := range r.o.Plans {
		if r.o.Stopping != "" && !p.Status.Ended() && !r.stopped[p.ID] {
			r.stopped[p.ID] = true
			r.tell(p, Order{Do: stopOrder, Reason: r.o.Stopping})
		}
	}
	for _, p := range r.o.Plans {
		if r.plans[p.ID] != nil {
			r.child(p, nil)
		}
	}
	return changed
}

// startable lists the plans to start now. One that was told to stop is about to
// end.
func (r *objectiveRun) startable() []*opt.Plan {
	if !r.mayWork() {
		return nil
	}
	return slices.DeleteFunc(r.o.Startable(), func(p *opt.Plan) bool { return r.stopped[p.ID] && r.since(stoppedChange) })
}

// order tells p to do something that shows at once in its status, and takes it
// as done.
func (r *objectiveRun) order(p *opt.Plan, o Order, status opt.PlanStatus) {
	r.tell(p, taken(p, o))
	reason := ""
	if status == opt.PlanBlocked {
		reason = opt.BlockedByDependencies
	}
	r.take(p, status, reason)
}

// taken returns o as an order to p that is taken as done.
func taken(p *opt.Plan, o Order) Order {
	o.Taken = true
	if p.Report != nil {
		o.Heard = p.Report.N
	}
	return o
}

// take takes it as done that p comes to a status.
func (r *objectiveRun) take(p *opt.Plan, status opt.PlanStatus, reason string) {
	var report opt.Report
	if p.Report != nil {
		report = *p.Report
	}
	report.Status, report.Reason, report.ByHand = status, reason, false
	r.keep(opt.Event{Kind: opt.PlanReported, PlanID: p.ID, Report: &report})
}

// tell gives p an order: its first, with which its workflow begins, or another.
func (r *objectiveRun) tell(p *opt.Plan, o Order) {
	if r.plans[p.ID] != nil {
		r.child(p, &o)
		return
	}
	r.signal(p.ID, o)
}

// keep changes the objective by what a plan records itself.
func (r *objectiveRun) keep(e opt.Event) {
	e.At = r.now()
	if err := r.o.Apply(e); err != nil {
		panic(err)
	}
}

// child begins the workflow of p, with its first order if there is one.
func (r *objectiveRun) child(p *opt.Plan, first *Order) {
	plan := r.plans[p.ID]
	delete(r.plans, p.ID)
	r.rec.flush(r.ctx)
	in := PlanInput{
		Plan: *plan, ContextID: r.o.ContextID, Tenant: r.o.Tenant, RootID: r.o.RootID(), Leaf: r.o.Leaf(p), Shared: r.state.Turn != turnAlone, Objective: r.o.Name,
		Request: r.state.Request, Order: first, Attempt: max(r.o.Attempt, p.Run), MaxEvents: r.maxEvents,
	}
	future := r.execute(p, in)
	for tries := 0; tries < leaveTries && p.Run > 0 && r.since(leavingChange) && r.stillThere(future); tries++ {
		_ = workflow.Sleep(r.ctx, time.Second)
		future = r.execute(p, in)
	}
	r.children[p.ID] = future
	r.state.Begun[p.ID] = false
	r.events.AddFuture(future, func(f workflow.Future) {
		var report opt.Report
		err := f.Get(r.ctx, &report)
		r.heard[p.ID] = true
		if err != nil {
			r.lost(p)
			return
		}
		r.report(PlanReport{PlanID: p.ID, Report: report})
	})
}

// A run of a plan that has told of its end leaves soon. One that is still there
// after leaveTries seconds was not ended by us.
const leaveTries = 60

// stillThere reports whether a plan could not begin since a run of it is there.
func (r *objectiveRun) stillThere(future workflow.ChildWorkflowFuture) bool {
	return temporal.IsWorkflowExecutionAlreadyStartedError(future.GetChildWorkflowExecution().Get(r.ctx, nil))
}

func (r *objectiveRun) execute(p *opt.Plan, in PlanInput) workflow.ChildWorkflowFuture {
	options := workflow.ChildWorkflowOptions{
		WorkflowID:          p.ID,
		WorkflowTaskTimeout: workflowTaskTimeout,
		ParentClosePolicy:   enumspb.PARENT_CLOSE_POLICY_ABANDON,
		StaticSummary:       p.Name,
		StaticDetails:       p.Description,
	}
	if !r.in.Plain {
		options.TypedSearchAttributes = temporal.NewSearchAttributes(
			TenantAttribute.ValueSet(r.o.Tenant), ContextAttribute.ValueSet(r.o.ContextID), ObjectiveAttribute.ValueSet(r.o.ID))
	}
	return workflow.ExecuteChildWorkflow(workflow.WithChildOptions(r.ctx, options), Plan, in)
}

// report takes in what a plan says of itself. What an earlier attempt at it says
// comes too late.
func (r *objectiveRun) report(told PlanReport) {
	p, report := r.o.Plan(told.PlanID), told.Report
	if p == nil || told.Attempt > 0 && told.Attempt < p.Run {
		workflow.GetLogger(r.ctx).Warn("Report from a plan that is not here", "planId", told.PlanID)
		return
	}
	changes := report.Changes
	if p.Report != nil {
		changes -= p.Report.Changes
	}
	r.keep(opt.Event{Kind: opt.PlanReported, PlanID: p.ID, Report: &report})
	if changes > 0 {
		r.apply(opt.Event{Kind: opt.ObjectiveChanged, Revision: r.o.Revision + changes})
	}
	if p.Started && !r.o.Started && r.o.Stopping == "" && !r.o.Status.Ended() {
		r.begin() // a client has started the plan
	}
}

// lost takes in that a plan's workflow ended without a report: an operator has
// terminated it. The objective then records the end in its place.
func (r *objectiveRun) lost(p *opt.Plan) {
	if p.Over() {
		return
	}
	if p.Status.Ended() {
		report := *p.Report
		report.Closing = false
		r.report(PlanReport{PlanID: p.ID, Report: report})
		return
	}
	report := opt.Report{Status: opt.PlanFailed, Reason: "terminated", Failure: "The work was ended by an operator."}
	if p.Report != nil {
		report.N = p.Report.N
	}
	r.rec.add(opt.Event{Kind: opt.PlanMoved, At: r.now(), PlanID: p.ID, From: string(p.Status), To: string(opt.PlanFailed), Reason: "terminated"})
	r.report(PlanReport{PlanID: p.ID, Report: report})
}

// signal gives an order to a plan that has begun. It reports false if the plan
// has ended: its report has come, or is about to.
func (r *objectiveRun) signal(planID string, o Order) bool {
	if child := r.children[planID]; child != nil {
		if err := child.GetChildWorkflowExecution().Get(r.ctx, nil); err != nil {
			return false
		}
	}
	r.rec.flush(r.ctx)
	return workflow.SignalExternalWorkflow(r.ctx, planID, "", OrderSignal, o).Get(r.ctx, nil) == nil
}

// handOver has the plans report their ends by signal, since the run that began
// them is about to end. It reports false if one had just ended, so that its
// result is still to come to this run.
func (r *objectiveRun) handOver() bool {
	for _, p := range r.o.Plans {
		told, begun := r.state.Begun[p.ID]
		if !begun || told || p.Over() || r.heard[p.ID] {
			continue
		}
		if !r.signal(p.ID, Order{Do: reportOrder}) {
			r.wait() // for its result
			return false
		}
		r.state.Begun[p.ID] = true
	}
	return true
}

// inputs lists the results of the plans that p depends on.
func (r *objectiveRun) inputs(p *opt.Plan) []a2a.Artifact {
	var out []a2a.Artifact
	for _, id := range p.Dependencies {
		if d := r.o.Plan(id); d != nil && d.Report != nil {
			out = slices.Concat(out, d.Report.Results)
		}
	}
	return out
}

const workflowTaskTimeout = 5 * time.Second

func planOptions(name string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute,
		HeartbeatTimeout:    heartbeat,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 5},
		Summary:             "Plan: " + name,
	}
}
