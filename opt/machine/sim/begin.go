package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// beginsOnce: a plan begins each attempt once, and again only for an objective that does not know
// that, since it was reset.
func beginsOnce(w *world, s *machine.PlanState, resets int) {
	attempt := opt.RootID(s.Plan.ID, s.Plan.Run)
	if before, again := w.facts.begun[attempt]; again {
		if w.facts.resets[s.Plan.ObjectiveID] <= before {
			w.fail("begins", "%s begins again", w.name(attempt))
		}
		w.facts.resets[s.Plan.ID]++
		w.forget(s.Plan.ID)
		delete(w.facts.plans, s.Plan.ID)
		forget(w.facts.resent, s.Plan.ID+"task-") // activities that workers have sent back begin again
		forget(w.facts.held, s.Plan.ID+"task-")
	}
	w.facts.begun[attempt] = resets
}

// beginsActivity checks an activity that is about to begin.
func beginsActivity(w *world, r *run, a *activity) {
	saysHeld(w, r, a)
	if a.reads() {
		return
	}
	if t := w.facts.forked[a.work.TaskID]; t.from != "" {
		w.fail("forks", "%s runs, and was taken over from %s", w.name(a.work.TaskID), w.name(t.from))
	}
	h, ofPlan := r.m.(planHost)
	if a.again {
		return // also in a plan that was paused meanwhile: the attempt has begun
	}
	if !ofPlan {
		oneWorks(w, r)
		return
	}
	if beginsLeg(w, r, h, a); a.ends() {
		return // also in a plan that is paused, stops or has no turn
	}
	oneWorks(w, r)
	if a.Kind == machine.FollowTask && h.p.State.Work[a.Of].Follows > 0 {
		return // it follows a task that works elsewhere, also during a pause
	}
	b := beginning{w, r, h, a}
	b.mayRun()
	b.knowsEverything()
}

// oneWorks: one objective of a context works at a time (invariant 4).
func oneWorks(w *world, r *run) {
	contextID := contextOf(w, r)
	for _, other := range w.runs {
		if other.objective == "" || other.objective == r.objective || contextOf(w, other) != contextID || maySwerve(w, r) || maySwerve(w, other) {
			continue
		}
		works := func(a *activity) bool { return a.works() && !(a.again && w.facts.resets[other.id] > 0) } // an activity that had begun before a reset begins again by itself
		if slices.ContainsFunc(other.activities, works) {
			w.fail("turns", "%s works while %s does", w.name(r.objective), w.name(other.objective))
		}
	}
}

// maySwerve reports whether r may work beside others. After a reset: an objective that had ended,
// and so had left its context to others; a plan of which its objective does not wait for work;
// and one that began again with what its objective knew before, until it hears from that. And a plan
// whose objective an operator has ended, until that was closed.
func maySwerve(w *world, r *run) bool {
	h, plan := r.m.(planHost)
	return w.facts.reopened[r.objective] || plan && (w.open(r.objective) == nil || w.latest[r.objective].m.(objectiveHost).o.State.Lost || isUnknown(w, r) || isOver(w, r) || w.facts.resets[r.id] > 0 && !hasHeard(w, h))
}

// hasHeard reports whether a plan knows that its objective was reset: else it does what that wanted
// before. No plan knows it before the objective has begun an epoch.
func hasHeard(w *world, h planHost) bool {
	o := w.latest[h.p.State.Plan.ObjectiveID]
	return !o.setBack && h.p.State.Above >= o.m.(objectiveHost).o.State.Epoch
}

// isUnknown reports whether r is a plan that its objective does not know any more, since it was
// reset to before it. Such a plan ends when the journal refuses its events. One that has none
// is not found.
func isUnknown(w *world, r *run) bool {
	s := &w.latest[r.objective].m.(objectiveHost).o.State
	_, plan := r.m.(planHost)
	return plan && w.facts.resets[r.objective] > 0 && s.Objective.Plan(r.id) == nil
}

// isOver reports whether r is a plan that was reset after it had reported its end: what it does
// again does not count.
func isOver(w *world, r *run) bool {
	p := w.latest[r.objective].m.(objectiveHost).o.State.Objective.Plan(r.id)
	return w.facts.resets[r.id] > 0 && p != nil && p.Over()
}

// waitsInVain reports whether r is such a plan that waits for its objective, which directs it no more, under rules before 42.
func waitsInVain(w *world, r *run) bool {
	h, plan := r.m.(planHost)
	if !plan || h.p.State.Rules >= 42 || !isOver(w, r) {
		return false
	}
	s := &h.p.State
	return !s.Plan.Started || s.Plan.OnHold() || s.Report.Asks
}

