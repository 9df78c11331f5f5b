package sim

import (
	"slices"
	"strings"

	"longhaul/opt"
	"longhaul/opt/machine"
)

// beforeEnd notes how a leg ends.
func beforeEnd(w *world, r *run, in machine.Ended) {
	h, ok := r.m.(planHost)
	if !ok {
		return
	}
	for _, t := range h.p.State.Plan.Tasks {
		work := h.p.State.Work[t.ID]
		if work == nil || !work.Running || keyOf(h, t) != in.Key {
			continue
		}
		if work.AtGate && t.Gate == nil { // it was answered: the next round begins
			return
		}
		w.facts.plan(r.id).leg(t.A2AID()).end(work, in, w.now)
	}
}

// end notes how the leg ends on which a plan works.
func (l *leg) end(work *machine.Work, in machine.Ended, now int64) {
	l.countParks(work, in, now)
	l.needs = opt.Usage{}
	if in.Failed == nil && in.Outcome.Park != nil {
		l.needs = in.Outcome.Park.Needs
	}
	if in.Failed == nil && work.Elsewhere == nil && (in.Outcome.Park == nil || in.Outcome.Gate != nil) {
		l.owed = false // the round ends with it
	}
	if in.Outcome.Memo != nil && work.Elsewhere == nil {
		l.memo, l.onCancel = string(in.Outcome.Memo), in.Outcome.OnCancel
	}
	l.canceled = l.canceled || work.Canceling
}

// countParks notes whether the attempt parks, and until when.
func (l *leg) countParks(work *machine.Work, in machine.Ended, now int64) {
	comes := work.Elsewhere != nil // an outcome, which the next leg takes in
	if in.Failed != nil {
		comes = work.Returned != nil && !work.Returning
		l.owed = l.owed && !work.Returning
	}
	switch {
	case comes:
		l.parks++
		l.due, l.returned = 0, true
	case in.Failed == nil && in.Outcome.Park != nil:
		l.park(work, in.Outcome, now)
	default:
		l.parks = 0
	}
}

// park notes until when the attempt parks.
func (l *leg) park(work *machine.Work, out opt.Outcome, now int64) {
	if work.AtGate && (out.State == opt.TaskWorking || out.Gate != nil) {
		l.round, l.parks = l.round+1, 0 // the gate closes, which begins a round
	}
	l.parks++
	l.due, l.hears = now+out.Park.Wait, out.Park.Notes
	if work.Woken || work.Returned != nil || work.Noted && l.hears {
		l.due = 0
	}
}

// keyOf returns the key of the activity that works on t, "" for none.
func keyOf(h planHost, t *opt.Task) string {
	for _, a := range h.Wants().Activities {
		if a.Of == t.ID {
			return a.Key
		}
	}
	return ""
}

// beforeCallback notes that a callback may wake a task.
func beforeCallback(w *world, r *run, in machine.Callback) {
	if in.Outcome != nil || in.Text == "" && in.Chunk == nil {
		w.facts.plan(r.id).leg(in.TaskID).due = 0
	}
	if in.Outcome != nil {
		w.facts.plan(r.id).leg(in.TaskID).returned = true
	}
}

// beforeNotes notes that notes may wake the tasks of a plan that wait for them.
func beforeNotes(w *world, r *run) {
	if _, ok := r.m.(planHost); !ok {
		return
	}
	for _, l := range w.facts.plan(r.id).legs {
		if l.hears {
			l.due = 0
		}
	}
}

// beginsLeg: a leg has the memo of the one before it, and begins when the wait is over.
func beginsLeg(w *world, r *run, h planHost, a *activity) {
	t := h.p.State.Plan.Task(a.Of)
	l := w.facts.plan(r.id).leg(t.A2AID())
	if a.Kind == machine.FollowTask {
		return
	}
	if string(a.work.Memo) != l.memo {
		w.fail("legs", "%s gets the memo %q, not %q", w.name(a.Key), a.work.Memo, l.memo)
	}
	if a.work.Cancel {
		if !l.onCancel || l.canceled {
			w.fail("legs", "%s cancels work that was not begun, or cancels twice", w.name(a.Key))
		}
		return
	}
	if a.watches && !t.State.Waiting() {
		w.fail("legs", "%s watches a task that is %s", w.name(a.Key), t.State)
	}
	collectsOnly(w, r, l, a)
	beginsWithin(w, r, l, a)
	if a.work.Round != l.round {
		l.round, l.parks = a.work.Round, 0
	}
	if a.work.Leg != l.parks {
		w.fail("legs", "%s is leg %d, after %d parks", w.name(a.Key), a.work.Leg, l.parks)
	}
	if a.work.Leg > 0 && w.now < l.due {
		w.fail("legs", "%s begins %d ms too early", w.name(a.Key), l.due-w.now)
	}
}

