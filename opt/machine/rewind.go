package machine

import (
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// rewind begins another epoch of the source: with an event that holds the state of the
// objective before the pending events, and those. Directives and requests get numbers above
// all that an earlier run may have sent, and plans begin an epoch as well.
func (s *ObjectiveState) rewind(now a2a.Time, in Rewound) []opt.Event {
	s.Epoch = max(s.Epoch, in.Epoch, 1) + 1
	o := s.Objective
	o.Plans = nil
	for _, p := range s.Objective.Plans {
		shown := *p
		shown.Report = nil
		if l := s.link(p.ID); l != nil && l.Start != nil { // it has no workflow that shows its tasks
			shown.Tasks = copied(l.Start.Tasks)
		}
		o.Plans = append(o.Plans, &shown)
	}
	undo(&o, in.Pending)
	e := opt.Event{N: in.Done, Kind: opt.SourceRewound, At: now, Epoch: s.Epoch, Objective: &o, Head: o.Head(), Text: o.Text()}
	if g := s.Objective.Gate(); g != nil && g.ID == o.RootGate {
		e.Gate = g
	}
	for _, l := range s.Links {
		if !l.RetryAt.IsZero() { // a former run of this objective has begun it
			l.RetryAt = a2a.Time{}
			s.adopt(l, now)
		}
		if p := s.Objective.Plan(l.PlanID); !p.Over() {
			l.Unheard = true
			l.renumber(now)
			d := &l.Directive
			d.Epoch, d.Echo, l.Changed = s.Epoch, d.N, s.N
		}
	}
	if s.Loading { // it reads a state from before this
		s.Loads++
		s.Ended = in.Done
	}
	t := &s.Turn
	if s.Rules >= rulesAsks {
		t.share() // an earlier run may have heard that others have come: it is alone if its context does not run
	}
	if t.N = above(t.N, now); t.Shared {
		t.After = s.N
		s.loseTurn()
	} else {
		t.Delivered = t.N // requests that follow are above all that an earlier run may have sent
	}
	return append([]opt.Event{e}, in.Pending...)
}

// undo sets o back to the state before events.
func undo(o *opt.Objective, events []opt.Event) {
	for _, e := range slices.Backward(events) {
		switch e.Kind {
		case opt.ObjectiveMoved, opt.ObjectiveRetried:
			o.Status, o.Reason = opt.ObjectiveStatus(e.From), ""
			if e.Kind == opt.ObjectiveRetried {
				o.Attempt = e.Attempt - 1
			}
		case opt.PlanAdded:
			o.Plans = slices.DeleteFunc(o.Plans, func(p *opt.Plan) bool { return p.ID == e.PlanID })
		case opt.TaskMoved:
			o.Root, o.RootGate = opt.TaskState(e.From), ""
		}
	}
}

// rewind begins another epoch of the source: with an event that holds the state of the
// plan before the pending events, and those. Its decisions from then on are a chain of their
// own. The objective gets a report with a number above all that an earlier run may have sent.
func (s *PlanState) rewind(now a2a.Time, in Rewound) []opt.Event {
	s.Epoch, s.Rewind, s.Chain = max(s.Epoch, in.Epoch, 1)+1, false, opt.Chain{}
	p := s.Plan
	p.Tasks, p.Report = copied(p.Tasks), nil
	pending := slices.Clone(in.Pending)
	for i, e := range pending {
		if e.Decision != nil {
			d := *e.Decision
			d.Epoch = s.Epoch
			pending[i].Decision = s.Chain.Add(d)
		}
	}
	for _, e := range slices.Backward(pending) {
		switch e.Kind {
		case opt.PlanMoved:
			p.Status, p.Reason = opt.PlanStatus(e.From), ""
		case opt.TasksAdded:
			p.Tasks = slices.DeleteFunc(p.Tasks, func(t *opt.Task) bool {
				return slices.ContainsFunc(e.Tasks, func(added *opt.Task) bool { return added.ID == t.ID })
			})
		case opt.TaskMoved:
			if t := p.Task(e.TaskID); t != nil {
				t.State, t.Reason, t.Gate = opt.TaskState(e.From), "", nil
				switch {
				case e.Passes():
					t.Gates--
				case e.Gate == nil, e.Gate.Budget && e.From != e.To:
				case e.From == e.To: // it was open
					t.Gate = e.Gate
				default:
					t.Gates-- // it opens again
				}
			}
		}
	}
	e := opt.Event{N: in.Done, Kind: opt.SourceRewound, At: now, PlanID: p.ID, RootID: s.RootID, Epoch: s.Epoch, Plan: &p, PlanHead: p.Head()}
	s.Report.N, s.Known.Directive = above(s.Report.N, now)-1, -1 // less than any echo: a report follows
	s.Alone = s.Alone && s.Rules < rulesPermits                  // that says whether its objective is there
	return append([]opt.Event{e}, pending...)
}

// copied returns copies of tasks that do not change with them.
func copied(tasks []*opt.Task) (out []*opt.Task) {
	for _, t := range tasks {
		c := *t
		c.Artifacts = slices.Clone(t.Artifacts)
		out = append(out, &c)
	}
	return out
}
