package sim

import (
	"slices"

	"longhaul/opt"
	"longhaul/opt/fork"
)

// A takenTask is a task of a fork, and the A2A task that has done its work.
type takenTask struct{ name, from string }

// isReplaced notes that plans with other tasks have the ids of those that a fork was opened with: a
// client has asked for them before it began.
func isReplaced(w *world, _ *run, e opt.Event) {
	for _, t := range e.Plan.Tasks {
		if w.facts.forked[t.A2AID()].name != t.Name {
			delete(w.facts.forked, t.A2AID())
		}
	}
}

// A forked is the original of a fork.
type forked struct {
	events []opt.Event
	n      int
	change fork.Change
}

// hasBegun: tasks that a fork does not repeat have begun.
func hasBegun(w *world, events []opt.Event, tasks []string) {
	for _, id := range tasks {
		if !slices.ContainsFunc(events, func(e opt.Event) bool {
			return e.TaskID == id && (e.Kind == opt.TaskMoved && e.To != string(opt.TaskPending) || e.Kind == opt.TaskLinked)
		}) && w.facts.resets[id] == 0 {
			w.fail("forks", "%s has not begun", w.name(id))
		}
	}
}

// takesOver: a fork takes over tasks that were completed, with no person asked, and with all before
// them. It repeats tasks that have begun only if its client asks for that. It notes those taken over.
func takesOver(w *world, opening opt.Opening, of forked) {
	o := opening.Objective
	plans, err := o.NewPlans(opening.Plans, w.at())
	must(err)
	o.Plans = plans
	for i, p := range plans {
		for k, t := range p.Tasks {
			if t.Taken == nil {
				continue
			}
			w.facts.forked[t.A2AID()] = takenTask{t.Name, t.Taken.TaskID}
			spec := opening.Plans[i].Tasks[k]
			if spec.Ask != nil || of.asked(t.Taken.TaskID) || len(of.change.Tasks) > 0 && spec.Name == of.change.Tasks[0].Name {
				w.fail("forks", "%s is taken over from %s, which is not the same", w.name(t.ID), w.name(t.Taken.TaskID))
			}
			if !of.completed(t.Taken.TaskID) {
				w.fail("forks", "%s is taken over from %s, which is not completed", w.name(t.ID), w.name(t.Taken.TaskID))
			}
			followsTaken(w, &o, p, t)
		}
	}
	if !of.change.Repeat {
		of.repeatsNothing(w)
	}
}

// followsTaken: all that comes before a task that is taken over is taken over.
func followsTaken(w *world, o *opt.Objective, p *opt.Plan, t *opt.Task) {
	before := p.Before(t)
	for _, b := range o.Before(p) {
		before = slices.Concat(before, b.Tasks)
	}
	for _, b := range before {
		if b.Taken == nil {
			w.fail("forks", "%s is taken over, and %s before it is not", w.name(t.ID), w.name(b.ID))
		}
	}
}

// asked reports whether a gate has opened at a task of the original.
func (f forked) asked(taskID string) bool {
	return slices.ContainsFunc(f.events, func(e opt.Event) bool { return e.Kind == opt.TaskMoved && e.TaskID == taskID && e.Gate != nil })
}

// completed reports whether a task was completed in the original, or the original has taken it over.
func (f forked) completed(taskID string) bool {
	given := slices.ContainsFunc(f.events[0].Given, func(p opt.PlanSpec) bool {
		return slices.ContainsFunc(p.Tasks, func(t opt.TaskSpec) bool { return t.Taken != nil && t.Taken.TaskID == taskID })
	})
	return given || slices.ContainsFunc(f.events, func(e opt.Event) bool { // a plan that is set back has earlier work
		return e.Kind == opt.SourceRewound || e.Kind == opt.TaskMoved && e.TaskID == taskID && e.To == string(opt.TaskCompleted)
	})
}

// repeatsNothing: no task is open that had begun, unless its end was recorded later.
func (f forked) repeatsNothing(w *world) {
	open := map[string]bool{}
	gone := false // plans were replaced, skipped or set back
	for i, e := range f.events {
		gone = gone || len(e.Replaces) > 0 || e.Kind == opt.SourceRewound || e.Kind == opt.TasksReopened || e.Kind == opt.PlanRetried || e.To == string(opt.PlanSkipped)
		switch {
		case e.Kind != opt.TaskMoved || e.PlanID == "":
		case opt.TaskState(e.To).Ended():
			delete(open, e.TaskID)
		case i < f.n && e.To == string(opt.TaskWorking) && e.Attempt > 0:
			open[e.TaskID] = true
		}
	}
	if len(open) > 0 && !gone {
		w.fail("forks", "a fork repeats %v", open)
	}
}

// takesAll: a fork of the latest event of an objective with one plan, which changes nothing, takes over
// all that it may.
func takesAll(w *world, o *opt.Objective, opening opt.Opening) {
	if len(o.Plans) != 1 || len(opening.Plans) != 1 {
		return
	}
	p := o.Plans[0]
	for i, t := range p.Tasks {
		if taken := opening.Plans[0].Tasks[i].Taken != nil; taken != isTaken(p, t) {
			w.fail("forks", "%s can be taken over: %v, it is: %v", w.name(t.ID), isTaken(p, t), taken)
		}
	}
}

func isTaken(p *opt.Plan, t *opt.Task) bool {
	return t.State == opt.TaskCompleted && t.Ask == nil && t.Gates == 0 && !slices.ContainsFunc(p.Before(t), func(b *opt.Task) bool { return !isTaken(p, b) })
}

// staysTaken: a task that was taken over stays completed.
func staysTaken(w *world, p *opt.Plan) {
	for _, t := range p.Tasks {
		if w.facts.forked[t.A2AID()].from != "" && (t.State != opt.TaskCompleted || t.Taken == nil) {
			w.fail("forks", "%s was taken over, and is %s", w.name(t.ID), t.State)
		}
	}
}

// namesOriginal: a gate names a decision elsewhere only about its own object.
func namesOriginal(w *world, r *run, e opt.Event) {
	if e.Gate == nil || e.Gate.Original == nil {
		return
	}
	o := e.Gate.Original
	decided := slices.ContainsFunc(w.journal.log, func(l logged) bool {
		d := event(l.content).Decision
		return l.objectiveID == o.ObjectiveID && d != nil && d.Closed && d.TaskID == o.TaskID && d.ObjectDigest == e.Gate.ObjectDigest && d.DecidedBy == o.DecidedBy
	})
	if !decided || o.ObjectiveID == r.objective {
		w.fail("forks", "%s says that %s was decided about its object by %q", w.name(e.Gate.ID), w.name(o.TaskID), o.DecidedBy)
	}
}