// A beginning is an activity that is about to begin work on a task of a plan.
type beginning struct {
	w *world
	r *run
	h planHost
	a *activity
}

func (b beginning) task() *opt.Task { return b.h.p.State.Plan.Task(b.a.Of) }

// mayRun: no task runs that was removed, skipped or paused, that is not allowed yet,
// or that runs already; and no attempt runs twice (invariant 2).
func (b beginning) mayRun() {
	if t := b.task(); t.State != opt.TaskWorking || t.ByHand && !t.Follow && t.Link != "" {
		b.w.fail("runs", "%s runs while it is %s", b.w.name(t.ID), t.State)
	}
	b.isAllowed()
	b.followsOthers()
	b.hasRoom()
	if b.a.work.Leg > 0 {
		return
	}
	if b.a.Kind == machine.RunTask {
		b.followsAttempt()
	}
	b.w.facts.plan(b.r.id).attempts[b.a.work.Key] = b.h.p.State.Work[b.a.Of].Attempt
}

// isAllowed: the plan works, has permission, and is not paused.
func (b beginning) isAllowed() {
	w, s := b.w, &b.h.p.State
	p, task := &s.Plan, w.name(b.task().ID)
	switch {
	case !p.Started || p.Paused || p.ObjectivePaused:
		w.fail("runs", "%s runs, though its plan was not started or is paused", task)
	case p.Stopping != "" || p.Status.Ended():
		w.fail("runs", "%s runs, though its plan is ending", task)
	case isHeld(s):
		w.fail("runs", "%s runs without permission", task)
	case w.facts.paused[b.r.objective] && b.objective().Objective.Paused && b.counts():
		w.fail("pause", "%s begins after a pause was answered", w.name(b.a.Key))
	}
}

// isHeld reports whether a plan has no permission to work in its context.
func isHeld(s *machine.PlanState) bool {
	d := s.Directive
	return d.Shared && d.Permission <= s.Yielded || s.Rules >= 43 && s.Epoch > 1 && d.PlanEpoch < s.Epoch
}

// counts reports whether the objective knows the plan as it is, and the plan knows what that wants.
func (b beginning) counts() bool {
	return !isOver(b.w, b.r) && !isUnknown(b.w, b.r) && hasHeard(b.w, b.h)
}

// objective returns the latest state of the objective.
func (b beginning) objective() *machine.ObjectiveState {
	return &b.w.latest[b.r.objective].m.(objectiveHost).o.State
}

// followsOthers: the tasks before this one have ended.
func (b beginning) followsOthers() {
	w, p, t := b.w, &b.h.p.State.Plan, b.task()
	follows := slices.Clone(p.Before(t))
	for i := t.Index; i > 0 && p.Tasks[i].Dependencies == nil && !p.Loose; i-- {
		follows = append(follows, p.Tasks[i-1])
	}
	for _, before := range follows {
		if !before.State.Ended() && before.Run <= t.Run { // else it was reopened while t worked
			w.fail("runs", "%s runs before %s", w.name(t.ID), w.name(before.ID))
		}
	}
	staysBehind(w, p, t)
}

// hasRoom: not too many run beside this one.
func (b beginning) hasRoom() {
	p := &b.h.p.State.Plan
	if n := unstopped(b.r); n >= p.Limits.OrDefault().Parallel || n > 0 && !p.Unordered() {
		b.w.fail("runs", "%s begins beside %d others", b.w.name(b.task().ID), n)
	}
}

// staysBehind: a task comes behind those that ask people there, and one that asks behind all, as it was at first.
func staysBehind(w *world, p *opt.Plan, t *opt.Task) {
	for _, i := range w.facts.gates[placeOf(t)] {
		if b := p.Tasks[i]; !b.Done() && b.Run <= t.Run {
			w.fail("order", "%s comes before %s, behind which it was", w.name(t.ID), w.name(b.ID))
		}
	}
}

// asksBehind is that for a gate that opens.
func asksBehind(w *world, _ *run, s *machine.PlanState, e opt.Event) {
	if opensGate(e) && !s.Plan.Loose {
		staysBehind(w, &s.Plan, s.Plan.Task(e.TaskID))
	}
}