// held notes that clients of r hear that a waits for a quota.
func (a *activity) held(r *run) {
	key, facts := r.id+a.Key, &r.w.facts
	facts.held[key] = true
	r.undo = append(r.undo, func() { delete(facts.held, key) })
}

// saysHeld: what begins again after a quota has held it back knows that clients know why.
func saysHeld(w *world, r *run, a *activity) {
	h, ok := r.m.(planHost)
	if ok && w.facts.held[r.id+a.Key] && h.p.State.Rules >= 27 && !h.p.State.Work[a.Of].Quota {
		w.fail("quotas", "%s begins again, and no one knows why it waited", w.name(a.Key))
	}
}

// collectsOnly: legs that need no more than those before take in work elsewhere, and no others.
func collectsOnly(w *world, r *run, l *leg, a *activity) {
	if a.Kind != machine.RunTask || a.ends() || r.m.(planHost).p.State.Rules < 27 || w.facts.isReset(r.id, r.objective) {
		return
	}
	if a.collects != (a.work.Leg > 0 && l.needs == opt.Usage{}) {
		w.fail("quotas", "%s counts as one that takes work in: %t, and needs %+v", w.name(a.Key), a.collects, l.needs)
	}
}

// afterCallback notes an outcome that the plan has accepted.
func afterCallback(w *world, s *machine.PlanState, in machine.Input) {
	c, ok := in.(machine.Callback)
	if !ok || c.Outcome == nil {
		return
	}
	if t := s.Plan.Task(c.TaskID); t != nil {
		if work := s.Work[t.ID]; work != nil && work.Returned == c.Outcome && !work.Canceling {
			w.facts.plan(s.Plan.ID).leg(c.TaskID).owed = true
		}
	}
}

// isReturned: an outcome of a callback or an activity elsewhere ends the round.
func isReturned(w *world, r *run, s *machine.PlanState, e opt.Event) {
	if !opt.TaskState(e.To).Ended() {
		return
	}
	if l, t := w.facts.plan(r.id).leg(e.TaskID), s.Plan.Task(e.TaskID); l.owed && !t.ByHand {
		w.fail("legs", "%s ends %s, and an outcome that was returned is lost", w.name(e.TaskID), e.To)
	}
}

// cancelsElsewhere: a task that is canceled has canceled its work elsewhere.
func cancelsElsewhere(w *world, r *run, _ *machine.PlanState, e opt.Event) {
	if e.To != string(opt.TaskCanceled) || e.Reason == opt.ByHand {
		return
	}
	if l := w.facts.plan(r.id).leg(e.TaskID); l.onCancel && !l.canceled {
		w.fail("legs", "%s is canceled, and its work elsewhere is not", w.name(e.TaskID))
	}
}

// passes adds the time since the input before to the time that the tasks of a plan ran: those that an activity
// works on, or whose next leg a timer begins.
func passes(r *run, now int64, in machine.Input) {
	h, ok := r.m.(planHost)
	if !ok {
		return
	}
	f, wants := r.w.facts.plan(r.id), h.Wants()
	dt := now - f.at
	f.at = now
	for _, t := range h.p.State.Plan.Tasks {
		l := f.leg(t.A2AID())
		l.forget(t, wants)
		for _, a := range wants.Activities {
			if !worksOn(a, t) {
				continue
			}
			held := h.p.State.Work[t.ID].Quota
			if h.p.State.Rules >= 36 && timedOut(a, in) {
				l.timeOut(t.MayTake(h.p.State.Plan.Limits).Milliseconds(), dt, held)
			} else if !held {
				l.pass(dt, a, in)
			}
		}
		for _, timer := range wants.Timers {
			if strings.HasPrefix(timer.Key, "retry:"+t.A2AID()+":") && t.State == opt.TaskWorking && l.parks > 0 {
				l.ran += dt
			}
		}
	}
}

