package machine

import "longhaul/opt"

// onMissing handles that the workflow of a plan may be gone, or that of the context was.
func onMissing(m *Objective, in Input) {
	switch in := in.(type) {
	case Asked:
		onAsked(&m.State, in)
	case PlanLost:
		seemsLost(m, in)
	case Checked:
		checked(m, in)
	}
}

// seemsLost handles what a reconciler says about a plan: that its workflow is gone. It may have looked
// before that has begun, which is checked now that it has. For a plan that has not begun it counts for nothing.
func seemsLost(m *Objective, in PlanLost) {
	s := &m.State
	l, p := s.attempt(in.PlanID, in.Attempt), s.Objective.Plan(in.PlanID)
	switch {
	case l == nil || !l.Begun:
	case !p.Over() && s.Rules >= rulesCheck:
		l.doubt()
	case !p.Over():
		s.Kept = nil // a retry needs it as it is after this
		m.lost(l)
	case p.Reason != opt.Terminated: // it was reset after its end and ended then: its row gets that end again
		m.movePlan(p, p.Status, opt.Terminated)
	}
}

// checked handles that the workflow of a plan is gone, or not. The check may have been about an earlier run. A plan that
// runs under an objective that had ended before was reset since, and ends as one that finds no objective.
func checked(m *Objective, in Checked) {
	s := &m.State
	for _, l := range s.Links {
		if !l.Doubted || l.check() != in.Key {
			continue
		}
		l.Doubted = false
		switch {
		case !l.Begun || s.Objective.Plan(l.PlanID).Over():
		case in.Gone:
			s.Kept = nil
			m.lost(l)
		case s.Objective.Status.Ended() && s.Rules >= rulesAlone:
			l.endAlone(m.now, s.N)
		}
	}
}
