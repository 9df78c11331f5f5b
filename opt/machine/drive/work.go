package drive

import (
	"maps"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A work keeps the activities, timers, children and signals that were begun for the wants of the
// machine. Their results are inputs of the machine.
type work struct {
	host       Host
	rec        *recorder
	patient    bool              // no message is written with events beside which a task begins
	begins     bool              // a task has begun since events were written
	activities map[string]*call  // by key
	tries      map[string]Tries  // by key: activities that begin again, without a ride
	pauses     map[string]func() // of activities that wait to begin again, by key
	paused     map[string]int    // how often, by key
	timers     map[string]func()
	children   map[machine.Child]bool // begun, without N and After
	starting   int                    // children whose start Temporal has not confirmed yet
	signals    map[string]bool        // outstanding, by receiver
	ended      map[string]bool        // keys of activities
	elapsed    map[string]bool        // keys of timers: an attempt waits under the key of its activity
}

// A call is an activity that runs.
type call struct {
	cancel   func()
	canceled bool
}

func newWork(h Host, r *recorder, s Source) *work {
	w := &work{
		host: h, rec: r, patient: s.Patient, activities: map[string]*call{}, tries: map[string]Tries{}, timers: map[string]func(){},
		pauses: map[string]func(){}, paused: map[string]int{},
		children: map[machine.Child]bool{}, signals: map[string]bool{}, ended: map[string]bool{}, elapsed: map[string]bool{},
	}
	maps.Copy(w.tries, s.Tries)
	return w
}

// resumable returns the tries at each activity that waits to begin again.
func (w *work) resumable() map[string]Tries {
	out := map[string]Tries{}
	for key, tries := range w.tries { // it pauses, or waits until an epoch is recorded
		if tries.Begun > 0 && w.activities[key] == nil && !w.ended[key] {
			out[key] = tries
		}
	}
	return out
}

// idle reports whether nothing is outstanding whose result only this run gets. What waits to
// begin again can begin in the next run.
func (w *work) idle() bool {
	return len(w.activities) == 0 && len(w.signals) == 0 && w.starting == 0
}

// reconcile starts wanted work that does not run, and stops unwanted work. A run that is about
// to continue as new starts nothing.
func (w *work) reconcile(wants machine.Wants, leaving bool) {
	w.stopUnwanted(wants)
	for _, s := range wants.Signals {
		if !w.signals[s.To] && w.rec.has(s.After) {
			w.send(s)
		}
	}
	if leaving {
		return
	}
	w.startDue(wants)
	for _, a := range wants.Activities {
		if w.activities[a.Key] == nil && w.pauses[a.Key] == nil && !a.Stop && w.rec.has(a.After) {
			w.startActivity(a)
		}
	}
}

// startDue starts the timers and the children that are wanted and do not run.
func (w *work) startDue(wants machine.Wants) {
	for _, t := range wants.Timers {
		if w.timers[t.Key] == nil && !w.elapsed[t.Key] {
			w.startTimer(t)
		}
	}
	for _, c := range wants.Children {
		if key := (machine.Child{PlanID: c.PlanID, Attempt: c.Attempt, Try: c.Try}); !w.children[key] && w.rec.has(c.After) {
			w.children[key] = true
			w.startChild(c)
		}
	}
}

// stopUnwanted cancels activities and timers that are not wanted any more. An activity that
// has not begun ends at once.
func (w *work) stopUnwanted(wants machine.Wants) {
	wanted := map[string]bool{}
	for _, a := range wants.Activities {
		wanted[a.Key] = !a.Stop
		if a.Stop && w.activities[a.Key] == nil {
			w.rec.put(machine.Ended{Key: a.Key, Failed: &machine.Failure{Canceled: true}})
		}
	}
	for _, t := range wants.Timers {
		wanted[t.Key] = true
	}
	for _, key := range unwanted(w.activities, wanted) {
		if c := w.activities[key]; !c.canceled {
			c.canceled = true
			c.cancel()
		}
	}
	for _, sleeping := range []map[string]func(){w.timers, w.pauses} {
		for _, key := range unwanted(sleeping, wanted) {
			sleeping[key]()
			delete(sleeping, key)
		}
	}
}

// unwanted returns the keys of running work that is not wanted, in order.
func unwanted[V any](there map[string]V, wanted map[string]bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(there)), func(key string) bool { return wanted[key] })
}

func (w *work) startTimer(t machine.Timer) {
	w.timers[t.Key] = w.host.Sleep(t, func() {
		delete(w.timers, t.Key)
		w.elapsed[t.Key] = true
		w.rec.put(machine.Elapsed{Key: t.Key})
	})
}

// pause returns a timer of the driver itself.
func pause(h Host, length time.Duration, summary string) machine.Timer {
	return machine.Timer{At: a2a.At(h.Now().Time().Add(length)), Summary: summary}
}

