package sim

import (
	"cmp"
	"maps"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// begins: a plan begins each attempt once, and again only for an objective that does not know
// that, since it was reset.
func (w checks) begins(s *machine.PlanState, resets int) {
	attempt := opt.RootID(s.Plan.ID, s.Plan.Run)
	if before, again := w.facts.begun[attempt]; again {
		if w.facts.resets[s.Plan.ObjectiveID] <= before {
			w.fail("begins", "%s begins again", w.name(attempt))
		}
		w.facts.resets[s.Plan.ID]++
		w.World.forget(s.Plan.ID)
		w.facts.forget(taskPrefix(s.Plan.ID))
		forget(w.facts.resent, s.Plan.ID+taskPrefix(s.Plan.ID)) // activities that workers have sent back begin again
	}
	w.facts.begun[attempt] = resets
}

// before notes the next input of a machine.
func (w checks) before(r *run, in machine.Input) {
	f := &w.facts
	switch in := in.(type) {
	case machine.Letter:
		if id := in.Message.MessageID; f.heard[id] == "" {
			r.undo = append(r.undo, func() { delete(f.heard, id) })
		}
		f.heard[in.Message.MessageID] = r.id
		f.again[in.Message.MessageID] = r.attempt > 0 || r.objective != r.id && f.resets[r.id] > 0 // it may have begun again
		w.beforeReply(r, in)
	case machine.Callback:
		w.legs().beforeCallback(in)
	case machine.Ended:
		w.legs().beforeEnd(r, in)
	case machine.Command:
		if f.taken[in.ID] == "" {
			r.undo = append(r.undo, func() { delete(f.taken, in.ID) })
		}
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
	rewound, again := in.(machine.Rewound)
	r.setBack = r.setBack && !again
	for i, e := range events {
		if again && i <= len(rewound.Pending) { // in another epoch
			w.chained(r, e)
			continue
		}
		w.gateIsNew(r, e)
		w.decidedBySome(r, e)
		w.chained(r, e)
		w.stepsInOrder(r, e)
		w.legs().canceledElsewhere(r, e)
		w.legs().isReturned(r, e)
		switch e.Kind {
		case opt.MessageAdded:
			w.facts.judged[e.Message.MessageID]++
			r.undo = append(r.undo, func() { w.facts.judged[e.Message.MessageID]-- })
		case opt.ObjectiveChanged:
			w.revisionsRise(r, e)
		case opt.CommandAnswered:
			w.answeredOnce(r, e)
		case opt.PlanMoved:
			w.facts.moved(r, w.latest[e.PlanID], e)
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
		w.startsBehind(&h.State)
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
	r.undo = append(r.undo, func() {
		w.facts.applied[r.id] -= e.Revision - had
		w.facts.revision[r.id] = had
	})
}

// answeredOnce: a command is answered once: applied, and then the revision has
// risen, or refused (invariant 3).
func (w checks) answeredOnce(r *run, e opt.Event) {
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
	if a.again {
		return // also in a plan that was paused meanwhile: the attempt has begun
	}
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
		b := beginning{w, r, p, a}
		b.mayRun()
		b.knowsEverything()
	}
}

// beginsLater checks activities that are wanted at the end of a workflow task and do not begin
// yet, since an epoch has to be recorded first: that they begin is decided.
func (w checks) beginsLater(r *run) {
	if len(r.records) == 0 {
		return
	}
	for _, a := range r.m.Wants().Activities {
		if !a.Stop && !w.used[r.id+" "+a.Key] && !r.checked[a.Key] {
			w.beginsActivity(r, r.activityOf(a))
			r.checked[a.Key] = true
		}
	}
}

// oneWorks: one objective of a context works at a time (invariant 4).
func (w checks) oneWorks(r *run) {
	contextID := w.contextOf(r)
	for _, other := range w.runs {
		if other.objective == "" || other.objective == r.objective || w.contextOf(other) != contextID || w.maySwerve(r) || w.maySwerve(other) {
			continue
		}
		for _, a := range other.activities {
			if a.Kind != machine.LoadKept && !a.asked && !a.ends() {
				w.fail("turns", "%s works while %s does", w.name(r.objective), w.name(other.objective))
			}
		}
	}
}

// maySwerve reports whether r may work beside others. After a reset: an objective that had ended,
// and so had left its context to others; a plan of which its objective does not wait for work;
// and one that began again with what its objective knew before, until it hears from that. And a plan
// whose objective an operator has ended, until that was closed.
func (w checks) maySwerve(r *run) bool {
	h, plan := r.m.(planHost)
	return w.facts.reopened[r.objective] || plan && (w.temporal().open(r.objective) == nil || w.latest[r.objective].m.(objectiveHost).State.Lost || w.isUnknown(r) || w.isOver(r) || w.facts.resets[r.id] > 0 && !w.hasHeard(h))
}

// hasHeard reports whether a plan knows that its objective was reset: else it does what that wanted
// before. No plan knows it before the objective has begun an epoch.
func (w checks) hasHeard(h planHost) bool {
	o := w.latest[h.State.Plan.ObjectiveID]
	return !o.setBack && h.State.Above >= o.m.(objectiveHost).State.Epoch
}

// isUnknown reports whether r is a plan that its objective does not know any more, since it was
// reset to before it. Such a plan ends when the journal refuses its events. One that has none
// is not found.
func (w checks) isUnknown(r *run) bool {
	s := &w.latest[r.objective].m.(objectiveHost).State
	_, plan := r.m.(planHost)
	return plan && w.facts.resets[r.objective] > 0 && s.Objective.Plan(r.id) == nil
}

// isOver reports whether r is a plan that was reset after it had reported its end: what it does
// again does not count.
func (w checks) isOver(r *run) bool {
	p := w.latest[r.objective].m.(objectiveHost).State.Objective.Plan(r.id)
	return w.facts.resets[r.id] > 0 && p != nil && p.Over()
}

// A beginning is an activity that is about to begin work on a task of a plan.
type beginning struct {
	w checks
	r *run
	h planHost
	a *activity
}

func (b beginning) task() *opt.Task { return b.h.State.Plan.Task(b.a.Of) }

// mayRun: no task runs that was removed, skipped or paused, that is not allowed yet,
// or that runs already; and no attempt runs twice (invariant 2).
func (b beginning) mayRun() {
	if t := b.task(); t.State != opt.TaskWorking || t.ByHand && !t.Follow && t.Link != "" {
		b.w.fail("runs", "%s runs while it is %s", b.w.name(t.ID), t.State)
	}
	b.isAllowed()
	b.followsOthers()
	if b.a.work.Leg > 0 {
		return
	}
	if b.a.Kind == machine.RunTask {
		b.followsAttempt()
	}
	b.w.facts.attempts[b.a.work.Key] = b.h.State.Work[b.a.Of].Attempt
}

// isAllowed: the plan works, has permission, and is not paused.
func (b beginning) isAllowed() {
	w, s := b.w, &b.h.State
	p, task := &s.Plan, w.name(b.task().ID)
	switch {
	case !p.Started || p.Paused || p.ObjectivePaused:
		w.fail("runs", "%s runs, though its plan was not started or is paused", task)
	case p.Stopping != "" || p.Status.Ended():
		w.fail("runs", "%s runs, though its plan is ending", task)
	case s.Directive.Shared && s.Directive.Permission <= s.Yielded:
		w.fail("runs", "%s runs without permission", task)
	case w.facts.paused[b.r.objective] && b.objective().Objective.Paused && !w.isOver(b.r) && !w.isUnknown(b.r) && w.hasHeard(b.h):
		w.fail("pause", "%s begins after a pause was answered", w.name(b.a.Key))
	}
}

// objective returns the latest state of the objective.
func (b beginning) objective() *machine.ObjectiveState {
	return &b.w.latest[b.r.objective].m.(objectiveHost).State
}

// followsOthers: the tasks before this one have ended, and not too many run beside it.
func (b beginning) followsOthers() {
	w, p, t := b.w, &b.h.State.Plan, b.task()
	follows := slices.Clone(p.Before(t))
	for i := t.Index; i > 0 && p.Tasks[i].Dependencies == nil && !p.Loose; i-- {
		follows = append(follows, p.Tasks[i-1])
	}
	for _, before := range follows {
		if !before.State.Ended() && before.Run <= t.Run { // else it was reopened while t worked
			w.fail("runs", "%s runs before %s", w.name(t.ID), w.name(before.ID))
		}
	}
	if n := unstopped(b.r); n >= p.Limits.OrDefault().Parallel || n > 0 && !p.Unordered() {
		w.fail("runs", "%s begins beside %d others", w.name(t.ID), n)
	}
}

// followsAttempt: the attempt is the next one, and comes after a pause if it is not the first.
func (b beginning) followsAttempt() {
	w, f, t, key := b.w, &b.w.facts, b.task(), b.a.work.Key
	n, returned := b.h.State.Work[t.ID].Attempt, f.leg(t.A2AID()).returned
	switch ended := f.endedAt[key]; {
	case f.attempts[key]+1 != n:
		w.fail("runs", "attempt %d at %s begins after %d", n, w.name(t.ID), f.attempts[key])
	case n == 1:
	case f.over[key] < n-1 && !returned:
		w.fail("runs", "attempt %d at %s begins, and only %d have ended", n, w.name(t.ID), f.over[key])
	case w.now < ended+1000 && !returned, n > cmp.Or(t.Attempts, 3):
		w.fail("runs", "attempt %d at %s begins %d ms after the one before", n, w.name(t.ID), w.now-ended)
	}
}

// unstopped returns how many activities of r run that are not to stop and do not cancel work
// elsewhere. One is asked to stop once an epoch that has to be recorded first is there.
func unstopped(r *run) (n int) {
	wanted := r.m.Wants().Activities
	for _, a := range r.activities {
		stays := slices.ContainsFunc(wanted, func(w machine.Activity) bool { return w.Key == a.Key && !w.Stop })
		if stays && !a.ends() && a.Kind != machine.WatchTask {
			n++
		}
	}
	return n
}

// knowsEverything: a task gets the messages of clients to the root task, each once, and the
// results of the plan before its own when its plan was started.
func (b beginning) knowsEverything() {
	w, s, o := b.w, &b.h.State, b.objective()
	approved := b.knowsTheApproved() || s.Directive.Covered > 0
	counted := w.hasHeard(b.h) // else it has the notes of the objective before a reset
	for _, note := range o.Notes[:min(s.Directive.Notes, len(o.Notes))] {
		if counted && !approved && !slices.ContainsFunc(b.a.work.Messages, func(m a2a.Message) bool { return m.MessageID == note.MessageID }) {
			w.fail("notes", "%s does not get %s", w.name(b.a.Key), note.MessageID)
		}
	}
	said := map[string]bool{}
	for _, m := range b.a.work.Messages {
		if said[m.MessageID] {
			w.fail("notes", "%s gets %s twice", w.name(b.a.Key), m.MessageID)
		}
		said[m.MessageID] = true
	}
	b.getsResults(&o.Objective)
}

// getsResults: the first task of a plan gets what the plan before has made.
func (b beginning) getsResults(o *opt.Objective) {
	w, s := b.w, &b.h.State
	i := slices.IndexFunc(o.Plans, func(p *opt.Plan) bool { return p.ID == b.r.id })
	if i < 1 || o.Unordered() || len(s.Plan.Inputs(b.task())) > 0 {
		return
	}
	before := w.latest[o.Plans[i-1].ID]
	if before == nil || before.terminated || b.isStartedByClient() {
		return
	}
	plan := &before.m.(planHost).State.Plan
	inTime := slices.Contains(w.facts.behind[opt.RootID(b.r.id, s.Plan.Run)], opt.RootID(plan.ID, plan.Run))
	made := plan.Results()
	if plan.Status != opt.PlanCompleted || !inTime || len(made) == 0 {
		return
	}
	got := b.a.work.Results
	if len(got) == 0 || !slices.ContainsFunc(got[0].Artifacts, func(x a2a.Artifact) bool { return x.ArtifactID == made[0].ArtifactID }) {
		w.fail("inputs", "%s does not get what %s has made", w.name(b.a.Key), w.name(plan.ID))
	}
}

// isStartedByClient reports whether a client has started the plan: perhaps before its objective had the
// ends of those before it.
func (b beginning) isStartedByClient() bool {
	for _, c := range b.w.facts.commands {
		if c.PlanID == b.r.id && c.Status == string(opt.PlanWorking) {
			return true
		}
	}
	return false
}

// knowsTheApproved: a task behind an approval gets no note that came after the decision. It
// reports whether there is an approval.
func (b beginning) knowsTheApproved() bool {
	p := &b.h.State.Plan
	guards := []*opt.Task{b.task()}
	for i := 0; i < len(guards); i++ {
		for _, before := range p.Before(guards[i]) {
			if !slices.Contains(guards, before) {
				guards = append(guards, before)
			}
		}
	}
	known, approved := b.approvedBefore()
	for _, t := range guards {
		if t.Ask != nil && t.Ask.Kind == opt.Approval && t.State == opt.TaskCompleted && t.Link == "" && !t.ByHand {
			approved = true
		}
		if at, ok := b.w.facts.notesAt[t.A2AID()]; ok {
			approved = true
			maps.Copy(known, at)
		}
	}
	for _, m := range b.a.work.Messages[len(b.a.work.Messages)-b.a.work.Notes:] {
		if approved && !known[m.MessageID] {
			b.w.fail("notes", "%s gets %s, which came after the approval", b.w.name(b.a.Key), m.MessageID)
		}
	}
	return approved
}

// approvedBefore returns the notes that were there when approvals in the plans before
// were accepted, and whether there were any. They count from when the plan was made, and if it
// has waited for their plan: it does not if the one between them was skipped.
func (b beginning) approvedBefore() (known map[string]bool, approved bool) {
	w, own, known := b.w, &b.h.State.Plan, map[string]bool{}
	o := &b.objective().Objective
	if b.isStartedByClient() || o.Plan(own.ID) == nil { // or it was reset to before the plan
		return known, false
	}
	list, behind := o.Before(o.Plan(own.ID)), w.facts.behind[opt.RootID(own.ID, own.Run)]
	for i := 0; i < len(list); i++ {
		for _, p := range o.Before(list[i]) {
			if !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
		before := w.latest[list[i].ID]
		if before == nil || before.terminated || !slices.Contains(behind, opt.RootID(list[i].ID, list[i].Run)) {
			continue
		}
		s := &before.m.(planHost).State
		if at := s.Accepted; !at.IsZero() && at.Millis() > own.CreatedAt.Millis() {
			approved = true
			for _, t := range s.Plan.Tasks {
				maps.Copy(known, w.facts.notesAt[t.A2AID()])
			}
		}
	}
	return known, approved
}

// startsBehind notes which plans are over when an attempt at a plan is started.
func (w checks) startsBehind(s *machine.ObjectiveState) {
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

// notesNow returns the ids of the notes that a plan has now.
func notesNow(s *machine.PlanState) map[string]bool {
	ids := map[string]bool{}
	for _, m := range s.Notes {
		ids[m.MessageID] = true
	}
	for _, t := range s.Plan.Tasks {
		for _, m := range t.Notes {
			ids[m.MessageID] = true
		}
	}
	return ids
}

func (w checks) contextOf(r *run) string {
	return w.latest[r.objective].m.(objectiveHost).State.Objective.ContextID
}

// checkShown: events agree with what clients were shown: every move begins at the
// shown status, and an ended status stays until a new attempt (invariant 6).
func (w checks) checkShown(r *row, e opt.Event) {
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
func (w checks) mayBeRemoved(id string) {
	if at, asked := w.facts.asked[id]; asked && w.now <= at+retention {
		w.fail("retention", "%s is removed %d ms after a client has asked to retry it", w.name(id), w.now-at)
	}
}

// nothingIsHeldUp: work that is wanted is under way when a workflow task ends, or waits for a
// recording. A run that wants to continue as new holds it up for a second at most.
func (w checks) nothingIsHeldUp(r *run) {
	w.beginsLater(r)
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

// pauses reports whether an activity was sent back and begins again at a time.
func (r *run) pauses(key string) bool {
	return slices.ContainsFunc(r.timers, func(s *sleep) bool { return s.Summary == "Begin "+key+" again" })
}

// missing returns the key of an activity, a timer or a plan that the machine wants, and that
// does not run; "" for none.
func (r *run) missing() string {
	wants := r.m.Wants()
	for _, a := range wants.Activities {
		if !a.Stop && r.activity(a.Key) == nil && !r.pauses(a.Key) {
			return a.Key
		}
	}
	for _, t := range wants.Timers {
		if !slices.ContainsFunc(r.timers, func(s *sleep) bool { return s.Key == t.Key }) {
			return t.Key
		}
	}
	for _, c := range wants.Children {
		if !r.w.used[r.id+" "+childKey(c)] {
			return c.PlanID
		}
	}
	return ""
}
