package workflows

import (
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
)

// Objective runs one objective until it has ended. It fails or is canceled as a
// workflow when the objective is, so that Temporal's own lists tell the truth.
func Objective(ctx workflow.Context, in ObjectiveInput) error {
	r := setupObjective(ctx, in)
	if err := r.handle(r.updates()...); err != nil {
		return err
	}
	for {
		r.advance()
		r.expire()
		switch {
		case r.o.Settled() && r.finished():
			return r.end()
		case r.long() && !r.planning && !r.o.Settled():
			if err := r.continueAsNew(); err != nil {
				return err
			}
			continue
		}
		r.wait()
	}
}

// An objectiveRun is one run of an Objective workflow.
type objectiveRun struct {
	run
	in       ObjectiveInput
	o        *opt.Objective
	state    *ObjectiveState
	plans    map[string]*opt.Plan // added, and not yet begun as workflows
	children map[string]workflow.ChildWorkflowFuture
	heard    map[string]bool // plans of this run whose result has come
	stopped  map[string]bool // plans told to stop
	starting []*opt.Plan     // being told to start
	planning bool            // an activity is making plans
	giveUp   func()          // ends the wait to be started; nil if there is none
	drop     func()          // forgets the plans that it makes in place of others; nil if it makes none
	shown    opt.TaskState
}

func setupObjective(ctx workflow.Context, in ObjectiveInput) *objectiveRun {
	r := &objectiveRun{
		in: in, state: in.State, plans: map[string]*opt.Plan{}, children: map[string]workflow.ChildWorkflowFuture{},
		heard: map[string]bool{}, stopped: map[string]bool{},
	}
	first := r.state == nil
	if first {
		r.state = &ObjectiveState{Objective: in.Opening.Objective, Request: in.Opening.Message}
	}
	if r.state.Begun == nil {
		r.state.Begun = map[string]bool{}
	}
	if r.state.Seen == nil {
		r.state.Seen = map[string]bool{}
	}
	r.o, r.shown, r.maxEvents = &r.state.Objective, r.state.Objective.Root, in.MaxEvents
	attempt := r.o.Attempt
	if in.Again != "" {
		attempt++
	}
	r.rec = recorder{objectiveID: r.o.ID, source: opt.RootID(r.o.ID, attempt), n: r.state.Recorded, done: r.state.Recorded}
	r.start(ctx)
	on(&r.run, LetterSignal, r.hear)
	on(&r.run, ReportSignal, r.report)
	on(&r.run, JoinSignal, r.join)
	on(&r.run, TurnSignal, r.turn)
	switch {
	case in.Again != "":
		r.setupAgain()
	case first:
		r.rec.add(in.Opening.Event())
		if !r.o.QueuedAt.IsZero() {
			r.state.Turn = turnWaiting
		}
		if !in.Opening.Idle {
			r.begin()
		}
	}
	r.follow()
	r.rec.seal()
	return r
}

// begin starts the work: with the plans that are known, or by making some.
func (r *objectiveRun) begin() {
	if r.o.Started {
		r.state.Begin = false
		return
	}
	if r.askFirst(); !r.mayWork() {
		r.state.Begin = true
		return
	}
	r.state.Begin = false
	to := opt.ObjectiveWorking
	if len(r.o.Plans) == 0 && len(r.in.Opening.Plans) == 0 && r.state.Request != nil {
		to = opt.ObjectivePlanning
	}
	r.apply(opt.Event{Kind: opt.ObjectiveMoved, From: string(r.o.Status), To: string(to)})
	if to == opt.ObjectivePlanning {
		r.plan()
		return
	}
	r.addAll(r.in.Opening.Plans)
}

// plan has the planner make plans.
func (r *objectiveRun) plan() {
	r.planning = true
	ctx, cancel := workflow.WithCancel(workflow.WithActivityOptions(r.ctx, planOptions(r.o.Name)))
	replan, dropped := r.o.Reason == opt.Replanning, false
	if replan {
		r.drop = func() { r.planning, r.drop, dropped = false, nil, true; cancel() }
	}
	request := activities.Request{ObjectiveID: r.o.ID, Tenant: r.o.Tenant, Name: r.o.Name, Description: r.o.Description, Message: r.state.Request}
	r.events.AddFuture(workflow.ExecuteActivity(ctx, acts.Plan, request), func(f workflow.Future) {
		if dropped {
			return
		}
		r.planning, r.drop = false, nil
		var specs []opt.PlanSpec
		switch err := f.Get(r.ctx, &specs); {
		case r.o.Stopping != "":
		case r.o.Reason == opt.Replanning, replan && r.since(planningChange):
			r.replace(specs, err)
		case err != nil:
			_, text := explain(err)
			r.fail("No plan could be made. " + text)
		default:
			r.addAll(specs)
		}
	})
}

// addAll adds the plans of an objective that begins.
func (r *objectiveRun) addAll(specs []opt.PlanSpec) {
	if err := r.addPlans(specs); err != nil {
		r.fail("The plan cannot be carried out. " + err.Error())
		return
	}
	if len(specs) > 0 && r.o.Status == opt.ObjectivePlanning {
		r.apply(opt.Event{Kind: opt.ObjectiveMoved, From: string(r.o.Status), To: string(opt.ObjectiveWorking)})
	}
}

