package rehearse

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// A world is where one rehearsal happens. Its time is virtual: it advances to the next appointment.
type world struct {
	Assumptions
	plan Planner
	draw func() float64 // a share from 0 to 1: how long the next thing takes

	now   a2a.Time
	due   []*appointment // sorted
	runs  []*run         // in the order in which they began
	steps int
	busy  int       // tasks that run
	queue []*func() // that begin tasks, when others have ended

	recorded map[string]int64 // number of the last event, by source
	events   []opt.Event
	tasks    map[string]*opt.Task // as they were planned, by id
	gates    map[string]opt.Gate  // that are open, by id
	asked    map[string]bool      // people who were asked, by gate and name
	overran  map[string]bool      // ids of tasks of which an attempt took longer than it may
}

// An appointment is what happens at a time.
type appointment struct {
	at int64
	do func()
}

// maxSteps bounds the steps of all drivers of a rehearsal without another bound.
const maxSteps = 50_000

// most returns after how many steps the rehearsal is cut off.
func (w *world) most() int { return cmp.Or(w.Steps, maxSteps) }

// errEndless says that a rehearsal was cut off.
var errEndless = errors.New("the work does not end: the same happens again and again")

// after has something happen after a time. It does not after a cancellation.
func (w *world) after(wait time.Duration, do func()) (cancel func()) {
	a := &appointment{w.now.Millis() + max(0, wait.Milliseconds()), do}
	i, _ := slices.BinarySearchFunc(w.due, a, func(x, y *appointment) int { return cmp.Or(cmp.Compare(x.at, y.at), -1) })
	w.due = slices.Insert(w.due, i, a)
	return func() { w.due = slices.DeleteFunc(w.due, func(x *appointment) bool { return x == a }) }
}

// play plays an objective until it has ended, or nothing is due any more.
func (w *world) play(o opt.Opening) error {
	w.begin(o.Objective.ID, objectivePart{machine.NewObjective(o, 0, machine.Rules), w}, nil)
	for {
		w.settle()
		if w.Stopped != nil {
			if err := w.Stopped(); err != nil {
				return err
			}
		}
		switch {
		case w.steps > w.most():
			return errEndless
		case len(w.runs) == 0 || len(w.due) == 0:
			return nil
		}
		next := w.due[0]
		w.due, w.now = w.due[1:], a2a.AtMillis(max(w.now.Millis(), next.at))
		next.do()
	}
}

// settle runs all drivers until none has anything to do at this time.
func (w *world) settle() {
	for more := true; more && w.steps <= w.most(); {
		more = false
		for _, r := range slices.Clone(w.runs) {
			if len(r.arrived) > 0 {
				w.steps++
				more = true
				r.step()
			}
		}
	}
}

// record takes in events, each once.
func (w *world) record(batches []opt.Batch) {
	for _, b := range batches {
		for _, e := range b.Events {
			if e.N <= w.recorded[b.Source] {
				continue
			}
			w.recorded[b.Source] = e.N
			w.events = append(w.events, e)
			w.notice(e)
		}
	}
}

// notice has people see what they are asked.
func (w *world) notice(e opt.Event) {
	if e.Plan != nil {
		for _, t := range e.Plan.Tasks {
			w.tasks[t.ID] = t
		}
	}
	if e.Kind != opt.TaskMoved || e.PlanID == "" {
		return
	}
	for id, g := range w.gates {
		if g.TaskID == e.TaskID {
			delete(w.gates, id)
		}
	}
	if g := e.Gate; g != nil {
		w.gates[g.ID] = *g
		w.ask(*g)
	}
}

// enter has a task begin when the quota of running tasks has a place for it, which leave gives to the next one. A
// task that leaves before never begins.
func (w *world) enter(begin func()) (leave func()) {
	w.queue = append(w.queue, &begin)
	w.admit()
	return func() {
		if i := slices.Index(w.queue, &begin); i >= 0 {
			w.queue = slices.Delete(w.queue, i, i+1)
			return
		}
		w.busy--
		w.admit()
	}
}

