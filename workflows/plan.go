package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
)

// Plan runs one plan until it has ended, and returns its last report.
func Plan(ctx workflow.Context, in PlanInput) (opt.Report, error) {
	r := setupPlan(ctx, in)
	if err := r.handle(r.updates()...); err != nil {
		return opt.Report{}, err
	}
	for {
		r.advance()
		switch {
		case r.plan.Settled() && r.finished():
			return r.report(), nil
		case r.long() && len(r.working) == 0 && r.idle():
			return opt.Report{}, workflow.NewContinueAsNewError(r.ctx, Plan, r.next())
		case r.long() && len(r.working) == 0 && !r.events.HasPending():
			r.rec.flush(r.ctx)
			continue
		}
		r.wait()
	}
}

// A planRun is one run of a Plan workflow.
type planRun struct {
	run
	in      PlanInput
	plan    *opt.Plan
	state   *PlanState
	working map[string]workflow.CancelFunc // tasks with an activity
	stopped map[string]bool                // tasks whose activity was told to stop
	told    opt.Report                     // the objective's latest
}

func setupPlan(ctx workflow.Context, in PlanInput) *planRun {
	r := &planRun{in: in, plan: &in.Plan, state: in.State, working: map[string]workflow.CancelFunc{}, stopped: map[string]bool{}}
	if r.state == nil {
		r.state = &PlanState{}
	}
	if r.state.Seen == nil {
		r.state.Seen = map[string]bool{}
	}
	if r.state.Tried == nil {
		r.state.Tried = map[string]int{}
	}
	r.maxEvents = in.MaxEvents
	r.rec = recorder{objectiveID: r.plan.ObjectiveID, source: opt.RootID(r.plan.ID, in.Attempt), n: r.state.Recorded, done: r.state.Recorded}
	r.start(ctx)
	on(&r.run, LetterSignal, r.hear)
	on(&r.run, OrderSignal, r.obey)
	r.state.Shared = r.state.Shared || in.Shared
	r.told = r.report()
	if in.Order != nil {
		r.obey(*in.Order)
	}
	r.proceed()
	r.rec.seal()
	return r
}

// next returns the input of the run that goes on after this one.
func (r *planRun) next() PlanInput {
	in := r.in
	in.Plan, in.State, in.Order = *r.plan, r.state, nil
	in.State.Recorded = r.rec.n
	return in
}

// advance does all that follows from what has happened.
func (r *planRun) advance() {
	if r.canceled && r.plan.Stopping == "" && !r.plan.Settled() {
		r.apply(opt.Event{Kind: opt.PlanStopping, Reason: "canceled"})
	}
	r.proceed()
	for _, t := range r.plan.Doomed() {
		r.stop(t)
	}
	r.follow()
	r.describe()
	r.tell()
}

// proceed starts what may start, and makes the plan's status follow.
func (r *planRun) proceed() {
	for again := true; again; {
		again = false
		r.follow()
		for _, t := range r.ready() {
			r.dispatch(t)
			again = true
		}
	}
	r.followAll()
}

// follow makes the plan's status follow its tasks.
func (r *planRun) follow() {
	for events := r.plan.Next(r.now()); len(events) > 0; events = r.plan.Next(r.now()) {
		for _, e := range events {
			r.apply(e)
		}
	}
}

// ready lists the tasks to start now. A run that is about to continue as new
// starts none: activities do not outlive their run.
func (r *planRun) ready() []*opt.Task {
	if r.long() || !r.mayWork() {
		return nil
	}
	return r.plan.Ready()
}

// apply changes the plan and has the change recorded. An event that the model
// refuses is a mistake in this file: the workflow task fails, and is repeated
// once the code is mended.
func (r *planRun) apply(e opt.Event) {
	e.At, e.PlanID = r.now(), r.plan.ID
	if err := r.plan.Apply(e); err != nil {
		panic(err)
	}
	r.rec.add(e)
}