// addPlans adds plans that belong together, all or none: "plan-1" in the
// dependencies of one is the second of them.
func (r *objectiveRun) addPlans(specs []opt.PlanSpec) error {
	if len(r.o.Plans)+len(specs) > opt.MaxPlans {
		return tooManyPlans()
	}
	var ids []string
	for i := range specs {
		ids = append(ids, opt.PlanID(r.o.ID, len(r.o.Plans)+i+1))
	}
	var plans []*opt.Plan
	for i, spec := range specs {
		plan, err := opt.NewPlan(r.o.ID, len(r.o.Plans)+i+1, spec, slices.Concat(r.o.Plans, plans), ids, r.now())
		if err != nil {
			return err
		}
		plans = append(plans, plan)
	}
	for _, plan := range plans {
		r.add(plan)
	}
	return nil
}

// add adds one plan; its workflow begins with the next advance.
func (r *objectiveRun) add(plan *opt.Plan) {
	r.plans[plan.ID] = plan
	r.apply(opt.Event{Kind: opt.PlanAdded, PlanID: plan.ID, Plan: plan})
}

// fail ends the objective because of something other than a plan.
func (r *objectiveRun) fail(text string) {
	r.apply(opt.Event{Kind: opt.ObjectiveStopping, Reason: string(opt.ObjectiveFailed), Status: r.say(":failure", text)})
}

// say returns an agent's message on the root task. Its id ends in suffix, which
// comes once in an attempt.
func (r *objectiveRun) say(suffix, text string) *a2a.Message {
	return &a2a.Message{MessageID: r.o.RootID() + suffix, ContextID: r.o.ContextID, TaskID: r.o.RootID(), Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart(text)}}
}

// advance does all that follows from what has happened.
func (r *objectiveRun) advance() {
	if r.canceled && r.o.Stopping == "" && !r.o.Status.Ended() {
		r.apply(opt.Event{Kind: opt.ObjectiveStopping, Reason: string(opt.ObjectiveCanceled)})
	}
	for again := true; again; {
		r.follow()
		again = r.lead() || r.takeTurn()
	}
	r.describe()
	r.show()
}

// follow makes the objective's status follow its plans, and the root task both.
func (r *objectiveRun) follow() {
	for events := r.o.Next(r.now()); len(events) > 0; events = r.o.Next(r.now()) {
		for _, e := range events {
			r.apply(e)
		}
	}
}

// apply changes the objective and has the change recorded. An event that the
// model refuses is a mistake in this file: the workflow task fails, and is
// repeated once the code is mended.
func (r *objectiveRun) apply(e opt.Event) {
	e.At = r.now()
	if err := r.o.Apply(e); err != nil {
		panic(err)
	}
	r.rec.add(e)
}

// hear takes in a letter: it starts an idle objective, or joins the
// conversation. A letter that comes again changes nothing.
func (r *objectiveRun) hear(l opt.Letter) {
	key := l.Principal + "\x00" + l.Once()
	if r.state.Seen[key] {
		return
	}
	r.state.Seen[key] = true
	e := opt.Event{Kind: opt.MessageAdded, TaskID: l.TaskID, ForTask: l.ForTask, Message: &l.Message, Principal: l.Principal, Key: l.Key, Reply: l.Reply, Verdict: opt.Noted}
	if l.Reply != nil {
		e.Verdict = opt.NotWaiting // gates are with the plans
	}
	r.apply(e)
	switch {
	case l.Reply != nil || r.o.Stopping != "":
	case !r.o.Started:
		r.state.Request = &l.Message
		r.begin()
	default:
		r.state.Notes = append(r.state.Notes, l.Message)
	}
}

// show keeps the state in Temporal's lists up to date, coarsely: a change of it
// costs an event and a write.
func (r *objectiveRun) show() {
	if r.in.Plain || r.shown == r.o.Root || r.shown == opt.TaskSubmitted && r.o.Root == opt.TaskWorking && !r.in.Opening.Idle && r.state.Turn == turnAlone {
		return
	}
	r.shown = r.o.Root
	if err := workflow.UpsertTypedSearchAttributes(r.ctx, StateAttribute.ValueSet(string(r.o.Root))); err != nil {
		workflow.GetLogger(r.ctx).Warn("Search attribute not set", "error", err)
	}
}

// finished reports whether the objective may end: all is recorded and heard.
func (r *objectiveRun) finished() bool {
	r.rec.flush(r.ctx)
	r.leave()
	return r.idle()
}

// end returns what the workflow ends with.
func (r *objectiveRun) end() error {
	switch r.o.Status {
	case opt.ObjectiveCanceled:
		return temporal.NewCanceledError()
	case opt.ObjectiveFailed:
		return temporal.NewNonRetryableApplicationError(r.o.Failure, "ObjectiveFailed", nil)
	}
	return nil
}

// continueAsNew returns the error that ends this run for the next, or nil if
// something came up that must be seen to first.
func (r *objectiveRun) continueAsNew() error {
	if !r.handOver() {
		return nil
	}
	r.rec.flush(r.ctx)
	if !r.idle() {
		r.wait()
		return nil
	}
	in := r.in
	in.State = r.state
	in.State.Recorded, in.Again = r.rec.n, ""
	in.Opening.Objective, in.Opening.Message = opt.Objective{}, nil // the state has both
	if r.o.Started {
		in.Opening.Plans = nil
	}
	return workflow.NewContinueAsNewError(r.ctx, Objective, in)
}