// admit begins those tasks that wait for places that are free.
func (w *world) admit() {
	limit := w.Quotas.Limit(w.Tenant, access.RunningTasks)
	for len(w.queue) > 0 && (limit <= 0 || int64(w.busy) < limit) {
		begin := w.queue[0]
		w.queue = w.queue[1:]
		w.busy++
		(*begin)()
	}
}

// A run is one run of a workflow: the host of its driver.
type run struct {
	*world
	id      string
	part    part
	driver  *drive.Driver
	arrived []func()
	ended   func(*opt.Report, []opt.Batch) // of a plan
}

// begin begins a run, whose result goes to ended.
func (w *world) begin(id string, p part, ended func(*opt.Report, []opt.Batch)) {
	r := &run{world: w, id: id, part: p, ended: ended}
	r.driver = drive.New(r, p, p.source())
	r.arrived = []func(){r.driver.Open}
	w.runs = append(w.runs, r)
}

func (w *world) run(id string) *run {
	for _, r := range w.runs {
		if r.id == id {
			return r
		}
	}
	return nil
}

func (r *run) step() {
	if r.driver.Step() != drive.Finish {
		return
	}
	r.runs = slices.DeleteFunc(r.runs, func(x *run) bool { return x == r })
	rest := r.driver.Rest()
	if r.ended == nil {
		r.record(rest)
		return
	}
	r.ended(r.part.report(), rest)
}

func (r *run) arrive(f func()) { r.arrived = append(r.arrived, f) }

func (r *run) Began() a2a.Time  { return r.now }
func (r *run) Now() a2a.Time    { return r.now }
func (r *run) Arrived() bool    { return len(r.arrived) > 0 }
func (r *run) Canceled() bool   { return false }
func (r *run) Reset() bool      { return false }
func (r *run) Size() drive.Size { return drive.Size{} }
func (r *run) Show(bool)        {}

func (r *run) Warn(string, ...any) {}

func (r *run) Deliver() {
	f := r.arrived[0]
	r.arrived = r.arrived[1:]
	f()
}

func (r *run) Run(a machine.Activity, ride []opt.Batch, _ drive.Tries, ended func(drive.End)) (cancel func()) {
	r.record(ride)
	over, leave := false, func() {}
	end := func(in machine.Input) {
		if !over {
			over = true
			leave()
			r.arrive(func() { ended(drive.End{Input: in, Returned: true}) })
		}
	}
	in, takes := r.part.perform(a)
	begin := func() { r.after(takes, func() { end(in) }) }
	if a.Kind != machine.RunTask || len(r.past) > 0 { // past runs have waited, too
		begin()
	} else {
		leave = r.enter(begin)
	}
	return func() {
		end(machine.Ended{Key: a.Key, Failed: &machine.Failure{Code: string(opt.TaskCanceled), Canceled: true}})
	}
}

func (r *run) Begin(c machine.Child, begun func(bool), ended func(*opt.Report, []opt.Batch)) {
	r.begin(c.PlanID, r.part.child(c), func(report *opt.Report, rest []opt.Batch) {
		r.arrive(func() { ended(report, rest) })
	})
	r.arrive(func() { begun(true) })
}

func (r *run) Send(s machine.Signal, received func(drive.Receipt)) {
	receipt := r.deliver(s)
	r.arrive(func() { received(receipt) })
}

// deliver has a message arrive at its receiver.
func (r *run) deliver(s machine.Signal) drive.Receipt {
	to := r.world.run(s.To)
	if to == nil {
		return drive.Gone
	}
	in := r.part.message(s)
	to.arrive(func() { to.driver.Put(in) })
	return drive.Taken
}

func (r *run) Sleep(t machine.Timer, elapsed func()) (cancel func()) {
	return r.after(t.At.Time().Sub(r.now.Time()), func() { r.arrive(elapsed) })
}

func (r *run) Record(of drive.Recording, done func(drive.Recorded)) {
	is := r.RecordNow(of)
	r.arrive(func() { done(is) })
}

func (r *run) RecordNow(of drive.Recording) (is drive.Recorded) {
	r.record(of.Batches)
	if of.Report != nil {
		is.Sent = r.deliver(*of.Report)
	}
	return is
}
