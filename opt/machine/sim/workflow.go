package sim

import (
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// runOf returns a run whose driver has done nothing yet.
func runOf(w *world, id, objective string, m host) *run {
	r := &run{w: w, id: id, objective: objective, m: m, calls: map[int]func(any){}, again: map[string]bool{}, checked: map[string]bool{}, unsent: map[int]op{}}
	r.driver = drive.New(r, observed{r}, m.source())
	return r
}

// step runs a workflow task.
func (r *run) step(t *task) drive.Next {
	r.task, r.queue = t, slices.Clone(t.arrived)
	if t.fresh {
		r.driver.Open()
	}
	return r.driver.Step()
}

// note notes what the run does, to compare it with a replay.
func (r *run) note(what string, args ...any) {
	if r.w.replays {
		r.task.done = append(r.task.done, what+" "+string(encoded(args)))
	}
}

// call adds a function that waits for a result.
func (r *run) call(f func(any)) int {
	r.made++
	r.calls[r.made] = f
	return r.made
}

// observed is the machine of a run under the eyes of the invariants.
type observed struct{ *run }

func (o observed) Handle(now a2a.Time, in machine.Input) []opt.Event {
	r := o.run
	if r.shadow {
		events := r.m.Handle(now, in)
		r.note("events", events)
		return events
	}
	if _, begin := in.(machine.Begin); !begin {
		r.w.logf("%s takes in %s", r.w.name(r.id), r.w.say(in))
	}
	passes(r, now.Millis(), in)
	beforeInput(r.w, r, in)
	events := r.m.Handle(now, in)
	for _, e := range events {
		r.w.logEvent(r, e)
	}
	r.note("events", events)
	afterInput(r.w, r, in, events)
	return events
}

func (o observed) Wants() machine.Wants {
	r := o.run
	wants := r.m.Wants()
	r.note("wants", wants)
	if r.shadow {
		return wants
	}
	if r.w.replays && string(encoded(r.m.Wants())) != string(encoded(wants)) {
		r.w.fail("determinism", "%s wants something else when it is asked again", r.id)
	}
	for _, t := range wants.Timers {
		if r.w.used[r.id+" "+t.Key] {
			r.w.fail("keys", "timer %s is wanted again after it has elapsed", t.Key)
		}
	}
	return wants
}

func (r *run) Began() a2a.Time { return a2a.AtMillis(r.began) }

func (r *run) Now() a2a.Time { return a2a.AtMillis(r.task.now) }

func (r *run) Arrived() bool { return len(r.queue) > 0 }

func (r *run) Canceled() bool { return r.task.canceled }

func (r *run) Size() drive.Size { return r.task.size }

func (r *run) Show(bool) {}

func (r *run) Reset() (reset bool) {
	reset, r.task.reset = r.task.reset, false
	return reset
}

func (r *run) Warn(text string, _ ...any) {
	if !r.shadow {
		r.w.logf("%s warns: %s", r.w.name(r.id), text)
	}
}

func (r *run) Deliver() {
	a := r.queue[0]
	r.queue = r.queue[1:]
	switch {
	case a.in != nil:
		r.driver.Put(a.in)
	case r.calls[a.call] != nil:
		f := r.calls[a.call]
		delete(r.calls, a.call)
		delete(r.unsent, a.call)
		f(a.value)
	}
}

func (r *run) Run(a machine.Activity, ride []opt.Batch, tries drive.Tries, ended func(drive.End)) (cancel func()) {
	started := r.activityOf(a)
	started.ride = ride
	started.call = r.call(func(v any) {
		e := v.(drive.End)
		r.drop(started)
		r.again[a.Key] = e.Again
		ended(e)
	})
	r.note("run", a, ride, tries, started.work)
	if !started.again {
		r.use(a.Key)
	}
	if !r.shadow {
		if !r.checked[a.Key] {
			beginsActivity(r.w, r, started)
		}
		r.w.logf("%s: begins %s, in which %d batches ride", r.w.name(r.id), r.w.name(a.Key), len(ride))
	}
	r.activities = append(r.activities, started)
	return func() {
		r.note("cancel", a.Key)
		started.asked = true
	}
}

func (r *run) Begin(c machine.Child, begun func(bool), ended func(*opt.Report, []opt.Batch)) {
	result := 0
	start := r.call(func(v any) { begun(v.(bool)) })
	result = r.call(func(v any) {
		e := v.(planEnd)
		ended(e.report, e.ride)
	})
	state := encoded(r.m.(objectiveHost).o.State.ChildState(c.PlanID))
	r.note("begin", c, string(state))
	r.use(childKey(c))
	r.put(op{kind: startChild, to: c.PlanID, state: state, from: r, child: c, answer: start, result: result, resets: r.w.facts.resets[r.objective]})
}

// put sends an op, except in a repetition.
func (r *run) put(o op) {
	if r.shadow {
		r.unsent[o.answer] = o
	} else {
		r.w.put(o)
	}
}

func (r *run) Send(s machine.Signal, received func(drive.Receipt)) {
	answer := r.call(func(v any) { received(v.(drive.Receipt)) })
	in := sent(r.m.message(s))
	r.note("send", s, in)
	r.put(op{kind: signal, to: r.m.target(s.To), in: in, from: r, signal: s, answer: answer})
}

func (r *run) Sleep(t machine.Timer, elapsed func()) (cancel func()) {
	s := &sleep{Timer: t}
	stop := func() { r.timers = slices.DeleteFunc(r.timers, func(x *sleep) bool { return x == s }) }
	s.call = r.call(func(any) {
		stop()
		if t.Key != "" {
			r.use(t.Key)
		}
		elapsed()
	})
	r.note("sleep", t)
	r.timers = append(r.timers, s)
	return func() {
		r.note("stop", t)
		stop()
	}
}

func (r *run) Record(of drive.Recording, done func(drive.Recorded)) {
	rec := r.recording(of)
	rec.call = r.call(func(v any) {
		r.records = slices.DeleteFunc(r.records, func(x *recording) bool { return x == rec })
		done(v.(drive.Recorded))
	})
	r.note("record", of)
	r.records = append(r.records, rec)
}

// recording returns what a worker is asked to record and to send.
func (r *run) recording(of drive.Recording) *recording {
	rec := &recording{batches: of.Batches, again: of.Again}
	if s := of.Report; s != nil {
		rec.report = &op{kind: signal, to: r.m.target(s.To), in: sent(r.m.message(*s)), from: r, signal: *s, repeat: true}
	}
	return rec
}

func (r *run) RecordNow(of drive.Recording) drive.Recorded {
	r.note("record now", of)
	rec := r.recording(of)
	switch {
	case r.lost: // later
		rec.now(r.w)
	case r.shadow:
	case r.task.prompt:
		r.w.logf("%s: its first events are recorded", r.w.name(r.id))
		if r.task.deaf && rec.report != nil {
			r.w.logf("%s does not hear of it", r.w.name(rec.report.to))
			rec.report = nil
		}
		r.task.prompt, r.task.sent = rec.now(r.w)
	default: // the try that seems to have failed may be late
		r.w.put(rec.late())
	}
	if !r.task.prompt {
		return drive.Recorded{Err: errNoAnswer}
	}
	return drive.Recorded{Sent: r.task.sent}
}

// replay repeats all workflow tasks of r with a new machine and a new driver, and compares what
// they do.
func (r *run) replay() {
	if !r.w.replays || r.terminated {
		return
	}
	again := runOf(r.w, r.id, r.objective, restored(r.m, r.initial))
	again.began, again.shadow = r.began, true
	again.repeat(r.history)
}

// repeat runs workflow tasks as another run has run them.
func (r *run) repeat(history []*task) {
	for _, t := range history {
		repeated := t.copied()
		repeated.done = nil
		r.step(repeated)
		if !slices.Equal(repeated.done, t.done) {
			r.w.fail("determinism", "%s decides otherwise when it is replayed:\n%s", r.id, difference(t.done, repeated.done))
		}
	}
}

// difference returns the first lines that differ.
func difference(was, is []string) string {
	for i := range max(len(was), len(is)) {
		a, b := "", ""
		if i < len(was) {
			a = was[i]
		}
		if i < len(is) {
			b = is[i]
		}
		if a != b {
			return fmt.Sprintf("%s\n%s", a, b)
		}
	}
	return ""
}
