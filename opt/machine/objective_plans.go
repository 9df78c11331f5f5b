package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// A run of a plan ends soon after it has reported its end. If it still runs after
// beginTries seconds, the plan counts as ended by an operator.
const (
	beginTries = 60
	beginWait  = time.Second
)

// Temporal gives the result of a plan to its objective within moments. After goneWait none will come.
const goneWait = time.Minute

// onMade handles the result of the planner, unless it is not wanted any more.
func (m *Objective) onMade(in Made) {
	s, o := &m.State, &m.State.Objective
	if s.Making == nil || s.Making.Key != in.Key {
		return
	}
	replan, keep := s.Making.Replan, s.Making.Keep
	m.State.dropMaking()
	s.Unplanned = false
	if o.Closed() {
		return
	}
	m.use(in.Usage)
	if in.Failure == "" && !(keep && len(in.Plans) == 0) {
		m.explainPlans(in.Planner, in.Reason)
	}
	switch {
	case replan:
		m.replace(in, keep)
	case in.Failure != "":
		m.stop(failure(o, "No plan could be made. "+in.Failure))
	default:
		m.addFirst(in.Plans)
	}
}

// explainPlans shows the planner of the plans and its reason.
func (m *Objective) explainPlans(planner, reason string) {
	o := &m.State.Objective
	text := *o.Text()
	for _, told := range []struct{ key, value string }{{opt.KeyPlanner, planner}, {opt.KeyReason, reason}} {
		if had, _ := text.Metadata.String(told.key); had != told.value {
			text.Metadata = text.Metadata.With(told.key, told.value)
			if told.value == "" {
				delete(text.Metadata, told.key)
			}
		}
	}
	m.apply(opt.Event{Kind: opt.ObjectiveChanged, Text: &text, Revision: o.Revision})
}

// addFirst adds the plans of an objective that begins.
func (m *Objective) addFirst(specs []opt.PlanSpec) {
	o := &m.State.Objective
	plans, err := o.NewPlans(specs, m.now)
	if err != nil {
		m.stop(failure(o, "The plan cannot be carried out. "+err.Error()))
		return
	}
	m.addPlans(plans, nil)
	if o.Status == opt.ObjectivePlanning {
		m.move(opt.ObjectiveWorking, "")
	}
}

// addPlans adds plans that replace those with the ids in old. The workflow of
// each begins after that is recorded.
func (m *Objective) addPlans(plans []*opt.Plan, old []string) {
	s := &m.State
	for _, p := range plans {
		if p.Budget = budgetIn(&s.Objective, p.Budget); s.Rules < rulesPlaybookBudget {
			p.Budget = nil
		}
		added := *p
		m.apply(opt.Event{Kind: opt.PlanAdded, PlanID: p.ID, Plan: &added, Replaces: old})
		old = nil
		s.Objective.Plan(p.ID).Report = &opt.Report{Status: p.Status}
		l := &Link{PlanID: p.ID, Start: p, After: s.N}
		if s.Epoch > 1 {
			l.renumber(m.now)
		}
		s.Links = append(s.Links, l)
	}
}

// planAnew asks the planner for plans: the first ones, or replacements of those
// that have not ended, which are on hold meanwhile.
func (m *Objective) planAnew(queuedAt a2a.Time) {
	s, o := &m.State, &m.State.Objective
	switch {
	case s.Making != nil && !o.Paused:
		return
	case !o.Started:
		m.endPause()
		s.Given, s.Unplanned = nil, true
		m.start(queuedAt)
		return
	case o.Status == opt.ObjectiveWorking:
		m.move(opt.ObjectiveBlocked, opt.BlockedByOperator) // the tables have no direct move
	}
	m.endPause()
	m.move(opt.ObjectivePlanning, "")
	if s.Making == nil {
		m.State.make(len(o.Plans) > 0)
	}
}