// withBefore returns list with all that is before its members, in any number of steps.
func withBefore[T comparable](list []T, before func(T) []T) []T {
	list = slices.Clip(list)
	for i := 0; i < len(list); i++ {
		for _, b := range before(list[i]) {
			if !slices.Contains(list, b) {
				list = append(list, b)
			}
		}
	}
	return list
}

// placeOf names a task in all attempts at its plan, and in its forks.
func placeOf(t *opt.Task) string { return fmt.Sprint(t.Index, " ", t.Name) }

// noteGates notes behind which others the tasks of a plan have to stay, before clients change the order.
func noteGates(w *world, p *opt.Plan) {
	for _, t := range p.Tasks {
		if _, known := w.facts.gates[placeOf(t)]; known {
			continue
		}
		gates := []int{}
		for _, g := range withBefore(p.Before(t), p.Before) {
			if g.Ask != nil || t.Ask != nil {
				gates = append(gates, g.Index)
			}
		}
		w.facts.gates[placeOf(t)] = gates
	}
}

// followsAttempt: the attempt is the next one, and comes after a pause if it is not the first.
func (b beginning) followsAttempt() {
	w, f, t, key := b.w, b.w.facts.plan(b.r.id), b.task(), b.a.work.Key
	n, returned := b.h.p.State.Work[t.ID].Attempt, f.leg(t.A2AID()).returned
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

// knowsEverything: a task gets the messages of clients to the root task, each once and with its author, and the
// results of the plan before its own when its plan was started.
func (b beginning) knowsEverything() {
	w, s, o := b.w, &b.h.p.State, b.objective()
	approved := b.knowsTheApproved() || s.Directive.Covered > 0
	counted := hasHeard(w, b.h) // else it has the notes of the objective before a reset
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
		if author, _ := m.Metadata.String(opt.KeyAuthor); author == "" {
			w.fail("notes", "%s gets %s without its author", w.name(b.a.Key), m.MessageID)
		}
		said[m.MessageID] = true
	}
	b.getsResults(&o.Objective)
}

// getsResults: the first task of a plan gets what the plan before has made.
func (b beginning) getsResults(o *opt.Objective) {
	w, s := b.w, &b.h.p.State
	i := slices.IndexFunc(o.Plans, func(p *opt.Plan) bool { return p.ID == b.r.id })
	if i < 1 || o.Unordered() || len(s.Plan.Inputs(b.task())) > 0 {
		return
	}
	before := w.planState(o.Plans[i-1].ID)
	if before == nil || b.isStartedByClient() {
		return
	}
	plan := &before.Plan
	inTime := slices.Contains(w.facts.behind[opt.RootID(b.r.id, s.Plan.Run)], opt.RootID(plan.ID, plan.Run))
	made := plan.Results()
	if plan.Status != opt.PlanCompleted || !inTime || len(made) == 0 {
		return
	}
	gets := func(r opt.Result) bool {
		return slices.ContainsFunc(r.Artifacts, func(x a2a.Artifact) bool { return x.ArtifactID == made[0].ArtifactID })
	}
	if got := b.a.work.Results; !slices.ContainsFunc(got[:min(1, len(got))], gets) {
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
	p := &b.h.p.State.Plan
	known, approved := b.approvedBefore()
	for _, t := range withBefore([]*opt.Task{b.task()}, p.Before) {
		approved = approved || t.Ask != nil && t.Ask.Kind == opt.Approval && t.State == opt.TaskCompleted && !byClient(t)
		if at, ok := b.w.facts.plan(b.r.id).notesAt[t.A2AID()]; ok {
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
	w, own, known := b.w, &b.h.p.State.Plan, map[string]bool{}
	o := &b.objective().Objective
	if b.isStartedByClient() || o.Plan(own.ID) == nil { // or it was reset to before the plan
		return known, false
	}
	behind := w.facts.behind[opt.RootID(own.ID, own.Run)]
	for _, p := range withBefore(o.Before(o.Plan(own.ID)), o.Before) {
		s := w.planState(p.ID)
		if s == nil || !slices.Contains(behind, opt.RootID(p.ID, p.Run)) {
			continue
		}
		if at := s.Accepted; !at.IsZero() && at.Millis() > own.CreatedAt.Millis() {
			approved = true
			for _, t := range s.Plan.Tasks {
				maps.Copy(known, w.facts.plan(p.ID).notesAt[t.A2AID()])
			}
		}
	}
	return known, approved
}

func contextOf(w *world, r *run) string {
	return w.latest[r.objective].m.(objectiveHost).o.State.Objective.ContextID
}
