package sim

import (
	"slices"

	"longhaul/opt"
	"longhaul/opt/machine"
)

// beforeInput notes the next input of a machine.
func beforeInput(w *world, r *run, in machine.Input) {
	f := &w.facts
	switch in := in.(type) {
	case machine.Letter:
		r.handles(f.heard, in.Message.MessageID)
		f.again[in.Message.MessageID] = r.attempt > 0 || r.objective != r.id && f.resets[r.id] > 0 // it may have begun again
		beforeReply(w, r, in)
		beforeNotes(w, r)
	case machine.Directed:
		if len(in.Notes) > 0 {
			beforeNotes(w, r)
		}
	case machine.Callback:
		beforeCallback(w, r, in)
	case machine.Ended:
		beforeEnd(w, r, in)
	case machine.Command:
		r.handles(f.taken, in.ID)
		f.commands[in.ID] = in.Command
	case machine.Enter:
		beforeEnter(f, r, in)
	}
}

// handles notes by whom a letter or a command is handled. A reset takes back that it was.
func (r *run) handles(by map[string]string, id string) {
	if by[id] == "" {
		r.undo = append(r.undo, func() { delete(by, id) })
	}
	by[id] = r.id
}

// beforeEnter notes the place in the queue of an attempt that its context does not know.
func beforeEnter(f *facts, r *run, in machine.Enter) {
	s := &r.m.(contextHost).c.State
	known := s.Holder != nil && s.Holder.ID == in.ObjectiveID && (s.Holder.Attempt == 0 || s.Holder.Attempt >= in.Attempt)
	if known || slices.ContainsFunc(slices.Concat(s.Front, s.Resting, s.Waiting),
		func(m *machine.Member) bool { return m.ID == in.ObjectiveID && m.Attempt >= in.Attempt }) {
		return
	}
	f.since[in.ObjectiveID] = in.At.Millis()
	own := func(id string) bool { return id == in.ObjectiveID } // a later attempt comes later
	queue := slices.DeleteFunc(f.queue[r.id], own)
	i := len(queue)
	for i > 0 && f.since[queue[i-1]] > in.At.Millis() {
		i--
	}
	f.queue[r.id] = slices.Insert(queue, i, in.ObjectiveID)
}

// afterInput checks a machine after one input.
func afterInput(w *world, r *run, in machine.Input, events []opt.Event) {
	rewound, again := in.(machine.Rewound)
	r.setBack = r.setBack && !again
	for i, e := range events {
		checks := eventChecks
		if again && i <= len(rewound.Pending) { // in another epoch
			checks = []eventCheck{{ofPlan: chained}}
		}
		for _, c := range checks {
			c.look(w, r, e)
		}
	}
	switch h := r.m.(type) {
	case planHost:
		afterCallback(w, &h.p.State, in)
		endsForNext(w, &h.p.State)
		noteGates(w, &h.p.State.Plan)
	case objectiveHost:
		if !h.o.State.Objective.Paused {
			w.facts.paused[r.id] = false
		}
		startsBehind(w, &h.o.State)
	case contextHost:
		turnsInOrder(w, r, h)
	}
}

// An eventCheck looks at events that follow from an input, and notes them: those of all machines, or of plans alone.
type eventCheck struct {
	kind   opt.EventKind // "" for all
	check  func(w *world, r *run, e opt.Event)
	ofPlan func(w *world, r *run, s *machine.PlanState, e opt.Event)
}

var eventChecks = []eventCheck{
	{kind: opt.TaskMoved, ofPlan: gateIsNew},
	{kind: opt.TaskMoved, ofPlan: asksBehind},
	{kind: opt.TaskMoved, check: namesOriginal},
	{ofPlan: passedAlone},
	{kind: opt.MessageAdded, ofPlan: decidedBySome},
	{kind: opt.TaskMoved, ofPlan: decidedByChecks},
	{kind: opt.TaskMoved, ofPlan: decidedByStanding},
	{kind: opt.TaskMoved, ofPlan: keepsDecision},
	{ofPlan: chained},
	{kind: opt.TaskMoved, ofPlan: stepsInOrder},
	{kind: opt.TaskMoved, ofPlan: asksWithin},
	{kind: opt.TaskMoved, ofPlan: cancelsElsewhere},
	{kind: opt.TaskMoved, ofPlan: isReturned},
	{kind: opt.PlanAdded, check: isReplaced},
	{kind: opt.MessageAdded, check: judged},
	{kind: opt.ObjectiveChanged, check: revisionsRise},
	{kind: opt.CommandAnswered, check: answeredOnce},
	{kind: opt.PlanMoved, check: movesPlan},
	{kind: opt.TasksOrdered, check: func(w *world, r *run, _ opt.Event) { w.facts.plan(r.id).ordered = true }},
}

func (c eventCheck) look(w *world, r *run, e opt.Event) {
	h, plan := r.m.(planHost)
	switch {
	case c.kind != "" && c.kind != e.Kind:
	case c.check != nil:
		c.check(w, r, e)
	case plan:
		c.ofPlan(w, r, &h.p.State, e)
	}
}

// judged notes that a letter was judged.
func judged(w *world, r *run, e opt.Event) {
	w.facts.judged[e.Message.MessageID]++
	r.undo = append(r.undo, func() { w.facts.judged[e.Message.MessageID]-- })
}

