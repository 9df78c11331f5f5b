package machine

import (
	"cmp"

	"longhaul/a2a"
	"longhaul/opt"
)

// carryOut applies a command that belongs to the objective, and returns its answer.
func (m *Objective) carryOut(c opt.Command) *opt.CommandAnswer {
	s, o := &m.State, &m.State.Objective
	switch {
	case c.Kind == opt.UpdateObjective && o.Status.Ended(), c.Kind == opt.UpdatePlan && c.Status != "":
		return m.retry(c)
	case c.Kind == opt.UpdateObjective:
		m.steer(c)
		m.revise(c.Change)
		return s.confirm(c.Status == string(opt.ObjectiveBlocked) || c.Status == string(opt.ObjectiveWorking))
	case c.Kind == opt.Replan:
		s.Anew = true
		m.planAnew(c.QueuedAt)
		m.revise(nil)
		return s.confirm(s.replans())
	case c.Kind == opt.CreatePlan:
		plan, err := o.NewPlan(*c.Plan, m.now)
		if err != nil {
			panic(err) // it was admitted
		}
		m.addPlans([]*opt.Plan{plan}, nil)
		m.revise(nil)
		if c.Start {
			m.start(c.QueuedAt)
		}
		return &opt.CommandAnswer{PlanID: plan.ID}
	}
	m.changePlan(c)
	m.revise(nil)
	return s.confirm(c.Change != nil && c.Change.Dependencies != nil)
}

// changePlan changes the name, description, metadata and dependencies of a plan.
func (m *Objective) changePlan(c opt.Command) {
	o := &m.State.Objective
	p := o.Plan(c.PlanID)
	change := *planChange(p, c)
	if change.Dependencies != nil {
		ids, err := o.Reordered(p, change.Dependencies)
		if err != nil {
			panic(err) // it was admitted
		}
		change.Dependencies = ids
	}
	m.apply(opt.Event{Kind: opt.PlanChanged, PlanID: p.ID, Change: &change})
}

// steer carries out a client's new status.
func (m *Objective) steer(c opt.Command) {
	o := &m.State.Objective
	switch to := opt.ObjectiveStatus(c.Status); to {
	case "":
	case opt.ObjectiveWorking:
		m.resume(c.QueuedAt)
	case opt.ObjectivePlanning:
		if o.Status != opt.ObjectivePlanning {
			m.State.Anew = false
			m.planAnew(c.QueuedAt)
		}
	case opt.ObjectiveBlocked: // nothing new begins, and running tasks may finish
		if o.Paused {
			return
		}
		m.apply(opt.Event{Kind: opt.ObjectivePaused})
		if o.Status != opt.ObjectiveBlocked {
			m.move(opt.ObjectiveBlocked, opt.BlockedByOperator)
		}
	case opt.ObjectiveFailed:
		m.stop(failure(o, "The objective was declared failed."))
	default:
		m.stop(opt.Event{Reason: string(to), Principal: c.Principal})
	}
}

// resume ends a pause, drops a planning, or starts the work.
func (m *Objective) resume(queuedAt a2a.Time) {
	s, o := &m.State, &m.State.Objective
	switch {
	case s.replans():
		s.dropMaking()
		fallthrough
	case o.Started && (o.Paused || o.Status == opt.ObjectivePlanning):
		m.endPause()
		m.move(opt.ObjectiveWorking, "")
	default:
		m.endPause()
		m.start(queuedAt)
	}
}

// revise increases the revision.
func (m *Objective) revise(c *opt.Change) {
	m.apply(opt.Event{Kind: opt.ObjectiveChanged, Change: c, Revision: m.State.Objective.Revision + 1})
}

// retry begins a new attempt: at the objective, or at a failed plan of an open objective. It reads the
// former attempt first.
func (m *Objective) retry(c opt.Command) *opt.CommandAnswer {
	s, kept := &m.State, m.State.Kept
	s.Current.Loading = true
	if kept == nil {
		s.Loads++
		s.Loading, s.Ended = true, s.N
		return nil
	}
	s.Kept = nil
	if err := cmp.Or(Admit(&s.Objective, c), admitRetry(&kept.Objective, c)); err != nil {
		return &opt.CommandAnswer{Refusal: opt.RefusalOf(err)}
	}
	if c.Kind == opt.UpdatePlan {
		start := c.Status == string(opt.PlanWorking)
		s.shareFor(c)
		m.retryPlan(kept, c.PlanID, start)
		m.revise(nil)
		return s.confirm(start)
	}
	m.retryObjective(kept, c)
	return &opt.CommandAnswer{}
}

