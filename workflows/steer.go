package workflows

import "longhaul/opt"

// pause begins nothing new. What runs may finish.
func (r *objectiveRun) pause() {
	r.apply(opt.Event{Kind: opt.ObjectiveMoved, From: string(r.o.Status), To: string(opt.ObjectiveBlocked), Reason: opt.BlockedByOperator})
	r.orderAll(pauseOrder, opt.PlanBlocked, opt.BlockedByOperator)
}

// resume goes on where pause stopped.
func (r *objectiveRun) resume() {
	r.apply(opt.Event{Kind: opt.ObjectiveMoved, From: string(r.o.Status), To: string(opt.ObjectiveWorking)})
	r.orderAll(resumeOrder, opt.PlanWorking, "")
}

// orderAll leaves an order for every plan that has been started and has not
// ended, and takes it as done: that the plan comes to a status. The main loop
// gives it: a handler must not wait for a plan.
func (r *objectiveRun) orderAll(do string, status opt.PlanStatus, reason string) {
	for _, p := range r.o.Plans {
		if !p.Started || p.Status.Ended() {
			continue
		}
		o := Order{Do: do}
		if paused := p.Status == opt.PlanBlocked && p.Reason == opt.BlockedByOperator; paused == (do == resumeOrder) && r.since(takenChange) {
			o = taken(p, o)
			r.take(p, status, reason)
		}
		r.state.Orders = append(r.state.Orders, PlanOrder{p.ID, o})
	}
}

// giveOrders gives the orders that were left.
func (r *objectiveRun) giveOrders() {
	for len(r.state.Orders) > 0 {
		o := r.state.Orders[0]
		r.state.Orders = r.state.Orders[1:]
		if p := r.o.Plan(o.PlanID); p != nil && !p.Status.Ended() {
			r.tell(p, o.Order)
		}
	}
}

// planAnew asks the planner for plans: the first ones, or others in place of
// those that have not ended, which pause meanwhile.
func (r *objectiveRun) planAnew() {
	if r.o.Status == opt.ObjectiveWorking {
		r.pause()
	}
	reason := ""
	if len(r.o.Plans) > 0 {
		reason = opt.Replanning
	}
	r.apply(opt.Event{Kind: opt.ObjectiveMoved, From: string(r.o.Status), To: string(opt.ObjectivePlanning), Reason: reason})
	if r.planning && r.since(planningChange) {
		return // it was paused meanwhile
	}
	r.plan()
}

// work goes on with what there is: the plans that are being made in place of
// others are not wanted any more, and first plans come when they are made.
func (r *objectiveRun) work() {
	if r.drop != nil {
		r.drop()
	}
	r.resume()
}

// replace takes new plans in place of those that have not ended. If they cannot
// be taken, the old ones go on, unless a client has paused the objective.
func (r *objectiveRun) replace(specs []opt.PlanSpec, err error) {
	old := r.o.Plans
	if err == nil && len(specs) > 0 {
		err = r.addPlans(specs)
	}
	paused := r.o.Status == opt.ObjectiveBlocked
	switch {
	case (err != nil || len(specs) == 0) && paused:
		return
	case err != nil || len(specs) == 0:
		r.resume()
		return
	}
	for _, p := range old {
		if !p.Status.Ended() {
			r.stopped[p.ID] = true
			r.state.Orders = append(r.state.Orders, PlanOrder{p.ID, Order{Do: stopOrder, Reason: "replanned"}})
		}
	}
	if !paused {
		r.apply(opt.Event{Kind: opt.ObjectiveMoved, From: string(r.o.Status), To: string(opt.ObjectiveWorking)})
	}
}

// setupAgain begins a new attempt at an objective: what was completed stays so,
// the rest is pending again.
func (r *objectiveRun) setupAgain() {
	queued := !r.o.QueuedAt.IsZero()
	r.apply(opt.Event{Kind: opt.ObjectiveAgain, From: string(r.o.Status), To: r.in.Again, Attempt: r.o.Attempt + 1, TaskID: opt.RootID(r.o.ID, r.o.Attempt+1)})
	r.revise(nil)
	for _, p := range r.in.State.Before {
		header := r.o.Plan(p.ID)
		if p.Status == opt.PlanCompleted {
			header.Report = &opt.Report{Status: p.Status, Results: p.Results()}
			continue
		}
		e := opt.Event{Kind: opt.PlanAgain, At: r.now(), PlanID: p.ID, Attempt: p.NextRun(r.o.Attempt)}
		if err := p.Apply(e); err != nil {
			panic(err)
		}
		header.Run = p.Run
		r.rec.add(e)
		r.plans[p.ID] = p
	}
	r.state.Before = nil
	if queued {
		r.apply(opt.Event{Kind: opt.ObjectiveQueued})
		r.state.Turn = turnWaiting
	}
	if opt.ObjectiveStatus(r.in.Again) == opt.ObjectivePlanning {
		r.begin()
	}
}
