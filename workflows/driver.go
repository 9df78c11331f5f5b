package workflows

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A part is one of the machines and the code that carries out its wants.
type part interface {
	Handle(now a2a.Time, in machine.Input) []opt.Event
	Wants() machine.Wants
	// activity begins an activity, which records ride before it does anything
	// else, after tries of which some may have begun. The outcome reads its result
	// as an input.
	activity(ctx workflow.Context, a machine.Activity, ride []opt.Batch, tries int) (workflow.Future, outcome)
	// child begins the workflow of a plan.
	child(ctx workflow.Context, c machine.Child) workflow.ChildWorkflowFuture
	// message returns the receiver of a signal, its name and its argument.
	message(s machine.Signal) (workflowID, name string, arg any)
	// describe shows the state in Temporal's UI.
	describe(ctx workflow.Context)
}

// An outcome reads the result of an activity.
type outcome func(ctx workflow.Context, f workflow.Future) machine.Input

// A driver carries out what a machine wants. It gives all inputs that have
// arrived to the machine before it starts or stops anything, and does not block
// in between.
type driver struct {
	ctx    workflow.Context // stays valid when the workflow is canceled
	own    workflow.Context // canceled when the workflow is
	part   part
	events workflow.Selector
	rec    recorder

	inbox      []machine.Input
	canceled   bool             // the machine has got the cancellation
	activities map[string]*call // by key
	tries      map[string]int   // that may have begun, by key: activities that begin again, without a ride
	timers     map[string]workflow.CancelFunc
	children   map[machine.Child]bool // begun, without N and After
	starting   int                    // children whose start Temporal has not confirmed yet
	signals    map[string]bool        // outstanding, by receiver
	ended      map[string]bool        // keys of activities
	elapsed    map[string]bool        // keys of timers: an attempt waits under the key of its activity
	leaving    bool                   // the run is about to continue as new
	maxEvents  int                    // of history before that; 0: the server decides
}

// A call is an activity that runs.
type call struct {
	cancel   workflow.CancelFunc
	canceled bool
}

func newDriver(ctx workflow.Context, p part, rec recorder, maxEvents int) *driver {
	d := &driver{
		own: ctx, part: p, rec: rec, maxEvents: maxEvents,
		activities: map[string]*call{}, tries: map[string]int{}, timers: map[string]workflow.CancelFunc{},
		children: map[machine.Child]bool{}, signals: map[string]bool{}, ended: map[string]bool{}, elapsed: map[string]bool{},
	}
	d.ctx, _ = workflow.NewDisconnectedContext(ctx)
	d.events = workflow.NewSelector(ctx)
	nudged := workflow.NewBufferedChannel(ctx, 1)
	d.events.AddReceive(nudged, func(ch workflow.ReceiveChannel, _ bool) { ch.Receive(d.ctx, nil) })
	workflow.Go(d.ctx, func(own workflow.Context) { // a closed channel would wake the selector again and again
		ctx.Done().Receive(own, nil)
		nudged.SendAsync(true)
	})
	return d
}

// on passes each signal of a name to the machine.
func on[T any](d *driver, name string, read func(T) machine.Input) {
	d.events.AddReceive(workflow.GetSignalChannel(d.ctx, name), func(ch workflow.ReceiveChannel, _ bool) {
		var v T
		ch.Receive(d.ctx, &v)
		d.put(read(v))
	})
}

func (d *driver) put(in machine.Input) { d.inbox = append(d.inbox, in) }

// open gives the input of the run alone to the machine and records the events at
// once. A repeat of the first workflow task makes the same events, since its time
// is the start of the run.
func (d *driver) open() {
	d.handle(a2a.At(workflow.GetInfo(d.ctx).WorkflowStartTime), machine.Opened{})
	d.rec.recordNow(d.ctx)
}

// run carries out the wants of the machine until the workflow may end, or the run
// is long enough to be continued as a new one.
func (d *driver) run() (again bool) {
	for {
		d.take()
		if !d.leaving {
			d.handle(a2a.At(workflow.Now(d.ctx)), machine.Begin{})
		}
		w := d.part.Wants()
		if d.reconcile(w); len(d.inbox) > 0 {
			continue
		}
		d.part.describe(d.ctx)
		switch {
		case w.Done != nil && d.mayEnd():
			return false
		case d.leaving && !w.Bound && d.idle() && d.rec.recorded():
			return true
		case !d.leaving && w.Done == nil && d.long() && (!w.Held || d.veryLong()):
			d.leaving = true
			d.put(machine.Leaving{})
			continue
		}
		d.rec.advance(d)
		d.events.Select(d.ctx)
	}
}

