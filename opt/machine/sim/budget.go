package sim

import (
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// limits are the budgets of objectives, in turn.
var limits = []opt.Budget{
	{}, {SpendLimit: opt.SpendLimit{Tokens: 2}}, {}, {SpendLimit: opt.SpendLimit{Questions: 2, Calls: 1}},
	{}, {SpendLimit: opt.SpendLimit{Tokens: 3, Questions: 1}, OnExceeded: opt.FailBudget}, {}, {SpendLimit: opt.SpendLimit{Time: 30, Calls: 2}},
}

// ofPlaybooks are the budgets of playbooks, in turn.
var ofPlaybooks = []*opt.Budget{
	nil, {SpendLimit: opt.SpendLimit{Tokens: 3, Calls: 1}, Most: opt.SpendLimit{Tokens: 5, Questions: 4}}, nil, nil, {SpendLimit: opt.SpendLimit{Questions: 2}},
}

// ofPlans are the budgets of plans alone, in turn.
var ofPlans = []*opt.Budget{
	nil, nil, {SpendLimit: opt.SpendLimit{Tokens: 2, Questions: 2}}, nil, {SpendLimit: opt.SpendLimit{Calls: 1}, Most: opt.SpendLimit{Tokens: 3}},
	nil, {SpendLimit: opt.SpendLimit{Tokens: 1}, OnExceeded: opt.FailBudget},
}

// limited gives a request one of the budgets.
func limited(w *world, m *a2a.Message) {
	if b := limits[w.n%len(limits)]; b != (opt.Budget{}) {
		m.Metadata = m.Metadata.With(a2a.ExtensionBudget, b)
	}
}

// budgeted gives plans the budget of a playbook.
func budgeted(w *world, plans []opt.PlanSpec) []opt.PlanSpec {
	for i := range plans {
		plans[i].Budget = ofPlaybooks[w.specs%len(ofPlaybooks)]
		plans[i].Own = ofPlans[(w.specs+i)%len(ofPlans)]
	}
	return plans
}

// left returns the limits of a plan that a step exceeds.
func left(s *machine.PlanState, before, needs opt.Usage) (over opt.SpendLimit) {
	if s.Request == nil || s.Rules < 18 {
		return over
	}
	b := opt.BudgetOf(*s.Request)
	if of := s.Plan.Budget; of != nil {
		if b == (opt.Budget{}) {
			b = *of
		}
		if over := of.Most.Over(before, needs); over != (opt.SpendLimit{}) {
			return over
		}
	}
	return s.Raised.Or(b.SpendLimit).Over(before, needs)
}

// leftAlone returns the limits of the plan alone that a step exceeds. before is what its attempts have used before it.
func leftAlone(s *machine.PlanState, before, needs opt.Usage) (over opt.SpendLimit) {
	if own := s.Plan.Own; own != nil && s.Rules >= 26 {
		return s.RaisedOwn.Or(own.SpendLimit).Within(own.Most).Over(before, needs)
	}
	return over
}

// asksOnce: one task of a plan asks about the budget for all.
func asksOnce(w *world, s *machine.PlanState) {
	n := 0
	for _, t := range s.Plan.Tasks {
		if t.Gate != nil && t.Gate.Budget {
			n++
		}
	}
	if s.Rules >= 21 && n > 1 {
		w.fail("budget", "%d tasks of %s ask about it", n, w.name(s.Plan.ID))
	}
}

// spentIn returns what the tasks of a plan have used.
func spentIn(s *machine.PlanState) (sum opt.Usage) {
	for _, t := range s.Plan.Tasks {
		sum = sum.Plus(s.Spent[t.ID])
	}
	return sum
}

// spends returns what an activity needs of a budget: its first leg looks for itself whether there is room for a turn.
func spends(l *leg, a *activity) (needs opt.Usage) {
	turn := opt.Usage{Input: 1}
	switch b := a.work.Budget(); {
	case a.work.Cancel || a.watches || a.returned != nil || a.Kind != machine.RunTask:
		return needs
	case a.work.Leg > 0:
		return l.needs
	case b.Over(a.work.Counted(), turn) == opt.SpendLimit{}:
		return turn
	}
	return needs
}

// beginsWithin: a step begins only if the budget has what it needs, as far as the plan has heard of others: each
// running task overspends by one step.
func beginsWithin(w *world, r *run, l *leg, a *activity) {
	s, needs := &r.m.(planHost).p.State, spends(l, a)
	if a.spends = needs.Input > 0; a.spends {
		spend := 1
		for _, other := range r.activities {
			if other != a && other.spends {
				spend++
			}
		}
		f := w.facts.plan(r.id)
		f.spend = max(f.spend, spend)
	}
	if needs == (opt.Usage{}) {
		return
	}
	if l.calls += needs.Calls; s.Rules >= 18 && !w.facts.isReset(s.Plan.ID, s.Plan.ObjectiveID) && s.Spent[a.Of].Calls < l.calls {
		w.fail("budget", "%s makes call %d, and %d are counted", w.name(a.Key), l.calls, s.Spent[a.Of].Calls)
	}
	spent := spentIn(s).Plus(s.Directive.Spent)
	spent.Calls -= needs.Calls
	if over := left(s, spent, needs); over != (opt.SpendLimit{}) {
		w.fail("budget", "%s begins, and %s was used", w.name(a.Key), over.Text(spent))
	}
	withinAll(w, s, needs, a.Key)
	withinOwn(w, s, needs, a.Key)
}

// withinOwn: a step begins only if the budget of its plan alone has what it needs, after all attempts at the plan.
func withinOwn(w *world, s *machine.PlanState, needs opt.Usage, what string) {
	attempts := w.facts.plan(s.Plan.ID).attemptsUsed
	if attempts == nil {
		attempts = map[int]opt.Usage{}
		w.facts.plan(s.Plan.ID).attemptsUsed = attempts
	}
	attempts[s.Plan.Run] = spentIn(s)
	if w.facts.isReset(s.Plan.ID, s.Plan.ObjectiveID) || w.facts.cut[s.Plan.ID] { // events that were not recorded count for nothing
		return
	}
	sum := opt.Usage{Calls: -needs.Calls, Questions: -needs.Questions - w.facts.unlimited[s.Plan.ObjectiveID]}
	for _, used := range attempts { // of former ones as of their last step
		sum = sum.Plus(used)
	}
	if over := leftAlone(s, sum, needs); over != (opt.SpendLimit{}) {
		w.fail("budget", "%s begins, and its plan has used %s", w.name(what), over.Text(sum))
	}
}

// withinAll: a step begins only if the budget has what it needs after what all plans of the objective have used, whether
// this one has heard of that or not. Tasks beside each other in a plan may have begun with the same rest, and a step that
// runs keeps no rest for itself: of three plans the second may have got that when the third begins. needs was counted
// already, but for tokens.
func withinAll(w *world, s *machine.PlanState, needs opt.Usage, what string) {
	of := w.latest[s.Plan.ObjectiveID]
	if of == nil || s.Rules < 26 || disturbed(w, of) {
		return
	}
	o, all := &of.m.(objectiveHost).o.State, *s
	sum := o.Used
	for _, p := range o.Objective.Plans {
		r := w.latest[p.ID]
		if disturbed(w, r) {
			return
		}
		excess := w.facts.plan(p.ID).spend
		if len(o.Objective.Plans) < 3 {
			excess = max(excess-1, 0)
		}
		sum.Input -= int64(excess)
		if own := w.unended(r, p); own != nil && own.Plan.Run == p.Run {
			sum, all.Raised = sum.Plus(spentIn(own)), all.Raised.Highest(own.Raised)
		} else {
			sum = sum.Plus(p.Report.Spent)
		}
	}
	sum.Calls, sum.Questions = sum.Calls-needs.Calls, sum.Questions-needs.Questions-w.facts.unlimited[of.id]
	if over := left(&all, sum, needs); over != (opt.SpendLimit{}) {
		w.fail("budget", "%s begins, and all plans have used %s", w.name(what), over.Text(sum))
	}
}

// disturbed reports whether an operator has ended or reset a workflow, if it has begun: it may have done more than it knows.
func disturbed(w *world, r *run) bool {
	return r != nil && (w.facts.cut[r.id] || w.facts.resets[r.id] > 0 || r.terminated)
}

// asksWithin: people are asked only as often as the budget has it.
func asksWithin(w *world, r *run, s *machine.PlanState, e opt.Event) {
	if e.Gate == nil {
		return
	}
	asksOnce(w, s)
	switch {
	case e.Gate.Budget:
		if s.Rules >= 35 { // a question that waits for it is looked at again
			delete(w.facts.looked, e.TaskID)
		}
		return
	case !opensGate(e):
		return
	}
	if s.Rules >= 18 && (e.Usage == nil || e.Usage.Questions != 1) {
		w.fail("budget", "%s opens, and is not counted", w.name(e.Gate.ID))
	}
	asksCounted(w, s, e)
	if e.Gate.Kind == opt.Credential {
		w.facts.unlimited[r.objective]++
		return
	}
	spent := spentIn(s).Plus(s.Directive.Spent)
	spent.Questions--
	if over := left(s, spent, opt.Usage{Questions: 1}); over != (opt.SpendLimit{}) {
		w.fail("budget", "%s opens, and %s was used", w.name(e.Gate.ID), over.Text(spent))
	}
	withinAll(w, s, opt.Usage{Questions: 1}, e.Gate.ID)
	withinOwn(w, s, opt.Usage{Questions: 1}, e.Gate.ID)
}

// countsUse reports whether a plan has a budget that counts the use of others.
func countsUse(s *machine.PlanState) bool {
	return s.Rules >= 18 && s.Request != nil && opt.BudgetOf(*s.Request).Under(s.Plan.Budget) != opt.Budget{} && s.Plan.Started
}

// asksCounted: the gate of a human task opens when quotas of questions have room, if there are any.
func asksCounted(w *world, s *machine.PlanState, e opt.Event) {
	t := s.Plan.Task(e.TaskID)
	if t == nil || t.Ask == nil || s.Rules < 27 || !s.Plan.Limits.CountsQuestions || w.facts.isReset(s.Plan.ID, s.Plan.ObjectiveID) {
		return
	}
	if !slices.ContainsFunc(w.facts.looked[e.TaskID], func(q opt.StandingQuestion) bool { return q.Counts && q.Gate.ID == e.Gate.ID }) {
		w.fail("quotas", "%s opens, and no one has looked whether there is room", w.name(e.Gate.ID))
	}
}

// knowsUse: when nothing is under way, a plan whose budget counts it knows what all others have used.
func knowsUse(w *world, s *machine.ObjectiveState, own *machine.PlanState) {
	if !countsUse(own) || w.facts.resets[s.Objective.ID] > 0 {
		return
	}
	want := s.Used
	for _, p := range s.Objective.Plans {
		other := w.unended(w.open(p.ID), p)
		switch {
		case w.facts.resets[p.ID] > 0:
			return
		case p.ID == own.Plan.ID:
		case other == nil:
			want = want.Plus(p.Report.Spent)
		case own.Rules >= 26 && p.Started: // they share it
			return
		default:
			want = want.Plus(spentIn(other))
		}
	}
	if own.Directive.Spent != want {
		w.fail("budget", "%s knows that others have used %+v, and they have used %+v", w.name(own.Plan.ID), own.Directive.Spent, want)
	}
}