// obey does what the objective says.
func (r *planRun) obey(o Order) {
	switch o.Do {
	case startOrder:
		if r.plan.Started || r.plan.Settled() || r.plan.Stopping != "" && r.since(stoppedChange) {
			return
		}
		r.in.Inputs, r.state.Leave = o.Inputs, !o.Asks
		r.state.Notes = append(r.state.Notes, o.Notes...)
		r.taken(o, opt.PlanWorking, "")
		r.apply(opt.Event{Kind: opt.PlanMoved, From: string(r.plan.Status), To: string(opt.PlanWorking)})
	case holdOrder:
		if r.plan.Status == opt.PlanPending {
			r.taken(o, opt.PlanBlocked, opt.BlockedByDependencies)
			r.apply(opt.Event{Kind: opt.PlanMoved, From: string(r.plan.Status), To: string(opt.PlanBlocked), Reason: opt.BlockedByDependencies})
		}
	case pauseOrder:
		if o.Taken {
			r.taken(o, opt.PlanBlocked, opt.BlockedByOperator)
		}
		if r.plan.Started && !r.plan.Status.Ended() && r.plan.Reason != opt.BlockedByOperator {
			r.apply(opt.Event{Kind: opt.PlanMoved, From: string(r.plan.Status), To: string(opt.PlanBlocked), Reason: opt.BlockedByOperator})
		}
	case resumeOrder:
		if o.Taken {
			r.taken(o, opt.PlanWorking, "")
		}
		if r.plan.Status == opt.PlanBlocked && r.plan.Reason == opt.BlockedByOperator {
			r.apply(opt.Event{Kind: opt.PlanMoved, From: string(r.plan.Status), To: string(opt.PlanWorking)})
		}
	case stopOrder:
		if r.plan.Stopping == "" && !r.plan.Settled() {
			r.apply(opt.Event{Kind: opt.PlanStopping, Reason: o.Reason})
		}
	case changeOrder:
		r.in.Leaf = o.Leaf
		if o.Change != nil {
			r.keep(opt.Event{Kind: opt.PlanChanged, At: r.now(), PlanID: r.plan.ID, Change: o.Change})
		}
	case freeOrder:
		if r.plan.Status == opt.PlanBlocked && r.plan.Reason == opt.BlockedByDependencies {
			r.taken(o, opt.PlanPending, "")
			r.apply(opt.Event{Kind: opt.PlanMoved, From: string(r.plan.Status), To: string(opt.PlanPending)})
		}
	case shareOrder:
		r.share()
	case goOrder:
		r.goOn()
	case reportOrder:
		r.state.Tell = true
	}
}

// taken takes in that the objective takes an order as done, so that it need not be
// told. If there is a report that it hears only after that, it is told again.
func (r *planRun) taken(o Order, status opt.PlanStatus, reason string) {
	r.told.Status, r.told.Reason = status, reason
	if o.Taken && o.Heard < r.state.Reported {
		r.told = opt.Report{}
	}
}

// finished reports whether the plan may end: all is recorded, heard and told.
func (r *planRun) finished() bool {
	r.rec.flush(r.ctx)
	if !r.idle() {
		return false
	}
	if r.state.Tell && (r.told.Status != r.plan.Status || r.told.Closing) {
		r.send(r.report())
	}
	return r.idle()
}

// report is what the objective needs to know of the plan now.
func (r *planRun) report() opt.Report {
	report := r.plan.Brief()
	report.N, report.Changes, report.Rests, report.Asks = r.rec.n, r.state.Changes, r.rests(), r.asks()
	if report.Waits != "" && !r.since(waitsChange) {
		report.Waits = ""
	}
	if report.Closing && !r.since(closingChange) {
		report.Closing = false
	}
	if !r.plan.Settled() {
		return report
	}
	for _, t := range r.plan.Tasks {
		if t.Broken() && report.Failure == "" {
			report.Failure = t.Failure
		}
	}
	report.Results, report.Shown = r.plan.Results(), r.state.Shown
	return report
}

// tell sends the objective a report when a gate opened or closed or the plan
// can or cannot go on, once that is recorded. The end is told by the workflow's
// result.
func (r *planRun) tell() {
	r.rest()
	report := r.report()
	if r.plan.Settled() || sameReport(report, r.told) {
		return
	}
	r.send(report)
}

func (r *planRun) send(report opt.Report) {
	r.told, r.state.Reported = report, report.N
	r.rec.flush(r.ctx)
	signal := workflow.SignalExternalWorkflow(r.ctx, r.plan.ObjectiveID, "", ReportSignal, PlanReport{r.plan.ID, report, r.in.Attempt})
	if err := signal.Get(r.ctx, nil); err != nil {
		workflow.GetLogger(r.ctx).Info("The objective has ended before its plan", "error", err)
	}
}

// sameReport reports whether the objective would learn nothing from a.
func sameReport(a, b opt.Report) bool {
	return a.Status == b.Status && a.Reason == b.Reason && a.Changes == b.Changes && a.Rests == b.Rests && a.Asks == b.Asks && a.Waits == b.Waits && a.Closing == b.Closing &&
		slices.EqualFunc(a.Open, b.Open, func(x, y *opt.Gate) bool { return x.ID == y.ID })
}

// messages lists what clients have said to t, oldest first.
func (r *planRun) messages(t *opt.Task) []a2a.Message {
	var out []a2a.Message
	if r.in.Request != nil {
		out = append(out, *r.in.Request)
	}
	return slices.Concat(out, r.state.Notes, t.Notes)
}

// results lists what the tasks before t, or before the plan, have made.
func (r *planRun) results(t *opt.Task) []activities.Result {
	before := r.plan.Inputs(t)
	if len(before) == 0 && len(r.in.Inputs) > 0 {
		return []activities.Result{{Artifacts: r.in.Inputs}}
	}
	var out []activities.Result
	for _, b := range before {
		if len(b.Artifacts) > 0 {
			out = append(out, activities.Result{TaskID: b.ID, Name: b.Name, Artifacts: b.Artifacts})
		}
	}
	return r.withUsed(t, out)
}
