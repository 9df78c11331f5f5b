package machine

import (
	"cmp"
	"slices"

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

// own returns the budget of the plan alone, as people have raised it; ok is false if there is none.
func (s spending) own() (b opt.Budget, ok bool) {
	if s.state.Plan.Own == nil || s.state.Rules < rulesShares {
		return b, false
	}
	b = *s.state.Plan.Own
	b.SpendLimit = s.state.RaisedOwn.Or(b.SpendLimit).Within(b.Most)
	return b, true
}

// shown returns the limits for readers, nil for none.
func (s spending) shown() *opt.Budgets {
	own, _ := s.own()
	limits := opt.Budgets{Objective: s.budget().SpendLimit, Plan: own.SpendLimit}
	if s.state.Rules < rulesLimits || limits == (opt.Budgets{}) {
		return nil
	}
	return &limits
}

// What a purse limits, for people.
const (
	ofRequest = "request"
	ofPlan    = "plan"
)

// shownWith is shown for work whose executor has budgets; nil for none.
func (s spending) shownWith(of *opt.Budgets) *opt.Budgets {
	shown := s.shown()
	if of == nil || shown == nil {
		return cmp.Or(of, shown)
	}
	all := *of
	all.Plan = shown.Plan
	return &all
}

// A purse is a budget that limits a plan, with what counts in it.
type purse struct {
	opt.Budget
	of      string // what it limits, for people
	used    opt.Usage
	counted opt.Usage // that, and what other plans have reserved
	may     bool      // the plan may ask for a raise
	others  bool      // there are others: some of the steps that are held may fit in this one
}

// purses lists the budgets of the plan: of all work on the objective, and its own.
func (s spending) purses(at a2a.Time) []purse {
	own, ok := s.own()
	list := []purse{{s.budget(), ofRequest, s.all(at), s.counted(at), s.mayAsk(), ok}}
	if ok {
		used := s.used().Plus(s.state.Before)
		if !s.state.Since.IsZero() {
			used.Seconds = (at.Millis() - s.state.Since.Millis()) / 1000
		}
		list = append(list, purse{own, ofPlan, used, used, true, true})
	}
	return list
}

// raised returns where a raise of the budget at a gate is kept, and that budget.
func (s spending) raised(g *opt.Gate) (*opt.SpendLimit, opt.Budget) {
	if own, ok := s.own(); ok && g.OfPlan {
		return &s.state.RaisedOwn, own
	}
	return &s.state.Raised, s.budget()
}

// fits reports whether the budgets have room for the needs of a step beside others that are about to begin.
func (s spending) fits(needs, others opt.Usage, at a2a.Time) bool {
	return !slices.ContainsFunc(s.purses(at), func(p purse) bool { return p.Over(p.counted.Plus(others), needs) != opt.SpendLimit{} })
}

// holds reports whether a step that is held does not fit in the budget.
func (p purse) holds(needs, others opt.Usage) bool {
	return !p.others || p.Over(p.counted.Plus(others), needs) != opt.SpendLimit{}
}

// final returns the limits that no one raises.
func (p purse) final() opt.SpendLimit {
	if p.OnExceeded == opt.FailBudget {
		return p.SpendLimit
	}
	return p.Most
}

// forExecutors returns the limits with which executors compare what counts for the objective, where those of the plan
// alone may be lower; nil for none.
func (s spending) forExecutors(at a2a.Time) *opt.Budget {
	list := s.purses(at)
	b := list[0].Budget
	for _, own := range list[1:] {
		b.SpendLimit = b.Within(own.After(list[0].counted.Minus(own.used)))
	}
	if b == (opt.Budget{}) {
		return nil
	}
	return &b
}

// used returns the usage of the plan in this attempt.
func (s spending) used() (sum opt.Usage) {
	for _, t := range s.state.Plan.Tasks {
		sum = sum.Plus(s.state.Spent[t.ID])
	}
	return sum
}

// all returns what all work on the objective has used, as far as the plan knows.
func (s spending) all(at a2a.Time) opt.Usage {
	sum := s.state.Directive.Spent.Plus(s.used())
	if since := s.state.Directive.Since; since > 0 {
		sum.Seconds = (at.Millis() - since) / 1000
	}
	return sum
}

// counted returns what counts in the budget: also what other plans have reserved.
func (s spending) counted(at a2a.Time) opt.Usage { return s.all(at).Plus(s.state.Directive.Reserved) }

// mayAsk reports whether the plan may ask for a raise. Without an objective no one else does.
func (s spending) mayAsk() bool { return !s.state.Directive.Wait || s.state.Alone }

// An excess is why steps are held: the limits of a budget, the use of it, and the needs of other steps beside one.
type excess struct {
	purse
	over          opt.SpendLimit
	spent, others opt.Usage
}

// gate returns the gate at which those who have set limits decide whether these are raised, so that there is room
// for the task and what others need.
func (s spending) gate(t *opt.Task, e excess, at a2a.Time) opt.Gate {
	over, spent := e.over, e.spent
	raised := over.RaisedTo(over.Next(spent.Plus(e.others)).Within(e.Most))
	gate := (&opt.Gate{
		Kind: opt.Approval, Title: "Raise the budget?", Budget: true, OfPlan: e.of == ofPlan,
		Description: "The budget of the " + e.of + " is spent: " + over.Text(spent) + ". Accept to raise it as shown, edit the numbers, or reject to stop what waits for it.",
		Actions:     []opt.Action{opt.Accept, opt.Reject, opt.EditAccept},
		Object:      []a2a.Part{a2a.DataPart(raised)},
	}).Opened(at, s.state.Plan.Limits.GateTimeout)
	if most := e.Most.Text(spent); most != "" {
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
