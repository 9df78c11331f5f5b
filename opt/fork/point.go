// Package fork makes new objectives from a point in the work on another one.
//
// A [Point] is an objective as it was after one of its events: the sum of these. [Point.Fork] makes
// the opening of another objective from it, with the same plans or with changed ones. A task whose
// inputs have the digest of those of a finished task is taken over with its artifacts, and never runs.
// Decisions of people are not: the gate asks again, unless its playbook has the fork keep the decision.
package fork

import (
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Point is an objective after one of its events, with its plans and their tasks.
type Point struct {
	Objective opt.Objective
	Request   *a2a.Message   // that began the work; nil for none
	Given     []opt.PlanSpec // plans that came with it and were not added yet
	Notes     []opt.Letter   // to the root task

	decided decisions            // also those of later
	ended   map[string]*opt.Task // by the ids of A2A tasks: those with an end that was recorded later
}

// At returns the point after the first n events of an objective, in the order of the journal.
func At(events []opt.Event, n int) *Point {
	s, later := sum(events[:n]), sum(events[:n])
	s.ended = map[string]*opt.Task{}
	s.decided = decisions{of: map[string][]opt.Original{}, gates: map[string]opt.Gate{}, votes: map[string][]opt.Decision{}}
	for i, e := range events {
		s.decided.add(e, i >= n)
	}
	for _, e := range events[n:] {
		later.add(e)
		if p := later.Objective.Plan(e.PlanID); p != nil && e.Kind == opt.TaskMoved && opt.TaskState(e.To).Ended() {
			if t := p.Task(e.TaskID); t != nil {
				s.ended[e.TaskID] = new(*t)
			}
		}
	}
	return s
}

func sum(events []opt.Event) *Point {
	s := &Point{}
	for _, e := range events {
		s.add(e)
	}
	return s
}

// add adds an event. Later ones change nothing in it.
func (s *Point) add(e opt.Event) {
	o := &s.Objective
	if e.Head != nil {
		o.Shapers = e.Head.Shapers
	}
	p := o.Plan(e.PlanID)
	switch {
	case e.Kind == opt.ObjectiveOpened:
		*o, s.Request, s.Given = *e.Objective, e.Message, e.Given
	case e.Kind == opt.SourceRewound && e.Objective != nil:
		s.setBack(e)
	case e.Kind == opt.PlanAdded:
		s.addPlan(e)
	case p != nil:
		addTo(p, e)
	case e.Kind == opt.ObjectiveChanged && e.Text != nil:
		o.Name, o.Description, o.Metadata = e.Text.Name, e.Text.Description, e.Text.Metadata
	case e.Kind == opt.ObjectiveRetried:
		s.Notes = nil
	case e.Kind == opt.MessageAdded && e.Verdict == opt.Noted:
		s.addNote(e)
	}
}

func (s *Point) addNote(e opt.Event) {
	if e.Reason == opt.Begins {
		s.Request = e.Message
		return
	}
	note := opt.Letter{Message: *e.Message, Principal: e.Principal, Key: e.Key}
	if !slices.ContainsFunc(s.Notes, func(had opt.Letter) bool { return had.ID() == note.ID() }) { // else it came again after a reset
		s.Notes = append(s.Notes, note)
	}
}

func (s *Point) addPlan(e opt.Event) {
	for _, p := range s.Objective.Plans {
		if slices.Contains(e.Replaces, p.ID) {
			p.Status, p.Reason = opt.PlanSkipped, opt.Replanned
		}
	}
	s.Given = nil
	s.Objective.Plans = append(s.Objective.Plans, copied(e.Plan))
}

// setBack sets the objective to the state of its workflow, which was reset. Plans without tasks there
// have their own workflows, and stay as they are.
func (s *Point) setBack(e opt.Event) {
	o := &s.Objective
	if e.Text != nil {
		o.Name, o.Description, o.Metadata = e.Text.Name, e.Text.Description, e.Text.Metadata
	}
	var plans []*opt.Plan
	for _, p := range e.Objective.Plans {
		if known := o.Plan(p.ID); known != nil && p.Tasks == nil {
			p = known
		}
		plans = append(plans, copied(p))
	}
	o.Plans = plans
}

// addTo adds an event about a plan. One that does not follow on its tasks is about an attempt before
// a reset.
func addTo(p *opt.Plan, e opt.Event) {
	if h := e.PlanHead; h != nil {
		p.Status, p.Reason = h.Status, h.Reason
	}
	switch e.Kind {
	case opt.PlanMoved:
	case opt.SourceRewound:
		p.Tasks = copied(e.Plan).Tasks
	case opt.PlanChanged:
		p.Name, p.Description, p.Metadata, p.Dependencies = e.Text.Name, e.Text.Description, e.Text.Metadata, e.Text.Dependencies
	case opt.PlanRetried, opt.TasksAdded, opt.TasksReopened:
		for _, t := range copied(&opt.Plan{Tasks: e.Tasks}).Tasks {
			if t.Index == len(p.Tasks) {
				p.Tasks = append(p.Tasks, nil)
			}
			p.Tasks[t.Index] = t
		}
	default:
		_ = p.Apply(e)
	}
}

// copied returns a copy of a plan whose tasks can be changed.
func copied(p *opt.Plan) *opt.Plan {
	out := *p
	out.Tasks = make([]*opt.Task, len(p.Tasks))
	for i, t := range p.Tasks {
		out.Tasks[i] = new(*t)
	}
	return &out
}
