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

// plans is the part of an Objective that requests plans, begins and directs them,
// and handles their reports.
type plans struct{ *Objective }

// make asks the planner for plans: the first ones, or replacements of those that
// have not ended.
func (m plans) make(replan bool) {
	s := &m.State
	s.Makings++
	s.Making = &Making{Key: m.makingKey(), Replan: replan, Keep: replan && !s.Anew}
	s.Objective.Planning = true
}

func (m plans) makingKey() string {
	return fmt.Sprintf("%s:plan:%d", m.State.Objective.RootID(), m.State.Makings)
}

// makeInTurn begins the planning when the objective has its turn. If all plans
// have ended meanwhile, no others are needed.
func (m plans) makeInTurn() {
	switch s := &m.State; {
	case s.Making == nil:
	case s.Objective.Closed():
		m.dropMaking()
	case m.mayWork():
		s.Making.Begun = true
	}
}

// dropMaking drops the request to the planner.
func (m plans) dropMaking() { m.State.Making, m.State.Objective.Planning = nil, false }

// onMade handles the result of the planner, unless it is not wanted any more.
func (m plans) onMade(in Made) {
	s, o := &m.State, &m.State.Objective
	if s.Making == nil || s.Making.Key != in.Key {
		return
	}
	replan, keep := s.Making.Replan, s.Making.Keep
	m.dropMaking()
	s.Unplanned = false
	if o.Closed() {
		return
	}
	if in.Failure == "" && !(keep && len(in.Plans) == 0) {
		m.explainPlans(in.Planner, in.Reason)
	}
	switch {
	case replan:
		m.replace(in, keep)
	case in.Failure != "":
		m.fail("No plan could be made. " + in.Failure)
	default:
		m.addFirst(in.Plans)
	}
}

