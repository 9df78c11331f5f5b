package sim

import (
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A run is one run of a workflow: a machine, and the state of its driver.
type run struct {
	id, objective string // workflow id, and whose rows its events change; "" for a context
	m             host
	parent        *run // that began it and gets its result; of a plan
	attempt       int  // of a plan
	startedAt     int64
	inbox         []machine.Input // arrived and not handled
	wake          bool            // there is something to do besides the inbox
	fresh         bool            // Opened must be handled first
	leaving       bool            // it is about to continue as new
	ended         bool
	terminated    bool // by an operator

	activities []*activity
	timers     []machine.Timer // wanted
	waiting    map[string]bool // outstanding signals, by receiver, and children that are being started
	unrecorded []opt.Event     // not known to be in the journal
	recorded   int64           // number of the latest event that is known to be in the journal
	confirmed  int64           // the same, for the next workflow task

	initial []byte // the first state, for replay
	history []taken
}

// A taken is a workflow task in the history.
type taken struct {
	now    int64
	fresh  bool
	inputs []machine.Input
	events []byte // and wants: its results
}

// An activity is a running activity.
type activity struct {
	machine.Activity
	work   opt.Work // of a task
	asked  bool     // it was asked to stop
	unsure bool     // one worker was lost with it

	returned *opt.Outcome // with which it ends
}

// ends reports whether a only ends work: it cancels it elsewhere, or returns an outcome.
func (a *activity) ends() bool { return a.work.Cancel || a.returned != nil }

// task runs one workflow task: all inputs that have arrived, then the wants. A
// lost task changes nothing, and is repeated later.
func (w temporal) task(r *run, lost bool) {
	now := w.at()
	slices.SortStableFunc(r.inbox, func(a, b machine.Input) int { return channel(a) - channel(b) })
	if lost {
		w.logf("%s: a workflow task is lost", w.name(r.id))
		w.lose(r, now)
		return
	}
	t := taken{now: w.now, fresh: r.fresh}
	if w.replays {
		for _, in := range r.inbox {
			t.inputs = append(t.inputs, sent(in))
		}
	}
	if r.fresh {
		w.handle(r, a2a.AtMillis(r.startedAt), machine.Opened{}, &t)
		r.fresh = false
	}
	r.recorded, r.wake = max(r.recorded, r.confirmed), false
	inbox := r.inbox
	r.inbox = nil
	for _, in := range inbox {
		w.logInput(r, in)
		w.handle(r, now, in, &t)
	}
	w.reconcile(r, now, &t)
	if w.replays {
		r.history = append(r.history, t)
	}
	w.finish(r)
}

// channel returns the order of an input among those of one workflow task: signals
// come first, name by name, before all others that have arrived.
func channel(in machine.Input) int {
	switch in.(type) {
	case machine.Letter, machine.Enter:
		return 0
	case machine.Command, machine.Directed, machine.TurnRequest:
		return 1
	case machine.Reported, machine.Callback:
		return 2
	case machine.Turn:
		return 3
	}
	return 4
}

// lose runs a task with a copy of the machine and drops the result.
func (w temporal) lose(r *run, now a2a.Time) {
	m := clone(r.m)
	if r.fresh {
		m.Handle(a2a.AtMillis(r.startedAt), machine.Opened{})
	}
	for _, in := range r.inbox {
		m.Handle(now, sent(in))
	}
	m.Wants()
}

func (w temporal) handle(r *run, now a2a.Time, in machine.Input, t *taken) {
	w.checks().before(r, in)
	events := r.m.Handle(now, in)
	if told, ok := in.(machine.Delivered); ok {
		delete(r.waiting, told.To)
	}
	switch in := in.(type) {
	case machine.ChildStarted:
		delete(r.waiting, "start "+in.PlanID)
	case machine.ChildRefused:
		delete(r.waiting, "start "+in.PlanID)
	}
	for _, e := range events {
		w.logEvent(r, e)
	}
	if len(events) > 0 {
		r.unrecorded = append(r.unrecorded, events...)
		r.wake = true
	}
	if w.replays {
		t.events = append(t.events, encoded(events)...)
	}
	w.checks().after(r, in, events)
}

// reconcile begins wanted work that does not run, and stops unwanted work.
func (w temporal) reconcile(r *run, now a2a.Time, t *taken) {
	w.handleBegin(r, now, t)
	wants := r.m.Wants()
	for again := true; again; wants = r.m.Wants() {
		again = false
		for _, a := range wants.Activities {
			if a.Stop && r.activity(a.Key) == nil {
				in := machine.Ended{Key: a.Key, Failed: &machine.Failure{Canceled: true}}
				w.use(r, a.Key)
				w.handle(r, now, in, t)
				t.inputs = append(t.inputs, in)
				w.handleBegin(r, now, t)
				again = true
				break
			}
		}
	}
	if w.replays {
		t.events = append(t.events, encoded(wants)...)
		if again := encoded(r.m.Wants()); string(again) != string(encoded(wants)) {
			w.fail("determinism", "%s wants something else when it is asked again", r.id)
		}
	}
	for _, a := range r.activities {
		i := slices.IndexFunc(wants.Activities, func(x machine.Activity) bool { return x.Key == a.Key })
		a.asked = i < 0 || wants.Activities[i].Stop
	}
	for _, s := range wants.Signals {
		if !r.waiting[s.To] && s.After <= r.recorded {
			r.waiting[s.To] = true
			w.put(op{kind: signal, to: r.m.target(s.To), in: sent(r.m.message(s)), from: r, signal: s})
		}
	}
	r.timers = wants.Timers
	for _, timer := range r.timers {
		if w.used[r.id+" "+timer.Key] {
			w.fail("keys", "timer %s is wanted again after it has elapsed", timer.Key)
		}
	}
	if !r.leaving {
		w.begin(r, wants)
	}
}

// handleBegin gives the machine Begin, unless the run is about to continue as
// new.
func (w temporal) handleBegin(r *run, now a2a.Time, t *taken) {
	if !r.leaving {
		w.handle(r, now, machine.Begin{}, t)
		t.inputs = append(t.inputs, machine.Begin{})
	}
}

func (w temporal) begin(r *run, wants machine.Wants) {
	for _, c := range wants.Children {
		if key := "start " + c.PlanID; !r.waiting[key] && c.After <= r.recorded {
			r.waiting[key] = true
			w.use(r, encodedKey(c))
			state := r.m.(objectiveHost).ChildState(c.PlanID)
			w.put(op{kind: startChild, to: c.PlanID, state: encoded(state), from: r, child: c})
		}
	}
	for _, a := range wants.Activities {
		if !a.Stop && r.activity(a.Key) == nil && a.After <= r.recorded {
			w.use(r, a.Key)
			started := &activity{Activity: a}
			if p, ok := r.m.(planHost); ok {
				started.work = p.WorkOf(a)
				started.returned = p.returned(a)
			}
			w.checks().beginsActivity(r, started)
			r.activities = append(r.activities, started)
			w.logf("%s: begins %s", w.name(r.id), w.name(a.Key))
		}
	}
}

// use notes that a key is used. A key may be used once, unless an operator has
// ended a plan before its events were recorded.
func (w temporal) use(r *run, key string) {
	key = r.id + " " + key
	if w.used[key] && !w.hurt[r.objective] {
		w.fail("keys", "%s is wanted again after it has ended", key)
	}
	w.used[key] = true
}

func encodedKey(c machine.Child) string {
	return "child " + string(encoded([]any{c.PlanID, c.Attempt, c.Try}))
}

// finish ends the run if it may end, or continues it as new.
func (w temporal) finish(r *run) {
	wants := r.m.Wants()
	quiet := len(r.inbox) == 0 && len(r.unrecorded) == 0 && len(r.activities) == 0 && len(r.waiting) == 0
	switch {
	case !quiet:
	case wants.Done != nil:
		w.end(r)
	case r.leaving && !wants.Bound:
		w.logf("%s: continues as a new run", w.name(r.id))
		w.replay(r)
		next := w.newRun(r.id, r.objective, clone(r.m.successor()))
		next.parent, next.attempt, next.recorded, next.confirmed = r.parent, r.attempt, r.recorded, r.recorded
		r.ended = true
		for _, child := range w.runs {
			if child.parent == r {
				child.parent = nil // its result would go to the run that began it
			}
		}
	}
}

// end ends the run. The run that began it gets its result.
func (w temporal) end(r *run) {
	w.logf("%s: its workflow ends", w.name(r.id))
	w.replay(r)
	r.ended = true
	w.remove(r.id)
	if r.parent == nil || r.parent.ended {
		return
	}
	in := machine.ChildEnded{PlanID: r.id, Attempt: r.attempt}
	if !r.terminated {
		report := copied(r.m.(planHost).State.Report)
		in.Report = &report
	}
	w.put(op{kind: childEnds, to: r.parent.id, in: in, from: r.parent})
}

// terminate has an operator end the workflow of a plan.
func (w temporal) terminate(r *run) {
	w.logf("an operator ends the workflow of %s", w.name(r.id))
	r.terminated = true
	r.unrecorded, r.activities = nil, nil
	w.hurt[r.objective] = true
	w.end(r)
}

// newRun adds a run, which replaces an earlier run with the same id.
func (w temporal) newRun(id, objective string, m host) *run {
	r := &run{id: id, objective: objective, m: m, startedAt: w.now, wake: true, waiting: map[string]bool{}}
	if w.replays {
		r.initial = encoded(m.state())
	}
	if i := slices.IndexFunc(w.runs, func(x *run) bool { return x.id == id }); i >= 0 {
		w.runs[i] = r
	} else {
		w.runs = append(w.runs, r)
	}
	w.latest[id] = r
	return r
}

// replay repeats all workflow tasks of r with a new machine, and compares the
// results.
func (w temporal) replay(r *run) {
	if !w.replays || r.terminated {
		return
	}
	m := restored(r.m, r.initial)
	for _, t := range r.history {
		var events []byte
		now := a2a.AtMillis(t.now)
		if t.fresh {
			events = append(events, encoded(m.Handle(a2a.AtMillis(r.startedAt), machine.Opened{}))...)
		}
		for _, in := range t.inputs {
			events = append(events, encoded(m.Handle(now, sent(in)))...)
		}
		events = append(events, encoded(m.Wants())...)
		if string(events) != string(t.events) {
			w.fail("determinism", "%s decides otherwise when it is replayed:\n%s\n%s", r.id, t.events, events)
		}
	}
}

func (r *run) activity(key string) *activity {
	for _, a := range r.activities {
		if a.Key == key {
			return a
		}
	}
	return nil
}

// arrive adds an input to the inbox of r.
func (w temporal) arrive(r *run, in machine.Input) { r.inbox = append(r.inbox, in) }

// open returns the run of a workflow, nil if there is none.
func (w temporal) open(id string) *run {
	for _, r := range w.runs {
		if r.id == id {
			return r
		}
	}
	return nil
}

func (w temporal) remove(id string) {
	w.runs = slices.DeleteFunc(w.runs, func(r *run) bool { return r.id == id })
}
