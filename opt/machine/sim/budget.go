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

// beginsWithin: a step begins only if the budget has what it needs, as far as the plan has heard of others: each
// running task overspends by one step.
func beginsWithin(w *world, h planHost, l *leg, a *activity) {
	s := &h.p.State
	if l.needs == (opt.Usage{}) || a.work.Leg == 0 || a.watches || a.returned != nil || a.Kind != machine.RunTask {
		return
	}
	if l.calls += l.needs.Calls; s.Rules >= 18 && w.facts.resets[s.Plan.ID]+w.facts.resets[s.Plan.ObjectiveID] == 0 && s.Spent[a.Of].Calls < l.calls {
		w.fail("budget", "%s makes call %d, and %d are counted", w.name(a.Key), l.calls, s.Spent[a.Of].Calls)
	}
	spent := spentIn(s).Plus(s.Directive.Spent)
	spent.Calls -= l.needs.Calls
	if over := left(s, spent, l.needs); over != (opt.SpendLimit{}) {
		w.fail("budget", "%s begins, and %s was used", w.name(a.Key), over.Text(spent))
	}
}

// asksWithin: people are asked only as often as the budget has it.
func asksWithin(w *world, r *run, e opt.Event) {
	h, ok := r.m.(planHost)
	if ok && e.Gate != nil {
		asksOnce(w, &h.p.State)
	}
	if !ok || e.Gate == nil || e.Gate.Budget || e.From == e.To {
		return
	}
	if h.p.State.Rules >= 18 && (e.Usage == nil || e.Usage.Questions != 1) {
		w.fail("budget", "%s opens, and is not counted", w.name(e.Gate.ID))
	}
	asksCounted(w, h, e)
	if e.Gate.Kind == opt.Credential {
		return
	}
	spent := spentIn(&h.p.State).Plus(h.p.State.Directive.Spent)
	spent.Questions--
	if over := left(&h.p.State, spent, opt.Usage{Questions: 1}); over != (opt.SpendLimit{}) {
		w.fail("budget", "%s opens, and %s was used", w.name(e.Gate.ID), over.Text(spent))
	}
}

// asksCounted: the gate of a human task opens when quotas of questions have room, if there are any.
func asksCounted(w *world, h planHost, e opt.Event) {
	s := &h.p.State
	t := s.Plan.Task(e.TaskID)
	if t == nil || t.Ask == nil || s.Rules < 27 || !s.Plan.Limits.CountsQuestions || w.facts.resets[s.Plan.ID]+w.facts.resets[s.Plan.ObjectiveID] > 0 {
		return
	}
	if !slices.ContainsFunc(w.facts.looked[e.TaskID], func(q opt.StandingQuestion) bool { return q.Counts && q.Gate.ID == e.Gate.ID }) {
		w.fail("quotas", "%s opens, and no one has looked whether there is room", w.name(e.Gate.ID))
	}
}

// knowsUse: when nothing is under way, a plan whose budget counts it knows what all others have used.
func knowsUse(w *world, s *machine.ObjectiveState, own *machine.PlanState) {
	if own.Rules < 18 || own.Request == nil || opt.BudgetOf(*own.Request).Under(own.Plan.Budget) == (opt.Budget{}) || !own.Plan.Started || w.facts.resets[s.Objective.ID] > 0 {
		return
	}
	want := s.Used
	for _, p := range s.Objective.Plans {
		other := w.open(p.ID)
		switch {
		case w.facts.resets[p.ID] > 0:
			return
		case p.ID == own.Plan.ID:
		case other != nil && !p.Over():
			want = want.Plus(spentIn(&other.m.(planHost).p.State))
		default:
			want = want.Plus(p.Report.Spent)
		}
	}
	if own.Directive.Spent != want {
		w.fail("budget", "%s knows that others have used %+v, and they have used %+v", w.name(own.Plan.ID), own.Directive.Spent, want)
	}
}
