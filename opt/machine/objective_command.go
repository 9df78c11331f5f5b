package machine

import (
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// commands is the part of an Objective that carries out commands of clients.
type commands struct{ *Objective }

// onCommand handles a command. A repeat changes nothing: its answer is in the
// journal, or will be. A command that ends the objective does not wait for
// others.
func (m commands) onCommand(c opt.Command) {
	s := &m.State
	waits := slices.ContainsFunc(s.Commands, func(w opt.Command) bool { return w.ID == c.ID }) ||
		slices.ContainsFunc(s.Overdue, func(w Overdue) bool { return w.Command.ID == c.ID })
	if s.Answered[c.ID] || waits || s.Current != nil && s.Current.Command.ID == c.ID {
		return
	}
	switch ends := opt.ObjectiveStatus(c.Status).Ended(); {
	case c.Kind == opt.UpdateObjective && ends && !s.Objective.Status.Ended():
		former := s.Current
		s.Current = &Current{Command: c}
		m.beginCommand()
		s.Current = former
	case c.Kind == opt.CancelTask:
		s.Commands = slices.Insert(s.Commands, 0, c)
	default:
		if c.Kind == opt.Replan && s.Current != nil && s.Current.PlanID != "" {
			m.waitNoMore() // a plan that does not answer is a reason to make others
		}
		s.Commands = append(s.Commands, c)
	}
}

// nextCommand begins the next command after the one before was answered, and after an
// objective that was lost has left its context. One for a plan that has not answered another
// in time waits, up to its own deadline.
func (m commands) nextCommand() bool {
	s := &m.State
	i := slices.IndexFunc(s.Commands, func(c opt.Command) bool { return m.overdue(c.PlanID) < 0 || m.expired(c) })
	if s.Current != nil || i < 0 || s.Lost {
		return false
	}
	s.Current = &Current{Command: s.Commands[i]}
	s.Commands = slices.Delete(s.Commands, i, i+1)
	m.beginCommand()
	return true
}

// expired reports whether the deadline of a command has come.
func (m commands) expired(c opt.Command) bool {
	return !c.Deadline.IsZero() && m.now.Millis() >= c.Deadline.Millis()
}

// overdue returns the index of the overdue command of a plan, negative if there is none.
func (m commands) overdue(planID string) int {
	return slices.IndexFunc(m.State.Overdue, func(o Overdue) bool { return planID != "" && o.Command.PlanID == planID })
}

// waitNoMore has other commands continue while the plan of the current one has not answered.
func (m commands) waitNoMore() {
	s := &m.State
	s.Overdue = append(s.Overdue, Overdue{Command: s.Current.Command, N: m.plans().link(s.Current.PlanID).Directive.N})
	s.Current = nil
}

// onReport answers the overdue command of a plan, if the plan has answered it, or has acted
// upon a later directive and so will not.
func (m commands) onReport(planID string, r opt.Report) {
	i := m.overdue(planID)
	if i < 0 {
		return
	}
	c, late := m.State.Overdue[i], opt.CommandAnswer{Refusal: &opt.Refusal{Code: opt.RefusedLate, At: m.now}}
	switch {
	case r.Answer != nil && r.Answer.CommandID == c.Command.ID:
		m.answerOverdue(i, *r.Answer)
	case r.Directive > c.N:
		m.answerOverdue(i, late)
	}
}

// answerOverdue answers an overdue command.
func (m commands) answerOverdue(i int, a opt.CommandAnswer) {
	s := &m.State
	former, c := s.Current, s.Overdue[i].Command
	s.Overdue = slices.Delete(s.Overdue, i, i+1)
	s.Current = &Current{Command: c, PlanID: c.PlanID}
	m.onPlanAnswer(a)
	s.Current = former
}

// beginCommand refuses the current command, applies it, or passes it on to its
// plan.
func (m commands) beginCommand() {
	s, o := &m.State, &m.State.Objective
	c := s.Current.Command
	p := o.Plan(c.PlanID)
	err := Admit(o, c)
	ofPlan := p != nil && !p.Over() && (c.Kind != opt.UpdatePlan || c.Status != "")
	if first := !o.Started || o.Status.Ended() || p != nil && (!p.Started || p.Status.Ended()); err == nil && c.Shapes(first) {
		m.shapedBy(c.Principal)
	}
	switch {
	case err != nil:
	case ofPlan && m.expired(c):
		err = &opt.Refusal{Code: opt.RefusedLate, At: m.now}
	case ofPlan:
		m.shareFor(c)
		s.Current.PlanID = p.ID
		return
	case p != nil && p.Over() && c.Kind != opt.UpdatePlan:
		err = planEnded()
	default:
		err = late(m.now, c)
	}
	switch {
	case err != nil:
		m.answer(opt.CommandAnswer{Refusal: opt.RefusalOf(err)})
	case Unchanged(o, p, c) && c.Status == string(opt.ObjectiveBlocked) && len(m.unconfirmed()) > 0:
		s.Current.Echo, s.Current.Unchanged = true, true // it is already paused, and not every plan has confirmed that
	case Unchanged(o, p, c):
		m.answer(opt.CommandAnswer{Unchanged: true})
	default:
		m.applyCommand(c)
	}
}

// shareFor makes a plan wait for permission if a command starts it behind other objectives.
func (m commands) shareFor(c opt.Command) {
	if !c.QueuedAt.IsZero() && !m.State.Objective.Started {
		m.share()
	}
}

// applyCommand applies a command that belongs to the objective.
func (m commands) applyCommand(c opt.Command) {
	s, o := &m.State, &m.State.Objective
	switch {
	case c.Kind == opt.UpdateObjective && o.Status.Ended(), c.Kind == opt.UpdatePlan && c.Status != "":
		m.load()
	case c.Kind == opt.UpdateObjective:
		m.steer(c)
		m.revise(c.Change)
		m.answerOnceConfirmed(c.Status == string(opt.ObjectiveBlocked) || c.Status == string(opt.ObjectiveWorking))
	case c.Kind == opt.Replan:
		s.Anew = true
		m.plans().planAnew(c.QueuedAt)
		m.revise(nil)
		m.answerOnceConfirmed(s.Making != nil && s.Making.Replan)
	case c.Kind == opt.CreatePlan:
		plan, err := o.NewPlan(*c.Plan, m.now)
		if err != nil {
			panic(err) // it was admitted
		}
		m.plans().addPlans([]*opt.Plan{plan}, nil)
		m.revise(nil)
		if c.Start {
			m.start(c.QueuedAt)
		}
		m.answer(opt.CommandAnswer{PlanID: plan.ID})
	default:
		m.changePlan(c)
		m.revise(nil)
		m.answerOnceConfirmed(c.Change != nil && c.Change.Dependencies != nil)
	}
}

// changePlan changes the name, description, metadata and dependencies of a plan.
func (m commands) changePlan(c opt.Command) {
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
func (m commands) steer(c opt.Command) {
	o := &m.State.Objective
	switch to := opt.ObjectiveStatus(c.Status); to {
	case "":
	case opt.ObjectiveWorking:
		m.resume(c.QueuedAt)
	case opt.ObjectivePlanning:
		if o.Status != opt.ObjectivePlanning {
			m.State.Anew = false
			m.plans().planAnew(c.QueuedAt)
		}
	case opt.ObjectiveBlocked:
		m.pause()
	case opt.ObjectiveFailed:
		m.fail("The objective was declared failed.")
	default:
		m.stopFor(c.Principal, to)
	}
}

// pause pauses the objective: nothing new begins, and running tasks may finish.
func (m commands) pause() {
	o := &m.State.Objective
	if o.Paused {
		return
	}
	m.apply(opt.Event{Kind: opt.ObjectivePaused})
	if o.Status != opt.ObjectiveBlocked {
		m.move(opt.ObjectiveBlocked, opt.BlockedByOperator)
	}
}

// resume ends a pause, drops a planning, or starts the work.
func (m commands) resume(queuedAt a2a.Time) {
	s, o := &m.State, &m.State.Objective
	switch {
	case s.Making != nil && s.Making.Replan:
		m.plans().dropMaking()
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
func (m commands) revise(c *opt.Change) {
	m.apply(opt.Event{Kind: opt.ObjectiveChanged, Change: c, Revision: m.State.Objective.Revision + 1})
}

// answerOnceConfirmed answers the current, applied command: at once, or when
// every plan has confirmed it.
func (m commands) answerOnceConfirmed(confirm bool) {
	if confirm {
		m.State.Current.Echo = true
		return
	}
	m.answer(opt.CommandAnswer{})
}

// finishCommand answers a command that every plan has confirmed, or whose plan
// has ended without an answer.
func (m commands) finishCommand() bool {
	s := &m.State
	if i := slices.IndexFunc(s.Overdue, func(o Overdue) bool { return s.Objective.Plan(o.Command.PlanID).Over() }); i >= 0 {
		m.answerOverdue(i, opt.CommandAnswer{Refusal: opt.RefusalOf(planEnded())})
		return true
	}
	c := s.Current
	switch {
	case c == nil:
		return false
	case c.Echo && len(m.unconfirmed()) == 0:
		m.answer(opt.CommandAnswer{Unchanged: c.Unchanged})
		return true
	case c.PlanID != "" && s.Objective.Plan(c.PlanID).Over():
		m.answer(opt.CommandAnswer{Refusal: opt.RefusalOf(planEnded())})
		return true
	}
	return false
}

// unconfirmed lists the plans that have yet to act upon what they must confirm.
func (m commands) unconfirmed() []string {
	var out []string
	for _, l := range m.State.Links {
		if p := m.State.Objective.Plan(l.PlanID); !p.Over() && p.Report.Directive < l.Directive.Echo {
			out = append(out, p.ID)
		}
	}
	return out
}

// onPlanAnswer handles the answer of a plan to the current command. The objective
// then changes the plan's name and text, if the command does.
func (m commands) onPlanAnswer(a opt.CommandAnswer) {
	s, o := &m.State, &m.State.Objective
	c := s.Current.Command
	if a.Refusal == nil {
		change := planChange(o.Plan(c.PlanID), c)
		if c.Kind == opt.UpdatePlan && !change.Empty() {
			m.changePlan(c)
			a.Unchanged = false
		}
		if !a.Unchanged {
			m.revise(nil)
		}
	}
	m.answer(a)
}

// answer records the answer to the current command.
func (m commands) answer(a opt.CommandAnswer) {
	s := &m.State
	a.CommandID, a.Digest, a.Revision = s.Current.Command.ID, s.Current.Command.Digest, s.Objective.Revision
	s.Answered[a.CommandID] = true
	e := opt.Event{Kind: opt.CommandAnswered, Answer: &a, Principal: s.Current.Command.Principal, Reason: string(s.Current.Command.Kind)}
	s.Current = nil
	m.apply(e)
}

// load requests the former attempt, for a current command that retries it.
func (m commands) load() {
	s := &m.State
	s.Current.Loading = true
	if s.Kept != nil {
		m.retry()
		return
	}
	s.Loads++
	s.Loading, s.Ended = true, s.N
}

func (m commands) loadKey() string {
	return fmt.Sprintf("%s:load:%d", m.State.Objective.RootID(), m.State.Loads)
}

// onLoaded continues the command that waits for the former attempt.
func (m commands) onLoaded(in Loaded) {
	s := &m.State
	if !s.Loading || in.Key != m.loadKey() {
		return
	}
	s.Loading, s.Kept = false, &in.Kept
	if s.Current != nil && s.Current.Loading {
		m.retry()
	}
}

// retry begins the new attempt of the current command: at the objective, or at a
// failed plan of an open objective.
func (m commands) retry() {
	s := &m.State
	c, kept := s.Current.Command, s.Kept
	s.Kept = nil
	if err := Admit(&s.Objective, c); err != nil {
		m.answer(opt.CommandAnswer{Refusal: opt.RefusalOf(err)})
		return
	}
	if c.Kind == opt.UpdatePlan {
		start := c.Status == string(opt.PlanWorking)
		m.shareFor(c)
		m.retryPlan(kept, c.PlanID, start)
		m.revise(nil)
		m.answerOnceConfirmed(start)
		return
	}
	m.retryObjective(kept, c)
}

// retryObjective begins a new attempt at the objective: completed plans stay
// completed, and the others are pending again, except those that were replaced.
func (m commands) retryObjective(kept *Kept, c opt.Command) {
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
		if p.Status == opt.PlanFailed || p.Status == opt.PlanSkipped && p.Reason != opt.Replanned {
			m.retryPlan(kept, p.ID, false)
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
	m.answer(opt.CommandAnswer{})
}

// retryPlan makes a plan pending in a new attempt, whose workflow begins after
// that is recorded. With start it starts at once, otherwise at its turn among the
// plans.
func (m commands) retryPlan(kept *Kept, planID string, start bool) {
	s, o := &m.State, &m.State.Objective
	i := slices.IndexFunc(s.Links, func(l *Link) bool { return l.PlanID == planID })
	whole, p, former := kept.Objective.Plan(planID), o.Plan(planID), s.Links[i]
	covered := m.plans().covered(p)
	if a := p.Report.Approved; a != nil { // it stands
		covered = max(covered, a.Notes+1)
	}
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
	s.Links[i] = &Link{
		PlanID: planID, Start: whole, After: s.N,
		Directive: Directive{N: former.Directive.N, Start: start, Covered: covered}, Changed: s.N,
	}
	if start {
		s.Links[i].Directive.N++
		s.Links[i].Directive.Echo = s.Links[i].Directive.N
		m.plans().show(s.Links[i], p)
		m.begin()
	}
}
