package sim

import "longhaul/opt"

// checkShown: events agree with what clients were shown: every move begins at the
// shown status, and an ended status stays until a new attempt (invariant 6).
func checkShown(w *world, r *row, e opt.Event) {
	o := &r.objective
	p := o.Plan(e.PlanID)
	was, fits := "", true
	switch {
	case p != nil && w.facts.setBack[p.ID]:
	case e.Kind == opt.ObjectiveMoved:
		was, fits = string(o.Status), continues(e, string(o.Status), o.Status.Ended())
	case e.Kind == opt.ObjectiveRetried:
		was, fits = string(o.Status), o.Status.Ended()
	case e.Kind == opt.PlanMoved && p != nil:
		was, fits = string(p.Status), w.facts.lost[move(e)] || continues(e, string(p.Status), p.Status.Ended())
	case e.Kind == opt.TaskMoved && p == nil:
		root := w.journal.roots[e.TaskID]
		was, fits = string(root), e.From == string(root) && !root.Ended()
	case e.Kind == opt.TaskMoved:
		t := p.Task(e.TaskID)
		fits = t != nil && e.From == string(t.State) && !t.State.Ended()
	}
	if !fits {
		w.fail("shown", "%s of %s goes from %q to %q, but is shown as %q", e.Kind, w.name(o.ID+" "+e.PlanID+" "+e.TaskID), e.From, e.To, was)
	}
}

// continues reports whether a move begins at a status, and stays there if that is an end.
func continues(e opt.Event, status string, ended bool) bool {
	return e.From == status && (!ended || e.To == status)
}

// mayBeRemoved: an objective stays while the retry of a client has its time to arrive.
func mayBeRemoved(w *world, id string) {
	if at, asked := w.facts.asked[id]; asked && w.now <= at+retention {
		w.fail("retention", "%s is removed %d ms after a client has asked to retry it", w.name(id), w.now-at)
	}
}
