package sim

import (
	"slices"

	"longhaul/opt"
	"longhaul/opt/fork"
	"longhaul/opt/machine"
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
	id     string
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
	w.facts.originals[o.ID] = &of
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

// asked reports whether people were asked about the work of a task of the original, and not only about its budget.
func (f forked) asked(taskID string) bool {
	return slices.ContainsFunc(f.events, func(e opt.Event) bool {
		return e.Kind == opt.TaskMoved && e.TaskID == taskID && e.Gate != nil && !e.Gate.Budget
	})
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
	open, asks := map[string]bool{}, map[string]bool{} // those that only ask begin nothing
	gone := false                                      // plans were replaced, skipped or set back
	for i, e := range f.events {
		gone = gone || takesBack(e)
		addAsks(asks, e)
		switch {
		case e.Kind != opt.TaskMoved || e.PlanID == "" || asks[planTask(e.TaskID)]:
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

// takesBack reports whether plans are replaced, skipped, set back or begun again with an event.
func takesBack(e opt.Event) bool {
	return len(e.Replaces) > 0 || e.Kind == opt.SourceRewound || e.Kind == opt.TasksReopened || e.Kind == opt.PlanRetried || e.To == string(opt.PlanSkipped)
}

// addAsks notes which of the tasks that an event brings only ask.
func addAsks(asks map[string]bool, e opt.Event) {
	tasks := e.Tasks
	if e.Plan != nil {
		tasks = e.Plan.Tasks
	}
	for _, t := range tasks {
		asks[t.ID] = t.Ask != nil
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

// keepsDecision: a fork keeps a decision only where the playbook says so, once, at a gate at which no one
// was asked, and only one of people in an original who were asked the same. Each of them may decide here,
// and they are as many as it takes.
func keepsDecision(w *world, r *run, s *machine.PlanState, e opt.Event) {
	d := e.Decision
	if d == nil || d.Kept == nil {
		return
	}
	f := w.facts.plan(r.id)
	f.notesAt[e.TaskID] = notesNow(s)
	t, gate := s.Plan.Task(e.TaskID), opt.GateIn(*e.Status)
	w.facts.kept[t.ID]++
	r.undo = append(r.undo, func() { w.facts.kept[t.ID]-- })
	switch {
	case t.Ask == nil || !t.Ask.Keep || d.Action != opt.Accept:
		w.fail("forks", "%s keeps a decision against its playbook", w.name(d.GateID))
	case w.facts.kept[t.ID] > 1:
		w.fail("forks", "%s keeps a decision again", w.name(d.GateID))
	case f.asked[e.TaskID]:
		w.fail("forks", "%s keeps a decision after people were asked", w.name(d.GateID))
	}
	of := w.facts.originalOf(r.objective, d.Kept.ObjectiveID)
	if of == nil {
		w.fail("forks", "%s keeps a decision of %s, which is no original of it", w.name(d.GateID), w.name(d.Kept.ObjectiveID))
		return
	}
	had := of.closing(d.Kept)
	if had == nil {
		w.fail("forks", "%s keeps decision %d, which its original did not have", w.name(d.GateID), d.Kept.Head.N)
		return
	}
	had.asksTheSame(w, gate)
	had.mayDecide(w, gate, append(s.Shapers, s.Requester))
}

// originalOf returns the original of an objective that has an id, or the original of that.
func (f *facts) originalOf(objectiveID, id string) *forked {
	of := f.originals[objectiveID]
	for of != nil && of.id != id {
		of = f.originals[of.id]
	}
	return of
}

// A closing is how a gate was closed by people.
type closing struct {
	gate *opt.Gate // as it was shown last
	by   []string
	d    *opt.Decision
}

// closing returns the decision that o names, if the original had it at the event from which it was forked:
// the latest one about its object, which no reset has taken back.
func (f *forked) closing(o *opt.Original) *closing {
	c := &closing{}
	for _, e := range f.events[:f.n] {
		switch {
		case e.Kind == opt.SourceRewound && (e.PlanID == "" || e.PlanID == o.Head.PlanID):
			c.d = nil
		case e.Kind == opt.TaskMoved && e.Gate != nil && e.Gate.ID == o.GateID:
			c.gate = e.Gate
		}
		if e.Decision != nil {
			c.add(e.Decision, o)
		}
	}
	if !c.is(o) {
		return nil
	}
	return c
}

// is reports whether the gate was shown, and closed by the decision that o names.
func (c *closing) is(o *opt.Original) bool {
	return c.gate != nil && c.d != nil && c.d.Hash == o.Head.Hash && c.d.N == o.Head.N && c.d.Action == opt.Accept
}

// add adds a decision if it is about the object that o is about.
func (c *closing) add(d *opt.Decision, o *opt.Original) {
	if d.GateID == o.GateID && d.Verdict == opt.Accepted && d.Action == opt.Accept && d.For == nil && !d.ByHand {
		c.by = append(c.by, d.DecidedBy)
	}
	if d.Closed && d.ObjectDigest == o.ObjectDigest && planTask(d.TaskID) == planTask(o.TaskID) {
		c.d = d
	}
}

// planTask returns the id of the task of a plan that an A2A task shows.
func planTask(id string) string {
	ref, _ := opt.ParseID(id)
	return ref.TaskID
}

// asksTheSame: a gate asks what those who have decided were asked.
func (c *closing) asksTheSame(w *world, gate *opt.Gate) {
	for _, g := range []*opt.Gate{c.gate, gate} {
		for i := range g.Checks {
			g.Checks[i].TaskID = ""
		}
	}
	same := c.gate.Title == gate.Title && c.d.ObjectDigest == gate.ObjectDigest
	for _, of := range [][2]any{{c.gate.Actions, gate.Actions}, {c.gate.Responders, gate.Responders}, {c.gate.Checks, gate.Checks}} {
		same = same && slices.Equal(encoded(of[0]), encoded(of[1]))
	}
	if !same {
		w.fail("forks", "%s keeps a decision at a gate that has asked something else", w.name(gate.ID))
	}
}

// mayDecide: those who have decided may decide at a gate of the fork, and are as many as it asks for.
func (c *closing) mayDecide(w *world, gate *opt.Gate, shapers []string) {
	open, need, people := openGate{Gate: *gate}, 1, map[string]bool{}
	if gate.Responders != nil {
		need = max(need, gate.Responders.Accepts)
	}
	for _, by := range c.by {
		people[by] = true
		if !open.may(by) || gate.Responders != nil && gate.Responders.NotRequester && slices.Contains(shapers, by) {
			w.fail("forks", "%s keeps a decision of %s, who may not decide there", w.name(gate.ID), by)
		}
	}
	if len(people) < need || !people[c.d.DecidedBy] {
		w.fail("forks", "%s keeps a decision of %d principals", w.name(gate.ID), len(people))
	}
}
