package sim

import (
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// A run is one run of a workflow: a machine, the driver that runs it in Temporal, too, and all
// that is under way for it. It is the host of the driver.
type run struct {
	w             *World
	id, objective string // workflow id, and whose rows its events change; "" for a context
	m             host
	driver        *drive.Driver
	parent        *run // that began it and gets its result; of a plan
	result        int  // the call of parent that gets it
	attempt       int  // of a plan
	began         int64
	fresh         bool // its first workflow task was not run, and begins the work
	wake          bool // its first workflow task was not run
	restores      bool // it has not read its objective from the journal yet
	ended         bool
	terminated    bool // by an operator
	canceled      bool // it was asked to stop
	reset         bool // an operator has reset it, and it has not run since
	setBack       bool // likewise, and it has not begun an epoch since
	size          drive.Size

	arrived    []arrival
	calls      map[int]func(any) // that wait for something, by number
	made       int               // calls so far
	activities []*activity
	timers     []*sleep
	records    []*recording
	again      map[string]bool // activities that begin again
	checked    map[string]bool // activities that were wanted, and whose begin had to wait for an epoch to be recorded
	held       int64           // since when it begins nothing, to continue as new; 0 for not

	task    *task // that runs now
	queue   []arrival
	shadow  bool   // it only repeats the tasks of another run
	initial []byte // the first state, for replay
	history []*task
	undo    []func()   // take back the facts of this run
	facts   planFacts  // before its first task, of a plan
	unsent  map[int]op // of a run that repeats: the ops without an answer, by call
}

// An arrival is a signal, or the result of a call.
type arrival struct {
	in    machine.Input // of a signal
	call  int
	value any
}

// A task is a workflow task: what the run got in it, and what it did.
type task struct {
	now      int64
	fresh    bool
	arrived  []arrival
	canceled bool
	reset    bool // it is the first one after a reset
	prompt   bool // the journal answers at once
	size     drive.Size
	done     []string

	facts   planFacts       // after it, of a plan
	undo    int             // how many facts the run had after it
	checked map[string]bool // activities, after it
	attempt int             // at the objective, after it
}

// An activity is a running activity.
type activity struct {
	machine.Activity
	call    int
	ride    []opt.Batch
	taken   bool              // by a worker, which has recorded ride
	refused *opt.RewoundError // how the journal has refused that
	again   bool              // it has begun before
	work    opt.Work          // of a task
	attempt int               // at the round of the task
	asked   bool              // it was asked to stop
	unsure  bool              // one worker was lost with it

	returned *opt.Outcome // with which it ends
	watches  bool         // its task waits at a gate
}

// ends reports whether a does no work itself: it cancels or watches that elsewhere, or returns
// an outcome.
func (a *activity) ends() bool { return a.work.Cancel || a.returned != nil || a.watches }

// A sleep is a timer that runs.
type sleep struct {
	machine.Timer
	call int
}

// A recording is an activity that records.
type recording struct {
	batches []opt.Batch
	again   bool // it is repeated until the journal answers
	call    int
}

// A written is how a recording ends.
type written struct {
	refused *opt.RewoundError
	err     error
}

// A planEnd is the result of a plan.
type planEnd struct {
	report *opt.Report
	ride   []opt.Batch
}

// runOf returns a run whose driver has done nothing yet.
func runOf(w *World, id, objective string, m host) *run {
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
		r.w.logInput(r, in)
	}
	r.w.checks().before(r, in)
	events := r.m.Handle(now, in)
	for _, e := range events {
		r.w.logEvent(r, e)
	}
	r.note("events", events)
	r.w.checks().after(r, in, events)
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

func (r *run) Began() a2a.Time  { return a2a.AtMillis(r.began) }
func (r *run) Now() a2a.Time    { return a2a.AtMillis(r.task.now) }
func (r *run) Arrived() bool    { return len(r.queue) > 0 }
func (r *run) Canceled() bool   { return r.task.canceled }
func (r *run) Size() drive.Size { return r.task.size }
func (r *run) Show(bool)        {}

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
		r.w.temporal().use(r, a.Key)
	}
	if !r.shadow {
		if !r.checked[a.Key] {
			r.w.checks().beginsActivity(r, started)
		}
		r.w.logf("%s: begins %s, in which %d batches ride", r.w.name(r.id), r.w.name(a.Key), len(ride))
	}
	r.activities = append(r.activities, started)
	return func() {
		r.note("cancel", a.Key)
		started.asked = true
	}
}

// activityOf returns an activity that is wanted.
func (r *run) activityOf(a machine.Activity) *activity {
	wanted := &activity{Activity: a, again: r.again[a.Key] || r.w.facts.resent[r.id+a.Key]}
	if p, ok := r.m.(planHost); ok {
		wanted.work = p.State.WorkOf(a)
		wanted.returned = p.returned(a)
		wanted.watches = a.Kind == machine.RunTask && p.State.Work[a.Of].AtGate
		wanted.attempt = p.State.Work[a.Of].Attempt
	}
	return wanted
}

// drop removes an activity that has ended.
func (r *run) drop(a *activity) {
	r.activities = slices.DeleteFunc(r.activities, func(x *activity) bool { return x == a })
}

func (r *run) Begin(c machine.Child, begun func(bool), ended func(*opt.Report, []opt.Batch)) {
	result := 0
	start := r.call(func(v any) { begun(v.(bool)) })
	result = r.call(func(v any) {
		e := v.(planEnd)
		ended(e.report, e.ride)
	})
	state := encoded(r.m.(objectiveHost).State.ChildState(c.PlanID))
	r.note("begin", c, string(state))
	r.w.temporal().use(r, childKey(c))
	r.put(op{kind: startChild, to: c.PlanID, state: state, from: r, child: c, answer: start, result: result, resets: r.w.facts.resets[r.objective]})
}

// childKey is a key of the attempt to begin a plan, which is used once.
func childKey(c machine.Child) string {
	return "child " + string(encoded([]any{c.PlanID, c.Attempt, c.Try}))
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
			r.w.temporal().use(r, t.Key)
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

func (r *run) Record(batches []opt.Batch, again bool, done func(*opt.RewoundError, error)) {
	rec := &recording{batches: batches, again: again}
	rec.call = r.call(func(v any) {
		r.records = slices.DeleteFunc(r.records, func(x *recording) bool { return x == rec })
		done(v.(written).refused, v.(written).err)
	})
	r.note("record", batches, again)
	r.records = append(r.records, rec)
}

func (r *run) RecordNow(batches []opt.Batch) bool {
	r.note("record now", batches)
	if r.task.prompt && !r.shadow {
		r.task.prompt = !r.w.early(batches) && r.w.recordAll(batches) == nil
	}
	if r.task.prompt && !r.shadow {
		r.w.logf("%s: its first events are recorded", r.w.name(r.id))
	}
	return r.task.prompt
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
		repeated := *t
		repeated.done, repeated.arrived = nil, nil
		for _, a := range t.arrived {
			repeated.arrived = append(repeated.arrived, a.copied())
		}
		r.step(&repeated)
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

// copied returns an arrival that shares no memory with a.
func (a arrival) copied() arrival {
	if a.in != nil {
		a.in = sent(a.in)
	}
	switch v := a.value.(type) {
	case drive.End:
		if v.Input != nil {
			v.Input = sent(v.Input)
		}
		a.value = v
	case planEnd:
		a.value = planEnd{copied(v.report), copied(v.ride)}
	}
	return a
}
