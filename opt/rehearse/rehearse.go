package rehearse

import (
	"math/rand/v2"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Planner makes the plans of a request, as that of a server does.
type Planner func(o opt.Objective, request *a2a.Message) Planned

// Planned is what a planner has made. An empty Failure means success.
type Planned struct {
	Plans                    []opt.PlanSpec
	Planner, Reason, Failure string
}

// Run rehearses the objective that a message begins. The same arguments have the same report. Its
// error says that the work does not end, or is that of Stopped.
func Run(plan Planner, m a2a.Message, a Assumptions) (*Report, error) {
	a = a.withDefaults()
	a.past = together(a.Past)
	w, err := once(plan, m, a, func() float64 { return 0.5 })
	if err != nil {
		return nil, err
	}
	r, steps := reportOf(w), w.steps
	var took []time.Duration
	var spent []opt.Money
	for i := range a.samples() {
		if a.Steps > 0 && steps >= a.Steps {
			break
		}
		if n := len(a.Past); n > 0 { // a whole one: in a slow run all tasks are slow
			a.past = a.Past[i%n]
		}
		w, err := once(plan, m, a, rand.New(rand.NewPCG(1, uint64(i))).Float64)
		if err != nil {
			return nil, err
		}
		one := reportOf(w)
		steps += w.steps
		took, spent = append(took, one.Took.Likely), append(spent, one.Cost.Likely)
		r.also(one.Warnings)
	}
	r.Took, r.Cost = rangeOf(took, r.Took.Likely, len(a.Past)), rangeOf(spent, r.Cost.Likely, len(a.Past))
	r.rate(1 + len(took))
	return r, nil
}

// RunFrom is like [Run], with the times and costs of past runs, which past reads by the planner of the plans.
func RunFrom(plan Planner, m a2a.Message, a Assumptions, past func(planner string) ([]PastRun, error)) (*Report, error) {
	r, err := Run(plan, m, a)
	if err != nil {
		return nil, err
	}
	runs, err := past(r.Planner)
	if a.Past = r.PastOf(runs); err != nil || len(a.Past) == 0 {
		return r, err
	}
	return Run(plan, m, a)
}

// once rehearses an objective with draws.
func once(plan Planner, m a2a.Message, a Assumptions, draw func() float64) (*world, error) {
	w := &world{
		Assumptions: a, plan: plan, draw: draw, now: a2a.At(a.At),
		recorded: map[string]int64{}, tasks: map[string]*opt.Task{}, gates: map[string]opt.Gate{}, asked: map[string]bool{}, overran: map[string]bool{},
	}
	id := opt.DerivedObjectiveID(a.Tenant, a.Requester, m.MessageID)
	m.TaskID, m.ContextID = id, id
	m.Metadata = m.Metadata.WithIf(a.Budget != opt.Budget{}, a2a.ExtensionBudget, a.Budget)
	o := opt.Objective{
		ID: id, ContextID: id, Tenant: a.Tenant, Principal: a.Requester, Name: nameOf(m), Status: opt.ObjectiveSubmitted,
		CreatedAt: w.now, UpdatedAt: w.now, Revision: 1, Attempt: 1, Root: opt.TaskSubmitted, Limits: a.Limits,
	}
	made := plan(o, &m) // as a server does before an objective begins
	o.Metadata = o.Metadata.WithIf(made.Planner != "", opt.KeyPlanner, made.Planner).WithIf(made.Reason != "", opt.KeyReason, made.Reason)
	err := w.play(opt.Opening{Objective: o, Message: &m, Plans: made.Plans})
	if len(w.runs) == 0 { // the end was known
		w.now = a2a.At(w.now.Time().Add(w.past[""].Takes.At(draw())))
	}
	return w, err
}

// nameOf names an objective by its message.
func nameOf(m a2a.Message) string {
	if name, ok := m.Metadata.String(opt.KeySuggestedName); ok && name != "" {
		return name
	}
	return "Rehearsal"
}

// samples returns how many random rehearsals there are, as many with each past run: one, or none without such runs, if
// all other figures are certain.
func (a Assumptions) samples() int {
	runs := len(a.Past)
	if !varies(a) {
		return runs
	}
	each := max(1, runs)
	return (a.Samples + each - 1) / each * each
}

// varies reports whether figures of a are uncertain beside those of past runs.
func varies(a Assumptions) bool {
	for _, works := range []map[string]Work{a.Tasks, a.Executors} {
		for _, w := range works {
			if len(w.Takes) > 1 || len(w.Tokens) > 1 || len(w.Cost) > 1 {
				return true
			}
		}
	}
	return slices.ContainsFunc(a.People, func(p Person) bool { return len(p.After) > 1 })
}
