package rehearse

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"longhaul/opt"
	"longhaul/opt/access"
)

// A WarningKind says what may go wrong.
type WarningKind string

// The kinds of warning.
const (
	Unanswerable WarningKind = "unanswerable" // a gate at which all who may answer are not enough
	Unanswered   WarningKind = "unanswered"   // a gate expires before an answer comes, or none ever does
	TimedOut     WarningKind = "timed-out"    // an attempt at a task takes longer than it may
	Late         WarningKind = "late"         // the end comes after the deadline
	OverBudget   WarningKind = "over-budget"  // more is spent than the budget of the message
	OverQuota    WarningKind = "over-quota"   // a quota of the tenant is reached
)

// A Warning is what goes wrong in the likely course, or in some random ones.
type Warning struct {
	Kind  WarningKind   `json:"kind"`
	Of    string        `json:"of,omitempty"` // the task or the quota
	At    time.Duration `json:"at"`           // in the first rehearsal with it
	Text  string        `json:"text"`
	Share float64       `json:"share"` // of the rehearsals: 1 for all

	times int
}

// also adds the warnings of another rehearsal.
func (r *Report) also(more []Warning) {
	for _, m := range more {
		i := slices.IndexFunc(r.Warnings, func(w Warning) bool { return w.Kind == m.Kind && w.Of == m.Of })
		if i < 0 {
			r.Warnings = append(r.Warnings, m)
			continue
		}
		r.Warnings[i].times++
	}
}

// rate sets the shares of the warnings in n rehearsals.
func (r *Report) rate(n int) {
	for i := range r.Warnings {
		w := &r.Warnings[i]
		w.Share = float64(w.times) / float64(n)
	}
}

// warnings returns the warnings of a rehearsal.
func (r *reader) warnings() []Warning {
	w, out := r.w, []Warning{}
	add := func(kind WarningKind, of string, at time.Duration, text string) {
		if !slices.ContainsFunc(out, func(x Warning) bool { return x.Kind == kind && x.Of == of }) {
			out = append(out, Warning{Kind: kind, Of: of, At: at, Text: text, times: 1})
		}
	}
	for _, g := range r.report.Gates {
		switch needs := r.lacks(g); {
		case g.ID == "" || g.By != "" && g.By != opt.ByTimer:
		case needs != "":
			add(Unanswerable, g.Task, g.Asked[0].At, needs)
		case g.By == opt.ByTimer:
			add(Unanswered, g.Task, g.Closed, "No answer comes before the question expires.")
		default:
			add(Unanswered, g.Task, g.Asked[0].At, "No answer comes.")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.overran)) {
		t, _ := r.report.Task(w.tasks[id].Name)
		add(TimedOut, t.Name, t.Began, "An attempt takes longer than the task may.")
	}
	if took := r.report.Took.Likely; w.Within > 0 && (took > w.Within || !r.report.Status.Ended()) {
		add(Late, "", took, fmt.Sprintf("It does not end within %s.", opt.Span(w.Within)))
	}
	r.spending(add)
	r.crowding(add)
	r.using(add)
	return out
}

// lacks returns why the people who may answer at a gate cannot close it, "" if they can.
func (r *reader) lacks(g Gate) string {
	var names []string
	for _, p := range r.w.crew(g.gate) {
		if r.w.may(p, g.gate) {
			names = append(names, r.w.name(p.Name, g.gate.Responders))
		}
	}
	need := 1
	if g.gate.Responders.Several() {
		need = g.gate.Responders.Accepts
	}
	switch {
	case len(names) >= need:
		return ""
	case len(names) == 0:
		return "No one may answer."
	}
	return fmt.Sprintf("%d have to answer, and only %s may.", need, strings.Join(names, ", "))
}

// spending adds a warning when the budget of the message, of the playbook or of one of its plans is spent.
func (r *reader) spending(add func(WarningKind, string, time.Duration, string)) {
	w := r.w
	all, spent, own := w.Budget, opt.Usage{}, map[string]opt.Usage{} // by plan
	for _, p := range r.objective.Plans {
		all = all.Under(p.Budget)
	}
	ends := func(b opt.Budget, before, after opt.Usage) bool {
		_, had := b.Left(before)
		_, has := b.Left(after)
		return had && !has
	}
	for _, e := range w.events {
		if e.Kind != opt.UsageAdded {
			continue
		}
		ref, _ := opt.ParseID(e.TaskID)
		before := own[e.PlanID]
		spent, own[e.PlanID] = spent.Plus(*e.Usage), before.Plus(*e.Usage)
		if ends(all, spent.Minus(*e.Usage), spent) {
			add(OverBudget, w.tasks[ref.TaskID].Name, e.At.Time().Sub(w.At), "The budget is spent with it.")
		}
		if p := r.objective.Plan(e.PlanID); p != nil && ends(opt.Budget{}.Under(p.Own), before, own[p.ID]) {
			add(OverBudget, w.tasks[ref.TaskID].Name, e.At.Time().Sub(w.At), "The budget of its plan is spent with it.")
		}
	}
}

// using adds a warning for each quota that the tenant, or the context, has used up with this objective.
func (r *reader) using(add func(WarningKind, string, time.Duration, string)) {
	w := r.w
	list := slices.Clone(w.Used)
	for _, s := range w.Quotas.Spent(w.Tenant) {
		if !slices.ContainsFunc(list, func(u access.Use) bool { return u.Quota == s.Quota }) {
			list = append(list, access.Use{Spending: s, Limit: w.Quotas.Limit(w.Tenant, s.Quota)})
		}
	}
	for _, u := range list {
		begin, _ := u.Begins(w.At)
		for _, e := range w.events {
			if u.Full() || e.Kind != opt.UsageAdded && (e.Usage == nil || e.Gate == nil) { // the end has the sum
				continue
			}
			if next, _ := u.Begins(e.At.Time()); next != begin {
				begin, u.Used = next, 0
			}
			_, u.Until = u.Begins(e.At.Time())
			if u.Used += u.Amount(*e.Usage); u.Full() {
				add(OverQuota, string(u.Quota), e.At.Time().Sub(w.At), fmt.Sprintf("%s of %s used: what comes then waits %s.", u.Text(u.Used), u.Text(u.Limit), u.End()))
			}
		}
	}
}

// crowding adds warnings when quotas of the tenant are reached by this objective alone.
func (r *reader) crowding(add func(WarningKind, string, time.Duration, string)) {
	w := r.w
	running, waiting := map[string]bool{}, map[string]bool{}
	over := func(quota access.Quota, of map[string]bool, e opt.Event) {
		if limit := w.Quotas.Limit(w.Tenant, quota); limit > 0 && int64(len(of)) > limit {
			add(OverQuota, string(quota), e.At.Time().Sub(w.At), fmt.Sprintf("%d at a time, of %d.", len(of), limit))
		}
	}
	for _, e := range w.events {
		if e.Kind != opt.TaskMoved || e.PlanID == "" {
			continue
		}
		to := opt.TaskState(e.To)
		delete(running, e.TaskID)
		delete(waiting, e.TaskID)
		switch {
		case e.Gate != nil:
			waiting[e.TaskID] = true
		case to == opt.TaskWorking && e.Round > 0: // others do no work
			running[e.TaskID] = true
		}
		over(access.OpenGates, waiting, e)
		over(access.RunningTasks, running, e)
	}
}
