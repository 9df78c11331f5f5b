package machine

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// spending is the budget of a plan and the use of it. It changes nothing.
type spending struct{ state *PlanState }

// budget returns the limits on all work on the objective, as people have raised them.
func (s spending) budget() (b opt.Budget) {
	if s.state.Rules < rulesBudget {
		return b
	}
	return budgetOf(s.state.Request, &s.state.Plan, s.state.Raised)
}

// budgetOf returns the limits on the work of a request, in a plan of it.
func budgetOf(request *a2a.Message, p *opt.Plan, raised opt.SpendLimit) (b opt.Budget) {
	if request != nil {
		b = opt.BudgetOf(*request)
	}
	b = b.Under(p.Budget)
	b.SpendLimit = raised.Or(b.SpendLimit).Within(b.Most)
	return b
}

// shown returns the limits for readers, nil for none.
func (s spending) shown() *opt.Budgets {
	limit := s.budget().SpendLimit
	if s.state.Rules < rulesLimits || limit == (opt.SpendLimit{}) {
		return nil
	}
	return &opt.Budgets{Objective: limit}
}

// own returns the usage of the plan.
func (s spending) own() (sum opt.Usage) {
	for _, t := range s.state.Plan.Tasks {
		sum = sum.Plus(s.state.Spent[t.ID])
	}
	return sum
}

// all returns what all work on the objective has used, as far as the plan knows.
func (s spending) all(at a2a.Time) opt.Usage {
	sum := s.state.Directive.Spent.Plus(s.own())
	if since := s.state.Directive.Since; since > 0 {
		sum.Seconds = (at.Millis() - since) / 1000
	}
	return sum
}

// counted returns what counts in the budget: also what other plans have reserved.
func (s spending) counted(at a2a.Time) opt.Usage { return s.all(at).Plus(s.state.Directive.Reserved) }

// mayAsk reports whether the plan may ask for a raise. Without an objective no one else does.
func (s spending) mayAsk() bool { return !s.state.Directive.Wait || s.state.Alone }

// short returns what the held steps need, beside those that are about to begin; nothing where no other plan may leave
// them more.
func (s spending) short() (needs opt.Usage) {
	if d := s.state.Directive; !d.Wait && d.Reserved == (opt.Usage{}) || !s.state.has(func(w *Work) bool { return w.Held }) {
		return needs
	}
	for _, t := range s.state.Plan.Tasks {
		switch w := s.state.Work[t.ID]; {
		case w == nil:
		case w.Held:
			needs = needs.Plus(w.needs())
		case w.Waiting:
			needs = needs.Plus(w.counted())
		}
	}
	return needs
}

// gate returns the gate at which those who have set limits decide whether these are raised, so that there is room
// for the task and what others need.
func (s spending) gate(t *opt.Task, over opt.SpendLimit, spent, others opt.Usage, at a2a.Time) opt.Gate {
	b := s.budget()
	raised := over.RaisedTo(over.Next(spent.Plus(others)).Within(b.Most))
	gate := (&opt.Gate{
		Kind: opt.Approval, Title: "Raise the budget?", Budget: true,
		Description: "The budget of the request is spent: " + over.Text(spent) + ". Accept to raise it as shown, edit the numbers, or reject to stop what waits for it.",
		Actions:     []opt.Action{opt.Accept, opt.Reject, opt.EditAccept},
		Object:      []a2a.Part{a2a.DataPart(raised)},
	}).Opened(at, s.state.Plan.Limits.GateTimeout)
	if most := b.Most.Text(spent); most != "" {
		gate.Description += " The operator allows no more than: " + most + "."
	}
	if s.state.Request != nil {
		if authors := opt.AuthorsOf(*s.state.Request); len(authors) > 0 {
			gate.Responders = &opt.Responders{Principals: authors}
		}
	}
	gate.ID, gate.TaskID, gate.ObjectDigest = opt.BudgetGateID(s.state.Epoch, t.A2AID(), s.state.N+1), t.A2AID(), gate.Digest()
	return gate
}
