package sim

import (
	"slices"

	"longhaul/opt"
)

// An openGate is an open gate as it was opened, and how many of its steps were
// taken.
type openGate struct {
	opt.Gate
	steps int
}

// stepsInOrder: each step of a gate is taken at most once, in order, never before
// its time, and never after the gate has closed.
func (w checks) stepsInOrder(r *run, e opt.Event) {
	if _, ok := r.m.(planHost); !ok || e.Kind != opt.TaskMoved {
		return
	}
	g := w.facts.gates[e.TaskID]
	if e.Step != "" {
		w.stepIsDue(g, e)
	}
	switch {
	case e.Gate == nil:
		delete(w.facts.gates, e.TaskID)
	case g == nil || g.ID != e.Gate.ID:
		w.facts.gates[e.TaskID] = &openGate{Gate: *e.Gate}
		w.hasSteps(e.Gate, 0)
	default:
		w.hasSteps(e.Gate, g.steps)
	}
}

// stepIsDue checks that g takes the step in e, and notes that.
func (w checks) stepIsDue(g *openGate, e opt.Event) {
	switch {
	case g == nil:
		w.fail("steps", "%s takes the step %s at no gate", w.name(e.TaskID), e.Step)
	case g.steps == len(g.Ladder):
		w.fail("steps", "%s takes a step after its last one", w.name(g.ID))
	case g.Ladder[g.steps].Kind != e.Step:
		w.fail("steps", "%s takes the step %s, not %s", w.name(g.ID), e.Step, g.Ladder[g.steps].Kind)
	case e.At.Millis() < g.RequestedAt.Millis()+g.Ladder[g.steps].After*1000:
		w.fail("steps", "%s takes step %d too early", w.name(g.ID), g.steps+1)
	case (e.Step == opt.Expire) != (e.Gate == nil):
		w.fail("steps", "%s is open %v after the step %s", w.name(g.ID), e.Gate != nil, e.Step)
	}
	if s := g.Ladder[g.steps]; s.Kind == opt.Reassign { // what others have decided does not count any more
		w.facts.accepted[g.ID] = slices.DeleteFunc(w.facts.accepted[g.ID], func(by string) bool { return !slices.Contains(s.To.Principals, by) })
	}
	g.steps++
}

// hasSteps checks that a gate shows the steps that it has taken.
func (w checks) hasSteps(g *opt.Gate, n int) {
	if g.Taken != n {
		w.fail("steps", "%s shows %d steps, and has taken %d", w.name(g.ID), g.Taken, n)
	}
}

// may reports whether a principal may decide at g now.
func (g *openGate) may(by string) bool {
	who := opt.Responders{}
	if g.Responders != nil {
		who = *g.Responders
	}
	everyone := len(who.Principals)+len(who.Groups) == 0
	for _, s := range g.Ladder[:g.steps] {
		switch {
		case s.Kind == opt.Reassign:
			who.Principals, everyone = s.To.Principals, false
		case s.Kind == opt.Escalate:
			who.Principals = slices.Concat(who.Principals, s.To.Principals)
		}
	}
	return (everyone || slices.Contains(who.Principals, by)) && (!who.NotRequester || by != principals[0])
}