// take gives all inputs that have arrived to the machine.
func (d *driver) take() {
	for {
		for d.events.HasPending() {
			d.events.Select(d.ctx)
		}
		if d.own.Err() != nil && !d.canceled {
			d.canceled = true
			d.put(machine.Canceled{})
		}
		if len(d.inbox) == 0 {
			return
		}
		inbox := d.inbox
		d.inbox = nil
		for _, in := range inbox {
			d.handle(a2a.At(workflow.Now(d.ctx)), in)
		}
	}
}

func (d *driver) handle(now a2a.Time, in machine.Input) { d.rec.add(d.part.Handle(now, in)...) }

// reconcile starts wanted work that does not run, and stops unwanted work. A run that
// is about to continue as new starts nothing, except an activity that has to be started
// again: the next run would not have the number of its tries.
func (d *driver) reconcile(w machine.Wants) {
	d.stopUnwanted(w)
	for _, s := range w.Signals {
		if !d.signals[s.To] && d.rec.has(s.After) {
			d.send(s)
		}
	}
	if !d.leaving {
		d.startDue(w)
	}
	for _, a := range w.Activities {
		_, again := d.tries[a.Key]
		if (again || !d.leaving) && d.activities[a.Key] == nil && !a.Stop && d.rec.has(a.After) {
			d.startActivity(a)
		}
	}
}

// startDue starts the timers and the children that are wanted and do not run.
func (d *driver) startDue(w machine.Wants) {
	for _, t := range w.Timers {
		if d.timers[t.Key] == nil && !d.elapsed[t.Key] {
			d.startTimer(t)
		}
	}
	for _, c := range w.Children {
		if key := (machine.Child{PlanID: c.PlanID, Attempt: c.Attempt, Try: c.Try}); !d.children[key] && d.rec.has(c.After) {
			d.children[key] = true
			d.startChild(c)
		}
	}
}

// stopUnwanted cancels activities and timers that are not wanted any more. An
// activity that has not begun ends at once.
func (d *driver) stopUnwanted(w machine.Wants) {
	wanted := map[string]bool{}
	for _, a := range w.Activities {
		wanted[a.Key] = !a.Stop
		if a.Stop && d.activities[a.Key] == nil {
			d.put(machine.Ended{Key: a.Key, Failed: &machine.Failure{Canceled: true}})
		}
	}
	for _, t := range w.Timers {
		wanted[t.Key] = true
	}
	for _, key := range workflow.DeterministicKeys(d.activities) {
		if c := d.activities[key]; !wanted[key] && !c.canceled {
			c.canceled = true
			c.cancel()
		}
	}
	for _, key := range workflow.DeterministicKeys(d.timers) {
		if !wanted[key] {
			d.timers[key]()
			delete(d.timers, key)
		}
	}
}

func (d *driver) startTimer(t machine.Timer) {
	ctx, cancel := workflow.WithCancel(d.ctx)
	d.timers[t.Key] = cancel
	left := max(0, t.At.Time().Sub(workflow.Now(d.ctx)))
	d.events.AddFuture(workflow.NewTimerWithOptions(ctx, left, workflow.TimerOptions{Summary: t.Summary}), func(f workflow.Future) {
		if f.Get(d.ctx, nil) != nil {
			return // it was not wanted any more
		}
		delete(d.timers, t.Key)
		d.elapsed[t.Key] = true
		d.put(machine.Elapsed{Key: t.Key})
	})
}

func (d *driver) startChild(c machine.Child) {
	future := d.part.child(d.ctx, c)
	d.starting++
	d.events.AddFuture(future.GetChildWorkflowExecution(), func(f workflow.Future) {
		d.starting--
		if f.Get(d.ctx, nil) != nil {
			d.put(machine.ChildRefused{PlanID: c.PlanID, Attempt: c.Attempt})
			return
		}
		d.put(machine.ChildStarted{PlanID: c.PlanID, Attempt: c.Attempt, N: c.N})
		d.events.AddFuture(future, func(f workflow.Future) {
			var result PlanResult
			if err := f.Get(d.ctx, &result); err != nil {
				var ok bool
				if result, ok = ResultOf(err); !ok {
					d.put(machine.ChildEnded{PlanID: c.PlanID, Attempt: c.Attempt})
					return
				}
			}
			d.rec.carry(result.Ride)
			d.put(machine.ChildEnded{PlanID: c.PlanID, Attempt: c.Attempt, Report: &result.Report})
		})
	})
}