func (w *work) startChild(c machine.Child) {
	w.starting++
	begun := func(ok bool) {
		w.starting--
		if ok {
			w.rec.put(machine.ChildStarted{PlanID: c.PlanID, Attempt: c.Attempt, N: c.N})
		} else {
			w.rec.put(machine.ChildRefused{PlanID: c.PlanID, Attempt: c.Attempt})
		}
	}
	w.host.Begin(c, begun, func(report *opt.Report, ride []opt.Batch) {
		w.rec.carry(ride)
		w.rec.put(machine.ChildEnded{PlanID: c.PlanID, Attempt: c.Attempt, Report: report})
	})
}

// send sends the latest message to another workflow. One is outstanding to each. One that
// Temporal has refused although the workflow may be there, for example because its run has as
// many signals as it may have, is sent again after a pause.
func (w *work) send(s machine.Signal) {
	w.signals[s.To] = true
	w.host.Send(s, func(r Receipt) {
		if r == Refused {
			w.host.Sleep(pause(w.host, signalPause, "Signal "+s.To+" again"), func() { delete(w.signals, s.To) })
			return
		}
		w.received(s, r)
	})
}

// received notes how a message was received. One that may be lost is sent again.
func (w *work) received(s machine.Signal, r Receipt) {
	delete(w.signals, s.To)
	if r == Taken || r == Gone {
		w.rec.put(machine.Delivered{To: s.To, N: s.N, Notes: s.Notes, Gone: r == Gone})
	}
}

// record has the events written that are not in the journal, with a message that waits for them.
func (w *work) record(wants machine.Wants) {
	w.rec.advance(func() *machine.Signal {
		if w.patient && w.begins {
			return nil
		}
		return w.waiting(wants)
	}, w.received)
	w.begins = false
}

// recordNow does the same within the workflow task. What may not be recorded then is recorded later.
func (w *work) recordNow(wants machine.Wants) {
	rec := w.rec.recording(func() *machine.Signal { return w.waiting(wants) })
	is := w.host.RecordNow(rec)
	if rec.Report != nil {
		w.received(*rec.Report, is.Sent)
	}
	if is.Err == nil {
		w.rec.confirm(rec.Batches)
	}
}

// waiting returns a wanted message that waits for events to be recorded, which is under way from
// then on; nil if there is none.
func (w *work) waiting(wants machine.Wants) *machine.Signal {
	for _, s := range wants.Signals {
		if !w.signals[s.To] && s.After > w.rec.done {
			w.signals[s.To] = true
			return &s
		}
	}
	return nil
}

// startActivity begins an activity, in which events may ride. Temporal does not repeat that
// one. If it has to be repeated, it begins again as the same attempt, without the events, and
// Temporal repeats it from then on.
func (w *work) startActivity(a machine.Activity) {
	if w.ended[a.Key] {
		panic("activity " + a.Key + " was wanted again after it had ended")
	}
	var ride []opt.Batch
	tries, again := w.tries[a.Key]
	if a.Kind == machine.RunTask && !again {
		ride = w.rec.ride()
	}
	c := &call{}
	w.activities[a.Key], w.begins = c, w.begins || a.Kind == machine.RunTask
	c.cancel = w.host.Run(a, ride, tries, func(e End) {
		delete(w.activities, a.Key)
		w.arrived(ride, e)
		if e.Again && !c.canceled {
			w.tries[a.Key] = e.Tries
			if e.Held != "" {
				w.rec.put(machine.Held{Key: a.Key, Text: e.Held})
			}
			if e.Pause.First > 0 {
				w.pauseActivity(a.Key, e.Pause)
			}
			return
		}
		w.ended[a.Key] = true
		w.rec.put(e.Input)
	})
}

// pauseActivity has an activity begin again after a pause. If no try of it may have begun, the
// next run can begin it as well as this one.
func (w *work) pauseActivity(key string, p Pause) {
	if w.tries[key].Begun == 0 {
		delete(w.tries, key)
	}
	length := min(p.First<<min(w.paused[key], 10), p.Longest)
	w.paused[key]++
	w.pauses[key] = w.host.Sleep(pause(w.host, length, "Begin "+key+" again"), func() { delete(w.pauses, key) })
}

// arrived notes that an activity in which batches rode has ended with an outcome, or without
// one, so that it is not certain that they are in the journal.
func (w *work) arrived(ride []opt.Batch, e End) {
	if len(ride) == 0 {
		return
	}
	ended, _ := e.Input.(machine.Ended)
	refused := ended.Outcome.Refused
	w.rec.arrived(ride, e.Returned && refused == nil)
	if refused != nil {
		w.rec.refuse(refused)
	}
}