// retryObjective begins a new attempt at the objective: completed plans stay
// completed, and the others are pending again, except those that were replaced, and those that have lost their
// question.
func (m *Objective) retryObjective(kept *opt.Kept, c opt.Command) {
	s, o := &m.State, &m.State.Objective
	attempt := o.Attempt + 1
	m.apply(opt.Event{
		Kind: opt.ObjectiveRetried, From: string(o.Status), To: c.Status, Attempt: attempt, TaskID: opt.RootID(o.ID, attempt),
	})
	for _, p := range o.Plans {
		if a := p.Report.Approved; a != nil { // notes are counted again, and it has covered none of them
			p.Report.Approved = &opt.Approved{At: a.At}
		}
	}
	for _, p := range o.Plans {
		again := p.Status == opt.PlanFailed || p.Status == opt.PlanSkipped && p.Reason != opt.Replanned
		switch {
		case again && (p.Broken() || s.Rules < rulesReplaced || !opt.LostQuestion(&kept.Objective, p)):
			m.retryPlan(kept, p.ID, false)
		case again:
			p.Report.ByHand = true // no one has begun it in this attempt
		}
	}
	s.Notes, s.IdleSince, s.Idle = nil, m.now, true
	s.Turn.Held, s.Turn.Want, s.Turn.Grant = false, "", 0 // a shared context needs a request for this attempt
	m.revise(nil)
	if !c.QueuedAt.IsZero() {
		m.queue(c.QueuedAt)
	}
	if opt.ObjectiveStatus(c.Status) == opt.ObjectivePlanning {
		s.Given, s.Unplanned, s.Anew = nil, true, false
		m.begin()
	}
}

// admitRetry refuses a retry of a plan that the journal shows as open, or of its objective, as Admit does.
func admitRetry(kept *opt.Objective, c opt.Command) error {
	p := kept.Plan(c.PlanID)
	if p == nil && kept.Status.Ended() && hasOpenPlan(kept) || p != nil && !p.Status.Ended() {
		return &opt.MoveError{From: string(kept.Status), To: c.Status}
	}
	return nil
}

// retryPlan makes a plan pending in a new attempt, whose workflow begins after
// that is recorded. With start it starts at once, otherwise at its turn among the
// plans.
func (m *Objective) retryPlan(kept *opt.Kept, planID string, start bool) {
	s, o := &m.State, &m.State.Objective
	whole, p, l := kept.Objective.Plan(planID), o.Plan(planID), s.link(planID)
	covered := covered(o, p)
	if a := p.Report.Approved; a != nil { // it stands
		covered = max(covered, a.Notes+1)
	}
	spent := p.Report.Spent
	s.Used = s.Used.Plus(spent)
	e := opt.Event{Kind: opt.PlanRetried, At: m.now, PlanID: planID, Attempt: whole.NextRun(max(o.Attempt, p.Run))}
	if err := whole.Apply(e); err != nil {
		panic(err) // only failed and skipped plans are retried
	}
	for _, t := range whole.Tasks {
		if t.Run == e.Attempt {
			reset := *t
			e.Tasks = append(e.Tasks, &reset)
		}
	}
	if err := o.Apply(e); err != nil {
		panic(err)
	}
	e.PlanHead = p.Head()
	m.record(e)
	p.Report = &opt.Report{Attempt: e.Attempt, Status: opt.PlanPending}
	d := Directive{N: l.Directive.N, Start: start, Covered: covered}
	*l = Link{PlanID: planID, Start: whole, After: s.N, Directive: d, Changed: s.N, Before: l.Before.Plus(spent), Doubts: l.Doubts} // no key of a check is used twice
	if s.Epoch > 1 {
		l.renumber(m.now)
	}
	if start {
		l.Directive.N++
		l.Directive.Echo = l.Directive.N
		l.show(p)
		m.begin()
	}
}