// worksOn reports whether a is the work on a task.
func worksOn(a machine.Activity, t *opt.Task) bool {
	return a.Of == t.ID && (a.Kind == machine.RunTask || a.Kind == machine.Elsewhere)
}

// forget drops the time of an activity that is not wanted any more and has not ended: a client has ended the task
// before a worker has begun it.
func (l *leg) forget(t *opt.Task, wants machine.Wants) {
	if l.open > 0 && !slices.ContainsFunc(wants.Activities, func(a machine.Activity) bool { return worksOn(a, t) }) {
		l.unbegun()
	}
}

// unbegun drops the time of the leg that runs: no worker has begun it.
func (l *leg) unbegun() { l.ran, l.open, l.unsure = l.ran-l.open, 0, l.unsure+l.open }

// timedOut reports whether Temporal has timed out an activity with an input.
func timedOut(a machine.Activity, in machine.Input) bool {
	ended, ok := in.(machine.Ended)
	return ok && ended.Key == a.Key && a.Kind == machine.RunTask && ended.Failed != nil && ended.Failed.TimedOut
}

// timeOut counts the time of the leg that runs, which has timed out: all that it may take, and no more. Of one that a
// quota has held back before nothing else counts.
func (l *leg) timeOut(most, dt int64, held bool) {
	if !held {
		most = min(most, l.open+dt)
	}
	l.ran, l.open = l.ran-l.open+most, 0
}

// pass adds the time until an input to that of the activity of a leg. What passed until a quota has sent it back, or
// a cancel has come before it began, does not count.
func (l *leg) pass(dt int64, a machine.Activity, in machine.Input) {
	l.ran, l.open = l.ran+dt, l.open+dt
	switch in := in.(type) {
	case machine.Held:
		if in.Key == a.Key && !a.Stop { // else it ends at once
			l.ran, l.open = l.ran-l.open, 0
		}
	case machine.Ended:
		if in.Key != a.Key {
			return
		}
		if in.Failed != nil && in.Failed.Canceled && a.Kind != machine.Elsewhere { // no worker says that it has begun
			l.unbegun()
		}
		l.open = 0
	}
}

// endsForNext notes the time that the ended tasks of a plan lose which ends for the attempt after it: under rules before 42
// it was counted only when their last legs had ended, for which such a plan does not wait.
func endsForNext(w *world, s *machine.PlanState) {
	if !s.Foreign || s.Rules >= 42 {
		return
	}
	for _, t := range s.Plan.Tasks {
		if t.State.Ended() {
			w.facts.plan(s.Plan.ID).leg(t.A2AID()).lost = s.Clocks[t.ID].Ran
		}
	}
}

// ranAsLong: the journal has how long the tasks of a plan ran, except for less than a second of each attempt.
func ranAsLong(w *world, r *run, s *machine.PlanState) {
	if s.Rules < 34 || w.facts.cut[r.id] || s.Forgotten || s.Foreign {
		return
	}
	f, ran, unsure, recorded := w.facts.plan(r.id), int64(0), int64(0), recordedTime(w, r, s)
	for _, t := range s.Plan.Tasks {
		f.leg(t.A2AID()).forget(t, r.m.Wants())
	}
	for _, l := range f.legs {
		ran, unsure = ran+l.ran-l.lost, unsure+l.unsure
	}
	if lost := ran - recorded; lost < -unsure || lost >= 1000*int64(s.Plan.Run+1) {
		w.fail("time", "the tasks of %s ran for %d ms, and the journal has %d", w.name(r.id), ran, recorded)
	}
}

// recordedTime returns how long the tasks of a plan ran by its clocks and the journal, in milliseconds.
func recordedTime(w *world, r *run, s *machine.PlanState) (ms int64) {
	for _, c := range s.Clocks {
		if ms += c.Ran; !c.Since.IsZero() {
			ms += w.facts.plan(r.id).at - c.Since.Millis()
		}
	}
	for source := range w.journal.sources {
		if id, _ := opt.SplitRoot(source); id == r.id {
			ms += 1000 * w.journal.usage(source).Ran
		}
	}
	return ms
}