// send sends the latest message to another workflow. One is outstanding to each.
func (d *driver) send(s machine.Signal) {
	workflowID, name, arg := d.part.message(s)
	d.signals[s.To] = true
	d.events.AddFuture(workflow.SignalExternalWorkflow(d.ctx, workflowID, "", name, arg), func(f workflow.Future) {
		delete(d.signals, s.To)
		d.put(machine.Delivered{To: s.To, N: s.N, Gone: f.Get(d.ctx, nil) != nil})
	})
}

// startActivity begins an activity, in which events may ride. Temporal does not
// repeat that one. If it has to be repeated, it begins again as the same attempt,
// without the events, and Temporal repeats it from then on.
func (d *driver) startActivity(a machine.Activity) {
	if d.ended[a.Key] {
		panic("activity " + a.Key + " was wanted again after it had ended")
	}
	var ride []opt.Batch
	tries, again := d.tries[a.Key]
	if a.Kind == machine.RunTask && !again {
		ride = d.rec.ride()
	}
	ctx, cancel := workflow.WithCancel(d.ctx)
	c := &call{cancel: cancel}
	d.activities[a.Key] = c
	future, read := d.part.activity(ctx, a, ride, tries)
	d.events.AddFuture(future, func(f workflow.Future) {
		delete(d.activities, a.Key)
		err := f.Get(d.ctx, nil)
		if len(ride) > 0 {
			d.rec.arrived(ride, err == nil)
		}
		if begun, lost := triesOf(err); lost && len(ride) > 0 && !c.canceled {
			d.tries[a.Key] = begun
			return
		}
		if unreadable(err) && !c.canceled {
			d.tries[a.Key] = tries // a worker without the key has not begun
			return
		}
		d.ended[a.Key] = true
		d.put(read(d.ctx, f))
	})
}

// idle reports whether no input has arrived, and nothing is outstanding whose
// result only this run gets.
func (d *driver) idle() bool {
	return len(d.inbox) == 0 && !d.events.HasPending() && len(d.activities) == 0 && len(d.signals) == 0 && d.starting == 0
}

// mayEnd reports whether the workflow may end: all its events are recorded, or
// are part of its result.
func (d *driver) mayEnd() bool {
	return d.idle() && (d.rec.recorded() || d.rec.rides != nil && d.rec.rides()) && !d.rec.writing
}

// long reports whether the history is long enough to continue as new.
func (d *driver) long() bool {
	info := workflow.GetInfo(d.ctx)
	return info.GetContinueAsNewSuggested() || d.maxEvents > 0 && info.GetCurrentHistoryLength() > d.maxEvents
}

// Histories that are held because an activity may take long continue as new only here:
// Temporal ends those of 51,200 events or 50 MiB.
const (
	mostEvents = 40_000
	mostBytes  = 40 << 20
)

// veryLong reports whether the run must continue as new, even while activities run.
func (d *driver) veryLong() bool {
	info := workflow.GetInfo(d.ctx)
	return info.GetCurrentHistoryLength() > mostEvents || info.GetCurrentHistorySize() > mostBytes
}

const (
	workflowTaskTimeout = 3 * time.Second
	heartbeatTimeout    = 3 * time.Second // of activities that belong to no objective: without a heartbeat for so long, the worker is lost
	lostWorkers         = 20              // that one attempt at a task may cost
)

// workerTimeout returns after how long without a heartbeat the worker of an activity is
// lost.
func workerTimeout(l opt.Limits) time.Duration {
	return time.Duration(l.OrDefault().WorkerTimeout) * time.Second
}

// triesOf returns how many tries at an activity may have begun if err says that it
// has to be repeated: its worker was lost or stops, the journal could not be
// reached, or no worker took it in time.
func triesOf(err error) (n int, lost bool) {
	var timeout *temporal.TimeoutError
	var app *temporal.ApplicationError
	switch {
	case errors.As(err, &timeout):
		switch timeout.TimeoutType() {
		case enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START:
			return 0, true
		case enumspb.TIMEOUT_TYPE_HEARTBEAT:
			return 1, true
		}
	case unreadable(err):
		return 0, true
	case errors.As(err, &app):
		return 1, !app.NonRetryable()
	}
	return 0, false
}