// movesPlan notes a move of a plan by its objective if an operator has ended the plan, or the run of
// the objective that would have got the result of the plan: the move follows on what the objective has
// heard from the plan or has read in the journal, where a worker may record the end of the plan
// meanwhile.
func movesPlan(w *world, r *run, e opt.Event) {
	p := w.latest[e.PlanID]
	if r.id == r.objective && p != nil && (p.terminated || p.ended && p.parent != nil && p.parent.terminated) {
		w.facts.lost[move(e)] = true
	}
}

// revisionsRise: revisions rise by one with each command that was applied, and
// with nothing else (invariant 3).
func revisionsRise(w *world, r *run, e opt.Event) {
	had := max(w.facts.revision[r.id], 1)
	if e.Revision != had && e.Revision != had+1 {
		w.fail("revision", "%s goes from revision %d to %d", w.name(r.id), had, e.Revision)
	}
	w.facts.applied[r.id] += e.Revision - had
	w.facts.revision[r.id] = e.Revision
	r.undo = append(r.undo, func() {
		w.facts.applied[r.id] -= e.Revision - had
		w.facts.revision[r.id] = had
	})
}

// answeredOnce: a command is answered once: applied, and then the revision has
// risen, or refused (invariant 3).
func answeredOnce(w *world, r *run, e opt.Event) {
	f, a := &w.facts, e.Answer
	if f.answers[a.CommandID]++; f.answers[a.CommandID] > 1 {
		w.fail("answers", "command %s is answered twice", a.CommandID)
	}
	r.undo = append(r.undo, func() { f.answers[a.CommandID]-- })
	if a.Refusal != nil || a.Unchanged {
		f.refused[a.CommandID] = true
		r.undo = append(r.undo, func() { delete(f.refused, a.CommandID) })
	} else {
		f.applied[r.id]--
		r.undo = append(r.undo, func() { f.applied[r.id]++ })
	}
	c := f.commands[a.CommandID]
	if c.Kind == opt.UpdateObjective && c.Status == string(opt.ObjectiveBlocked) && a.Refusal == nil && len(a.Waiting) == 0 {
		f.paused[r.id] = r.m.(objectiveHost).o.State.Objective.Paused
	}
}

// turnsInOrder: turns are given in the order of places (invariant 4).
func turnsInOrder(w *world, r *run, h contextHost) {
	s, queue := &h.c.State, w.facts.queue[r.id]
	member := func(id string) bool {
		return slices.ContainsFunc(slices.Concat(s.Front, s.Resting, s.Waiting), func(m *machine.Member) bool { return m.ID == id })
	}
	rests := func(id string) bool { // it released its turn before it got it
		return slices.ContainsFunc(s.Resting, func(m *machine.Member) bool { return m.ID == id })
	}
	holds := func(id string) bool { return s.Holder != nil && s.Holder.ID == id }
	queue = slices.DeleteFunc(queue, func(id string) bool { return !holds(id) && !member(id) || rests(id) })
	if i := slices.IndexFunc(queue, holds); i > 0 && s.Rolls == 0 {
		w.fail("turns", "%s has its turn before %s, who came first", w.name(queue[i]), w.name(queue[0]))
	} else if i == 0 {
		queue = queue[1:]
	}
	w.facts.queue[r.id] = queue
	for _, m := range slices.Concat(s.Front, s.Resting, s.Waiting) {
		if holds(m.ID) {
			w.fail("turns", "%s is twice in its context", w.name(m.ID))
		}
	}
}

// nothingIsHeldUp: work that is wanted is under way when a workflow task ends, or waits for a
// recording. A run that wants to continue as new holds it up for a second at most.
func nothingIsHeldUp(w *world, r *run) {
	beginsLater(w, r)
	what := r.missing()
	records := len(r.records) > 0 || slices.ContainsFunc(r.activities, func(a *activity) bool { return len(a.ride) > 0 })
	if what == "" || records || r.size.TooLong {
		r.held = 0
		return
	}
	if r.held == 0 {
		r.held = w.now
	}
	ends := slices.ContainsFunc(r.timers, func(t *sleep) bool { return t.Key == "" && t.At.Millis() <= r.held+1000 })
	if !ends && len(r.arrived) == 0 {
		w.fail("held up", "%s does not begin %s, and waits for nothing", w.name(r.id), w.name(what))
	}
}

// beginsLater checks activities that are wanted at the end of a workflow task and do not begin
// yet, since an epoch has to be recorded first: that they begin is decided.
func beginsLater(w *world, r *run) {
	if len(r.records) == 0 {
		return
	}
	for _, a := range r.m.Wants().Activities {
		if !a.Stop && !w.used[r.id+" "+a.Key] && !r.checked[a.Key] {
			beginsActivity(w, r, r.activityOf(a))
			r.checked[a.Key] = true
		}
	}
}

// startsBehind notes which plans are over when an attempt at a plan is started.
func startsBehind(w *world, s *machine.ObjectiveState) {
	for _, l := range s.Links {
		key := opt.RootID(l.PlanID, s.Objective.Plan(l.PlanID).Run)
		if !l.Directive.Start || w.facts.behind[key] != nil {
			continue
		}
		over := []string{}
		for _, p := range s.Objective.Plans {
			if p.Over() {
				over = append(over, opt.RootID(p.ID, p.Run))
			}
		}
		w.facts.behind[key] = over
	}
}