// explainPlans shows the planner of the plans and its reason.
func (m plans) explainPlans(planner, reason string) {
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
func (m plans) addFirst(specs []opt.PlanSpec) {
	o := &m.State.Objective
	plans, err := o.NewPlans(specs, m.now)
	if err != nil {
		m.fail("The plan cannot be carried out. " + err.Error())
		return
	}
	m.addPlans(plans, nil)
	if o.Status == opt.ObjectivePlanning {
		m.move(opt.ObjectiveWorking, "")
	}
}

// addPlans adds plans that replace those with the ids in old. The workflow of
// each begins after that is recorded.
func (m plans) addPlans(plans []*opt.Plan, old []string) {
	s := &m.State
	for _, p := range plans {
		added := *p
		m.apply(opt.Event{Kind: opt.PlanAdded, PlanID: p.ID, Plan: &added, Replaces: old})
		old = nil
		s.Objective.Plan(p.ID).Report = &opt.Report{Status: p.Status}
		s.Links = append(s.Links, &Link{PlanID: p.ID, Start: p, After: s.N})
	}
}

// planAnew asks the planner for plans: the first ones, or replacements of those
// that have not ended, which are on hold meanwhile.
func (m plans) planAnew(queuedAt a2a.Time) {
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
	m.moveToPlanning()
	if s.Making == nil {
		m.make(len(o.Plans) > 0)
	}
}

// replace replaces the plans that have not ended by new ones. If there are none,
// or they are invalid, the old ones continue.
func (m plans) replace(in Made, keep bool) {
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

// replaced returns o as if its open plans were replaced.
func replaced(o *opt.Objective) *opt.Objective {
	after := *o
	after.Plans = nil
	for _, p := range o.Plans {
		header := *p
		if !header.Status.Ended() {
			header.Stopping = opt.Replanned
		}
		after.Plans = append(after.Plans, &header)
	}
	return &after
}

// link returns the link to a plan, nil if there is none.
func (m plans) link(planID string) *Link {
	i := slices.IndexFunc(m.State.Links, func(l *Link) bool { return l.PlanID == planID })
	if i < 0 {
		return nil
	}
	return m.State.Links[i]
}

// direct updates the directives, and shows for each plan the requested status
// until it has acted upon the directive. It reports whether any has changed.
func (m plans) direct() bool {
	s, o := &m.State, &m.State.Objective
	var startable []*opt.Plan
	if m.mayWork() {
		startable = o.Startable()
	}
	changed := false
	for _, l := range s.Links {
		p := o.Plan(l.PlanID)
		if p.Over() {
			continue
		}
		d := m.desired(l, p, slices.Contains(startable, p))
		if d == l.Directive {
			continue
		}
		d.N++
		awaited := s.Current != nil && s.Current.Echo
		overdue := d.Command != l.Directive.Command && m.commands().overdue(p.ID) >= 0
		if d.Paused != l.Directive.Paused || overdue || awaited && (d.Start != l.Directive.Start || d.Hold != l.Directive.Hold) {
			d.Echo = d.N
		}
		l.Directive, l.Changed, changed = d, s.N, true
		m.show(l, p)
	}
	return changed
}

// desired returns the current directive for a plan, with the number of the
// latest.
func (m plans) desired(l *Link, p *opt.Plan, start bool) Directive {
	s, o, d := &m.State, &m.State.Objective, l.Directive
	if start && !d.Start {
		d.Start, d.Spent = true, m.spentBeside(p)
		if !p.Started { // by a client
			d.Covered = max(d.Covered, m.covered(p))
		}
	}
	begun := d.Start || p.Started
	d.Hold = !begun && o.Started && !o.Closed() && !o.Met(p)
	d.Command = ""
	if s.Current != nil && s.Current.PlanID == p.ID {
		d.Command = s.Current.Command.ID
	}
	// A command, or an earlier run, may start the plan, which reports that later: its pause lasts as long as the objective's.
	d.Paused = (begun || l.Unheard || d.Command != "" || d.Paused) && (o.Paused || s.Making != nil && s.Making.Replan)
	switch {
	case d.Stop != "":
	case p.Stopping != "": // other plans replace it
		d.Stop = p.Stopping
	default:
		d.Stop = o.Stopping
	}
	d.Leaf, d.Name, d.Shapers = o.Leaf(p), p.Name, len(o.Shapers)
	if begun {
		d.Notes = len(s.Notes)
	}
	d.ReportEnd = d.ReportEnd || s.Leaving && l.Begun && l.Own
	d.Shared = s.Turn.Shared
	if d.Shared && m.mayWork() && begun && d.Permission <= p.Report.Yielded && (d.Permission == 0 || p.Report.Asks) {
		d.Permission = p.Report.Yielded + 1
	}
	return d
}

// covered returns one more than the number of notes that the approvals in the plans before p
// have covered, 0 if there were none. Those that were accepted before p was made say nothing
// about it.
func (m plans) covered(p *opt.Plan) (most int) {
	before := []*opt.Plan{p}
	for i := 0; i < len(before); i++ {
		for _, b := range m.State.Objective.Before(before[i]) {
			if slices.Contains(before, b) {
				continue
			}
			before = append(before, b)
			if a := b.Report.Approved; a != nil && p.CreatedAt.Millis() < a.At.Millis() {
				most = max(most, a.Notes+1)
			}
		}
	}
	return most
}

// approvals returns what the approvals of a former attempt at a plan have covered, as far as its
// tasks say: none of the notes that came since. nil if there were none.
func approvals(p *opt.Plan) *opt.Approved {
	if slices.ContainsFunc(p.Tasks, func(t *opt.Task) bool { return isApproval(t) }) {
		return &opt.Approved{At: p.UpdatedAt}
	}
	return nil
}

// spentBeside returns the usage of the plans other than p.
func (m plans) spentBeside(p *opt.Plan) (sum opt.Usage) {
	for _, other := range m.State.Objective.Plans {
		if other != p && other.Report != nil {
			sum = sum.Plus(other.Report.Spent)
		}
	}
	return sum
}

// show updates the status that the objective shows for a plan: the requested one
// or the reported one.
func (m plans) show(l *Link, p *opt.Plan) {
	p.Status, p.Reason = l.Directive.assumed(*p.Report)
	p.Started = l.Directive.Start || p.Report.Started
	p.Paused, p.Stopping = p.Report.Paused, l.Directive.Stop
}

// onReported handles a report of a plan. It drops reports of an earlier attempt
// and reports older than the latest. A report may be handled before the
// ChildStarted of its plan, if both arrive at once.
func (m plans) onReported(in Reported) {
	s, o := &m.State, &m.State.Objective
	p, l := o.Plan(in.PlanID), m.link(in.PlanID)
	if p != nil && in.Report.Attempt < p.Run && l.Begun && l.Found && l.Start != nil { // that one is still there
		l.Begun, l.RetryAt = false, a2a.At(m.now.Time().Add(beginWait))
	}
	if p == nil || p.Over() || in.Report.Attempt < p.Run || !in.Report.After(*p.Report) {
		return
	}
	if (!l.Begun || l.Start != nil) && in.Report.Under < s.Epoch { // for an earlier run of the objective, or with what that knew
		return
	}
	report := in.Report
	l.hear(report, p.Report.Epoch, s.Epoch)
	p.Report, p.UpdatedAt = &report, m.now
	for _, principal := range report.Shapers {
		m.shapedBy(principal)
	}
	m.show(l, p)
	if p.Report.Started && !o.Started && !o.Closed() {
		m.startByPlan(p)
	}
	if c := s.Current; c != nil && c.PlanID == p.ID && report.Answer != nil && report.Answer.CommandID == c.Command.ID {
		m.commands().onPlanAnswer(*report.Answer)
	}
	m.commands().onReport(p.ID, report)
}

// hear takes from a report of the plan how much of its objective it has. before is the epoch of the
// plan in its report before, epoch the objective's.
func (l *Link) hear(report opt.Report, before, epoch int) {
	if report.Epoch > before { // it may have lost directives
		l.Delivered, l.Noted = 0, 0
	}
	if report.Directive >= l.Delivered { // the report has the notes that were delivered, or they are lost
		l.Noted = min(l.Noted, report.Notes)
	}
	if report.Under >= epoch { // also before it is known that it has begun
		l.Unheard = false
	}
	if l.Begun && (l.Found || l.Own) {
		l.Start = nil
	}
}

// startByPlan starts the objective because a client has started one of its plans.
func (m plans) startByPlan(p *opt.Plan) {
	queuedAt := a2a.Time{}
	if c := m.State.Current; c != nil && c.PlanID == p.ID {
		queuedAt = c.Command.QueuedAt
	} else if i := m.commands().overdue(p.ID); i >= 0 {
		queuedAt = m.State.Overdue[i].Command.QueuedAt
	}
	m.start(queuedAt)
}

// onChild handles the start or the end of a plan's workflow.
func (m plans) onChild(in Input) {
	switch in := in.(type) {
	case ChildStarted:
		if l := m.attempt(in.PlanID, in.Attempt); l != nil && !l.Begun {
			l.Begun, l.Own, l.Delivered = true, true, in.N
			l.Found, l.Noted = false, 0
			if !l.Unheard {
				l.Start = nil
			}
		}
	case ChildRefused:
		if l := m.attempt(in.PlanID, in.Attempt); l != nil && !l.Begun {
			l.Try++
			if m.State.Epoch > 1 && !l.Found {
				m.adopt(l)
				return
			}
			l.RetryAt = a2a.At(m.now.Time().Add(beginWait))
			if l.Try >= beginTries {
				m.lost(l)
			}
		}
	case PlanLost:
		if l := m.attempt(in.PlanID, in.Attempt); l != nil && l.Begun && !m.State.Objective.Plan(in.PlanID).Over() {
			m.lost(l)
		}
	case ChildEnded:
		if in.Report != nil {
			m.onReported(Reported{PlanID: in.PlanID, Report: *in.Report})
		}
		switch l := m.attempt(in.PlanID, in.Attempt); {
		case l == nil || !l.Own || m.State.Objective.Plan(in.PlanID).Over():
		case in.Report != nil && l.Start != nil: // it has not heard of this epoch, in which its work counts
			l.Begun, l.Own, l.Unheard, l.Gone = false, false, false, false
			l.Try++
		default:
			m.lost(l)
		}
	}
}

// attempt returns the link to a plan if the plan is at the attempt, else nil.
func (m plans) attempt(planID string, attempt int) *Link {
	if p := m.State.Objective.Plan(planID); p == nil || p.Run != attempt {
		return nil
	}
	return m.link(planID)
}

// lost handles a plan whose workflow has ended without a result: an operator has
// ended it. The objective records the plan's end.
func (m plans) lost(l *Link) {
	p := m.State.Objective.Plan(l.PlanID)
	l.Begun, l.Own, l.Start, l.RetryAt = true, false, nil, a2a.Time{}
	report := opt.Report{N: p.Report.N, Attempt: p.Run, Status: p.Status, Reason: p.Reason}
	if !p.Status.Ended() {
		if p.Status == opt.PlanPending {
			m.movePlan(p, opt.PlanWorking, "")
		}
		m.movePlan(p, opt.PlanFailed, opt.Terminated)
		report.Status, report.Reason, report.Failure = opt.PlanFailed, opt.Terminated, opt.TerminatedText
	}
	p.Report = &report
	if c := m.State.Current; c != nil && c.PlanID == p.ID {
		m.commands().answer(opt.CommandAnswer{Refusal: opt.RefusalOf(planEnded())})
	}
}

func (m plans) movePlan(p *opt.Plan, to opt.PlanStatus, reason string) {
	m.apply(opt.Event{Kind: opt.PlanMoved, PlanID: p.ID, From: string(p.Status), To: string(to), Reason: reason})
}

// onDelivered notes that a directive or a request was delivered, or that its receiver
// does not exist. A missing plan that had to report its end by signal was ended
// by an operator, since it would have reported before.
func (m plans) onDelivered(in Delivered) {
	if in.To == ToContext {
		m.onRequestDelivered(in)
		return
	}
	l := m.link(in.To)
	if l == nil || !l.Begun || in.N <= l.Delivered { // it was for an earlier attempt
		return
	}
	l.Delivered = max(l.Delivered, in.N)
	if in.Gone && l.Found && l.Start != nil { // it has ended before it could report to this run
		l.Begun, l.Unheard = false, false
		return
	}
	if !in.Gone {
		l.Noted = in.Notes
	}
	l.Gone = in.Gone && l.Own
	if in.Gone && !l.Own && !m.State.Objective.Plan(l.PlanID).Over() {
		m.lost(l)
	}
}

// Successor returns the state for the next run.
func (m *Objective) Successor() ObjectiveState {
	s := m.State
	s.Leaving = false
	s.Links = nil
	for _, l := range m.State.Links {
		next := *l
		next.Own = false
		s.Links = append(s.Links, &next)
	}
	return s
}

// ChildState returns the state with which the workflow of a plan begins. That of a rewound
// objective begins with an epoch: the journal may have what the plan has done before.
func (m *Objective) ChildState(planID string) PlanState {
	s, o := &m.State, &m.State.Objective
	l := m.plans().link(planID)
	first := m.Message(planID)
	return PlanState{
		Rules: s.Rules, Plan: *l.Start, Epoch: s.Epoch, Above: s.Epoch, Rewind: s.Epoch > 1, Tenant: o.Tenant, ContextID: o.ContextID, RootID: o.RootID(), Objective: o.Name, Requester: o.Principal,
		Request: s.Asked(), First: &first,
	}
}

// Message returns the content of the signal to a plan.
func (m *Objective) Message(planID string) Directed {
	s := &m.State
	p, l := s.Objective.Plan(planID), m.plans().link(planID)
	d := Directed{Directive: l.Directive, NotesFrom: p.Report.Notes, Shapers: s.Objective.Shapers}
	if l.Begun {
		d.NotesFrom = max(d.NotesFrom, l.Noted)
	}
	d.NotesFrom = min(d.NotesFrom, l.Directive.Notes)
	d.Notes = s.Notes[d.NotesFrom:l.Directive.Notes]
	if (l.Directive.Start || l.Directive.Command != "") && !p.Report.Started {
		d.Inputs = m.plans().inputs(p)
	}
	if l.Directive.Command != "" {
		d.Command = &s.Current.Command
	}
	return d
}

// inputs lists the results of the plans that p depends on, or of the last plan with
// results that it follows in the list.
func (m plans) inputs(p *opt.Plan) (out []a2a.Artifact) {
	o := &m.State.Objective
	for o.Follows(p) {
		before := o.Before(p)
		if len(before) == 0 {
			return nil
		}
		if p = before[0]; p.Status == opt.PlanCompleted && len(p.Report.Results) > 0 {
			return p.Report.Results
		}
	}
	for _, id := range p.Dependencies {
		if d := o.Plan(id); d != nil {
			out = slices.Concat(out, d.Report.Results)
		}
	}
	return out
}

// timers lists the timers that are wanted.
func (m plans) timers() []Timer {
	var out []Timer
	s := &m.State
	if m.expires() {
		at := a2a.At(s.IdleSince.Time().Add(time.Duration(s.IdleFor) * time.Second))
		out = append(out, Timer{Key: fmt.Sprintf("%s%d", idleTimer, at.Millis()), At: at, Summary: "Wait to be started"})
	}
	for _, l := range s.Links {
		if !l.RetryAt.IsZero() {
			key := fmt.Sprintf("%s%s:%d", beginTimer, l.PlanID, l.RetryAt.Millis())
			out = append(out, Timer{Key: key, At: l.RetryAt, Summary: "Wait for the former run of the plan to end"})
		}
	}
	if c := s.Current; c != nil && (c.Echo || c.PlanID != "") {
		out = appendDeadline(out, c.Command, "Wait for the plans to confirm")
	}
	for _, c := range s.Commands {
		if s.Current == nil && m.commands().overdue(c.PlanID) >= 0 {
			out = appendDeadline(out, c, "Wait for the plan to answer another command")
		}
	}
	return out
}

// appendDeadline adds the timer for the deadline of a command that waits.
func appendDeadline(out []Timer, c opt.Command, summary string) []Timer {
	if c.Deadline.IsZero() {
		return out
	}
	return append(out, Timer{Key: answerTimer + c.ID, At: c.Deadline, Summary: summary})
}

// Beginnings of the keys of timers.
const (
	idleTimer   = "idle:"
	beginTimer  = "begin:"
	answerTimer = "answer:"
)

// onElapsed handles an elapsed timer.
func (m plans) onElapsed(key string) {
	s := &m.State
	switch {
	case strings.HasPrefix(key, idleTimer) && m.expires():
		m.stop(opt.ObjectiveCanceled, opt.Expired, m.say(":expired",
			fmt.Sprintf("No client started this objective within %s, so it was canceled.", opt.Span(time.Duration(s.IdleFor)*time.Second))))
	case strings.HasPrefix(key, answerTimer) && s.Current != nil && answerTimer+s.Current.Command.ID == key:
		if s.Current.Echo {
			m.commands().answer(opt.CommandAnswer{Waiting: m.commands().unconfirmed(), Unchanged: s.Current.Unchanged})
		} else if s.Current.PlanID != "" {
			m.commands().waitNoMore()
		}
	case strings.HasPrefix(key, beginTimer):
		for _, l := range s.Links {
			if key == fmt.Sprintf("%s%s:%d", beginTimer, l.PlanID, l.RetryAt.Millis()) {
				l.RetryAt = a2a.Time{}
			}
		}
	}
}

// expires reports whether the objective will be canceled at its time unless it is
// started. An objective that was started and waits for its turn does not expire.
func (m plans) expires() bool {
	s := &m.State
	return s.IdleFor > 0 && s.Idle && s.Objective.Status == opt.ObjectiveSubmitted && s.Objective.Stopping == ""
}
