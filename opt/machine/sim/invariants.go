package sim

import (
	"cmp"
	"maps"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// Facts are the records of the invariants.
type facts struct {
	answers  map[string]int         // how often a command was answered
	taken    map[string]string      // commands that an objective has handled: its id
	judged   map[string]int         // how often a letter was judged
	again    map[string]bool        // letters that a later attempt at a plan has handled
	heard    map[string]bool        // letters that a workflow has handled
	applied  map[string]int64       // changes that were answered as applied, by objective
	revision map[string]int64       // by objective
	paused   map[string]bool        // objectives whose pause was answered and has not ended
	queue    map[string][]string    // by context: members that have not had their turn, in the order of their places
	since    map[string]int64       // the places of members
	endedAt  map[string]int64       // when the latest attempt at a round of a task ended
	attempts map[string]int         // latest attempt at a round of a task that has begun
	names    map[string]string      // of applied commands that set a name: the objective with the name
	commands map[string]opt.Command // by id
	refused  map[string]bool        // commands
	started  map[string]int         // which event began the work on a plan, by plan
	made     map[string]int         // which event completed it
	events   int                    // of all machines
	accepted map[string][]string    // who decided, by gate
	sending  map[string][]string    // A2A tasks that had made what a client wants to send back, by gate
	sentBack map[string][]string    // A2A tasks that had made a sent-back object, by the task with the gate
	chains   map[string]opt.Chain   // of decisions, by source
	gates    map[string]*openGate   // by the A2A task that waits at it
	legs     map[string]*leg        // the latest one, by A2A task
}

func newFacts() facts {
	return facts{
		answers: map[string]int{}, taken: map[string]string{}, judged: map[string]int{}, heard: map[string]bool{}, again: map[string]bool{}, applied: map[string]int64{},
		revision: map[string]int64{}, paused: map[string]bool{}, queue: map[string][]string{}, since: map[string]int64{}, attempts: map[string]int{}, endedAt: map[string]int64{},
		names: map[string]string{}, commands: map[string]opt.Command{}, refused: map[string]bool{},
		started: map[string]int{}, made: map[string]int{}, sentBack: map[string][]string{}, sending: map[string][]string{}, accepted: map[string][]string{},
		chains: map[string]opt.Chain{},
		gates:  map[string]*openGate{}, legs: map[string]*leg{},
	}
}

// before notes the next input of a machine.
func (w checks) before(r *run, in machine.Input) {
	f := &w.facts
	switch in := in.(type) {
	case machine.Letter:
		f.heard[in.Message.MessageID] = true
		f.again[in.Message.MessageID] = r.attempt > 0
		w.beforeReply(r, in)
	case machine.Callback:
		w.legs().beforeCallback(in)
	case machine.Ended:
		w.legs().beforeEnd(r, in)
	case machine.Command:
		f.taken[in.ID], f.commands[in.ID] = r.id, in.Command
	case machine.Enter:
		s := &r.m.(contextHost).State
		known := s.Holder != nil && s.Holder.ID == in.ObjectiveID && (s.Holder.Attempt == 0 || s.Holder.Attempt >= in.Attempt)
		if !known && !slices.ContainsFunc(slices.Concat(s.Front, s.Resting, s.Waiting),
			func(m *machine.Member) bool { return m.ID == in.ObjectiveID && m.Attempt >= in.Attempt }) {
			f.since[in.ObjectiveID] = in.At.Millis()
			own := func(id string) bool { return id == in.ObjectiveID } // a later attempt comes later
			queue := slices.DeleteFunc(f.queue[r.id], own)
			i := len(queue)
			for i > 0 && f.since[queue[i-1]] > in.At.Millis() {
				i--
			}
			f.queue[r.id] = slices.Insert(queue, i, in.ObjectiveID)
		}
	}
}

// after checks a machine after one input.
func (w checks) after(r *run, in machine.Input, events []opt.Event) {
	for _, e := range events {
		w.facts.events++
		w.gateIsNew(r, e)
		w.decidedBySome(r, e)
		w.chained(r, e)
		w.stepsInOrder(r, e)
		w.legs().canceledElsewhere(r, e)
		w.legs().isReturned(r, e)
		switch e.Kind {
		case opt.PlanStarted:
			w.facts.started[e.PlanID] = w.facts.events
		case opt.PlanMoved:
			if e.To == string(opt.PlanCompleted) {
				w.facts.made[e.PlanID] = w.facts.events
			}
		case opt.MessageAdded:
			w.facts.judged[e.Message.MessageID]++
		case opt.ObjectiveChanged:
			w.revisionsRise(r, e)
		case opt.CommandAnswered:
			w.answeredOnce(r, e)
		}
	}
	if c, ok := in.(machine.Callback); ok {
		w.legs().afterCallback(r, c)
	}
	switch h := r.m.(type) {
	case objectiveHost:
		if !h.State.Objective.Paused {
			w.facts.paused[r.id] = false
		}
	case contextHost:
		w.turnsInOrder(r, h)
	}
}

// revisionsRise: revisions rise by one with each command that was applied, and
// with nothing else (invariant 3).
func (w checks) revisionsRise(r *run, e opt.Event) {
	had := max(w.facts.revision[r.id], 1)
	if e.Revision != had && e.Revision != had+1 {
		w.fail("revision", "%s goes from revision %d to %d", w.name(r.id), had, e.Revision)
	}
	w.facts.applied[r.id] += e.Revision - had
	w.facts.revision[r.id] = e.Revision
}

// answeredOnce: a command is answered once: applied, and then the revision has
// risen, or refused (invariant 3).
func (w checks) answeredOnce(r *run, e opt.Event) {
	f, a := &w.facts, e.Answer
	if f.answers[a.CommandID]++; f.answers[a.CommandID] > 1 {
		w.fail("answers", "command %s is answered twice", a.CommandID)
	}
	if a.Refusal != nil || a.Unchanged {
		f.refused[a.CommandID] = true
	} else {
		f.applied[r.id]--
	}
	c := f.commands[a.CommandID]
	if c.Kind == opt.UpdateObjective && c.Status == string(opt.ObjectiveBlocked) && a.Refusal == nil && len(a.Waiting) == 0 {
		f.paused[r.id] = r.m.(objectiveHost).State.Objective.Paused
	}
}

// turnsInOrder: turns are given in the order of places (invariant 4).
func (w checks) turnsInOrder(r *run, h contextHost) {
	s, queue := &h.State, w.facts.queue[r.id]
	member := func(id string) bool {
		return slices.ContainsFunc(slices.Concat(s.Front, s.Resting, s.Waiting), func(m *machine.Member) bool { return m.ID == id })
	}
	rests := func(id string) bool { // it released its turn before it got it
		return slices.ContainsFunc(s.Resting, func(m *machine.Member) bool { return m.ID == id })
	}
	holds := func(id string) bool { return s.Holder != nil && s.Holder.ID == id }
	queue = slices.DeleteFunc(queue, func(id string) bool { return !holds(id) && !member(id) || rests(id) })
	if i := slices.IndexFunc(queue, holds); i > 0 {
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

// beginsActivity checks an activity that is about to begin.
func (w checks) beginsActivity(r *run, a *activity) {
	if a.Kind == machine.LoadKept || a.Kind == machine.WatchTask {
		return
	}
	p, ofPlan := r.m.(planHost)
	if ofPlan {
		if w.legs().beginsLeg(p, a); a.ends() {
			return // also in a plan that is paused, stops or has no turn
		}
	}
	w.oneWorks(r)
	if ofPlan {
		if a.Kind == machine.FollowTask && p.State.Work[a.Of].Follows > 0 {
			return // it follows a task that works elsewhere, also during a pause
		}
		w.mayRun(r, p, a)
		w.knowsEverything(r, p, a)
	}
}

// mayRun: no task runs that was removed, skipped or paused, that is not allowed yet,
// or that runs already; and no attempt runs twice (invariant 2).
func (w checks) mayRun(r *run, h planHost, a *activity) {
	s := &h.State
	p, t := &s.Plan, s.Plan.Task(a.Of)
	o := w.latest[r.objective].m.(objectiveHost).State.Objective
	switch {
	case t.State != opt.TaskWorking || t.ByHand && !t.Follow && t.Link != "":
		w.fail("runs", "%s runs while it is %s", w.name(t.ID), t.State)
	case !p.Started || p.Paused || p.ObjectivePaused:
		w.fail("runs", "%s runs, though its plan was not started or is paused", w.name(t.ID))
	case p.Stopping != "" || p.Status.Ended():
		w.fail("runs", "%s runs, though its plan is ending", w.name(t.ID))
	case s.Directive.Shared && s.Directive.Permission <= s.Yielded:
		w.fail("runs", "%s runs without permission", w.name(t.ID))
	case w.facts.paused[r.objective] && o.Paused:
		w.fail("pause", "%s begins after a pause was answered", w.name(a.Key))
	}
	for _, b := range p.Before(t) {
		if !b.State.Ended() && b.Run <= t.Run { // else it was reopened while t worked
			w.fail("runs", "%s runs before %s", w.name(t.ID), w.name(b.ID))
		}
	}
	if n := unasked(r); n >= p.Limits.OrDefault().Parallel || n > 0 && !p.Unordered() {
		w.fail("runs", "%s begins beside %d others", w.name(t.ID), n)
	}
	work := s.Work[t.ID]
	if a.work.Leg > 0 {
		return
	}
	if n := w.facts.attempts[a.work.Key]; a.Kind == machine.RunTask && n+1 != work.Attempt {
		w.fail("runs", "attempt %d at %s begins after %d", work.Attempt, w.name(t.ID), n)
	}
	tooEarly := w.now < w.facts.endedAt[a.work.Key]+1000 && !w.facts.leg(t.A2AID()).returned
	if ended := w.facts.endedAt[a.work.Key]; a.Kind == machine.RunTask && work.Attempt > 1 && (tooEarly || work.Attempt > cmp.Or(t.Attempts, 3)) {
		w.fail("runs", "attempt %d at %s begins %d ms after the one before", work.Attempt, w.name(t.ID), w.now-ended)
	}
	w.facts.attempts[a.work.Key] = work.Attempt
}

// unasked returns how many activities of r run that were not asked to stop and do not
// cancel work elsewhere.
func unasked(r *run) (n int) {
	for _, a := range r.activities {
		if !a.asked && !a.ends() && a.Kind != machine.WatchTask {
			n++
		}
	}
	return n
}

// oneWorks: one objective of a context works at a time (invariant 4).
func (w checks) oneWorks(r *run) {
	contextID := w.contextOf(r)
	for _, other := range w.runs {
		if other.objective == "" || other.objective == r.objective || w.contextOf(other) != contextID || w.hurt[other.objective] {
			continue
		}
		for _, a := range other.activities {
			if a.Kind != machine.LoadKept && !a.asked && !a.ends() {
				w.fail("turns", "%s works while %s does", w.name(r.objective), w.name(other.objective))
			}
		}
	}
}

func (w checks) contextOf(r *run) string {
	return w.latest[r.objective].m.(objectiveHost).State.Objective.ContextID
}

// knowsEverything: a task gets the messages of clients to the root task, and the
// results of the plan before its own when its plan was started.
func (w checks) knowsEverything(r *run, h planHost, a *activity) {
	o := &w.latest[r.objective].m.(objectiveHost).State
	for _, note := range o.Notes[:min(h.State.Directive.Notes, len(o.Notes))] {
		if !slices.ContainsFunc(a.work.Messages, func(m a2a.Message) bool { return m.MessageID == note.MessageID }) {
			w.fail("notes", "%s does not get %s", w.name(a.Key), note.MessageID)
		}
	}
	said := map[string]bool{}
	for _, m := range a.work.Messages {
		if said[m.MessageID] {
			w.fail("notes", "%s gets %s twice", w.name(a.Key), m.MessageID)
		}
		said[m.MessageID] = true
	}
	i := slices.IndexFunc(o.Objective.Plans, func(p *opt.Plan) bool { return p.ID == r.id })
	if i < 1 || o.Objective.Unordered() || len(h.State.Plan.Inputs(h.State.Plan.Task(a.Of))) > 0 || w.hurt[r.objective] {
		return
	}
	before := w.latest[o.Objective.Plans[i-1].ID]
	byClient := func(c opt.Command) bool { return c.PlanID == r.id && c.Status == string(opt.PlanWorking) }
	if before == nil || slices.ContainsFunc(slices.Collect(maps.Values(w.facts.commands)), byClient) {
		return // a client may start a plan before the objective has the end of the one before
	}
	plan := &before.m.(planHost).State.Plan
	inTime := w.facts.made[plan.ID] < w.facts.started[r.id]
	if made := plan.Results(); plan.Status == opt.PlanCompleted && inTime && len(made) > 0 {
		if len(a.work.Results) == 0 || !slices.ContainsFunc(a.work.Results[0].Artifacts, func(x a2a.Artifact) bool { return x.ArtifactID == made[0].ArtifactID }) {
			w.fail("inputs", "%s does not get what %s has made", w.name(a.Key), w.name(plan.ID))
		}
	}
}

// checkShown: events agree with what clients were shown: every move begins at the
// shown status, and an ended status stays until a new attempt (invariant 6).
func (w checks) checkShown(r *row, e opt.Event) {
	o := &r.objective
	p := o.Plan(e.PlanID)
	bad := func(was string) {
		w.fail("shown", "%s of %s goes from %q to %q, but is shown as %q", e.Kind, w.name(o.ID+" "+e.PlanID+" "+e.TaskID), e.From, e.To, was)
	}
	switch {
	case e.Kind == opt.ObjectiveMoved && (e.From != string(o.Status) || o.Status.Ended() && e.To != e.From):
		bad(string(o.Status))
	case e.Kind == opt.ObjectiveRetried && !o.Status.Ended():
		bad(string(o.Status))
	case e.Kind == opt.PlanMoved && p != nil && p.Status.Ended() && e.To != string(p.Status) && !w.hurt[o.ID]:
		bad(string(p.Status))
	case e.Kind == opt.PlanMoved && p != nil && e.From != string(p.Status) && !w.hurt[o.ID]:
		bad(string(p.Status))
	case e.Kind == opt.TaskMoved && p == nil:
		if was := w.journal.roots[e.TaskID]; e.From != string(was) || was.Ended() {
			bad(string(was))
		}
	case e.Kind == opt.TaskMoved:
		if t := p.Task(e.TaskID); t == nil || e.From != string(t.State) || t.State.Ended() {
			bad("")
		}
	}
}