// replace replaces the plans that have not ended by new ones. If there are none,
// or they are invalid, the old ones continue.
func (m *Objective) replace(in Made, keep bool) {
	o := &m.State.Objective
	problem := in.Failure
	plans, err := replaced(o).NewPlans(in.Plans, m.now)
	switch {
	case problem != "":
	case err != nil:
		problem = err.Error()
	case len(plans) == 0:
		problem = "The planner made no plan."
	}
	if problem == "" {
		var old []string
		for _, p := range o.Plans {
			if !p.Status.Ended() {
				old = append(old, p.ID)
			}
		}
		m.addPlans(plans, old)
	} else if !keep || in.Failure != "" || len(in.Plans) > 0 {
		m.explainPlans("", "The replan made no new plans, so the plans continue. "+problem)
	}
	if !o.Paused {
		m.move(opt.ObjectiveWorking, "")
	}
}

// direct updates the directives, and shows for each plan the requested status
// until it has acted upon the directive. It reports whether any has changed.
func (m *Objective) direct() bool {
	s, o := &m.State, &m.State.Objective
	var startable []*opt.Plan
	if s.Turn.mayWork() {
		startable = o.Startable()
	}
	changed, sharing := false, sharingOf(s, startable)
	for _, l := range s.Links {
		p := o.Plan(l.PlanID)
		if p.Over() {
			continue
		}
		d := s.desired(l, p, slices.Contains(startable, p))
		sharing.direct(&d, l, p)
		if d == l.Directive {
			continue
		}
		if d.N++; d.PlanEpoch != l.Directive.PlanEpoch { // an objective that was begun again does not have what the plan has
			d.N = above(l.Directive.N, m.now)
			if d.Echo > l.Directive.Echo {
				d.Echo = d.N
			}
		}
		awaited := s.Current != nil && s.Current.Echo
		overdue := d.Command != l.Directive.Command && s.overdue(p.ID) >= 0
		if d.Paused != l.Directive.Paused || overdue || awaited && (d.Start != l.Directive.Start || d.Hold != l.Directive.Hold) {
			d.Echo = d.N
		}
		l.Directive, l.Changed, changed = d, s.N, true
		l.show(p)
	}
	return changed
}

// onReported handles a report of a plan. It drops reports of an earlier attempt
// and reports older than the latest. A report may be handled before the
// ChildStarted of its plan, if both arrive at once.
func (m *Objective) onReported(in Reported) {
	s, o, report := &m.State, &m.State.Objective, in.Report
	p, l := o.Plan(in.PlanID), s.link(in.PlanID)
	if p == nil {
		return
	}
	if report.Attempt < p.Run && l.Begun && l.Found && l.Start != nil { // that one is still there
		l.retry(m.now)
	}
	endStands(s, l, p, report, m.now)
	if p.Over() || report.Attempt < p.Run || !report.After(*p.Report) || l.stale(report, s.Epoch) {
		return
	}
	l.hear(report, p.Report.Epoch, s.Epoch)
	p.Report, p.UpdatedAt = &report, m.now
	hearBudget(s, report)
	for _, principal := range report.Shapers {
		s.shapedBy(principal)
	}
	l.show(p)
	if report.Started && !o.Started && !o.Closed() { // a client has started it
		m.start(s.queuedAt(p.ID))
	}
	m.commands().report(p.ID, report)
}

// onChild handles the start or the end of a plan's workflow.
func (m *Objective) onChild(in Input) {
	s := &m.State
	switch in := in.(type) {
	case ChildStarted:
		if l := s.attempt(in.PlanID, in.Attempt); l != nil && !l.Begun {
			l.begin(in.N)
		}
	case ChildRefused:
		if l := s.attempt(in.PlanID, in.Attempt); l != nil && !l.Begun {
			m.refused(l)
		}
	case ChildEnded:
		if in.Report != nil {
			m.onReported(Reported{PlanID: in.PlanID, Report: *in.Report})
		}
		switch l := s.attempt(in.PlanID, in.Attempt); {
		case l == nil || !l.Own || s.Objective.Plan(in.PlanID).Over():
		case in.Report != nil && l.Start != nil: // it has not heard of this epoch, in which its work counts
			l.Begun, l.Own, l.Unheard, l.Gone = false, false, false, false
			l.Try++
		default:
			m.lost(l)
		}
	}
}

// refused handles that a run of a plan has not ended, which another run of this objective may have begun.
func (m *Objective) refused(l *Link) {
	l.Try++
	if m.State.Rules >= rulesFound && l.Try < beginTries || m.State.Epoch > 1 && !l.Found {
		m.State.adopt(l, m.now)
		return
	}
	l.retry(m.now)
	if l.Try >= beginTries {
		m.lost(l)
	}
}

// lost handles a plan whose workflow has ended without a result: an operator has
// ended it. The objective records the plan's end.
func (m *Objective) lost(l *Link) {
	p := m.State.Objective.Plan(l.PlanID)
	l.Begun, l.Own, l.Start, l.RetryAt = true, false, nil, a2a.Time{}
	report := opt.Report{N: p.Report.N, Attempt: p.Run, Status: p.Status, Reason: opt.Terminated}
	if m.State.Rules >= rulesBudget {
		report.Spent = p.Report.Spent
	}
	if p.Status.Ended() { // by a client, and its tasks were being stopped
		m.movePlan(p, p.Status, opt.Terminated)
	} else {
		if p.Status == opt.PlanPending {
			m.movePlan(p, opt.PlanWorking, "")
		}
		m.movePlan(p, opt.PlanFailed, opt.Terminated)
		report.Status, report.Failure = opt.PlanFailed, opt.TerminatedText
	}
	p.Report = &report
	if c := m.State.Current; c != nil && c.PlanID == p.ID {
		m.commands().answer(opt.CommandAnswer{Refusal: opt.RefusalOf(planEnded())})
	}
}

func (m *Objective) movePlan(p *opt.Plan, to opt.PlanStatus, reason string) {
	m.apply(opt.Event{Kind: opt.PlanMoved, PlanID: p.ID, From: string(p.Status), To: string(to), Reason: reason})
}

// onDelivered notes that a directive or a request was delivered, or that its receiver
// does not exist.
func (m *Objective) onDelivered(in Delivered) {
	s := &m.State
	if in.To == ToContext {
		if s.Turn.delivered(in, s.Rules); s.Lost && s.Turn.Delivered == s.Turn.N { // it has left, if it was there
			s.Turn, s.Lost = TurnState{N: s.Turn.N, Delivered: s.Turn.Delivered}, false
		}
		return
	}
	l := s.link(in.To)
	if l == nil {
		return
	}
	if l.deliver(in) && !s.Objective.Plan(l.PlanID).Over() {
		m.lost(l)
	}
	l.noteGone(m.now, s.Epoch > 1 && s.Rules >= rulesReads)
}

// onElapsed handles an elapsed timer.
func (m *Objective) onElapsed(key string) {
	s := &m.State
	switch id, answer := strings.CutPrefix(key, answerTimer); {
	case answer:
		m.commands().elapse(id)
	case strings.HasPrefix(key, idleTimer) && s.expires():
		text := fmt.Sprintf("No client started this objective within %s, so it was canceled.", opt.Span(time.Duration(s.IdleFor)*time.Second))
		m.stop(opt.Event{Reason: string(opt.ObjectiveCanceled), Cause: opt.Expired, Status: a2a.AgentMessage(s.Objective.ContextID, s.Objective.RootID(), ":expired", text)})
	case strings.HasPrefix(key, turnTimer):
		askAgain(s, m.now)
	case strings.HasPrefix(key, goneTimer):
		for _, l := range s.Links {
			if l.awaits(s.Objective.Plan(l.PlanID)) && key == l.goneTimer().Key {
				m.lost(l)
			}
		}
	case strings.HasPrefix(key, beginTimer):
		for _, l := range s.Links {
			if key == l.timer() {
				l.RetryAt = a2a.Time{}
			}
		}
	}
}
