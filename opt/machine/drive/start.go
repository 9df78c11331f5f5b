package drive

import (
	"maps"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// startDue starts the timers and the children that are wanted and do not run.
func (d *Driver) startDue(w machine.Wants) {
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

// stopUnwanted cancels activities and timers that are not wanted any more. An activity that
// has not begun ends at once.
func (d *Driver) stopUnwanted(w machine.Wants) {
	wanted := map[string]bool{}
	for _, a := range w.Activities {
		wanted[a.Key] = !a.Stop
		if a.Stop && d.activities[a.Key] == nil {
			d.Put(machine.Ended{Key: a.Key, Failed: &machine.Failure{Canceled: true}})
		}
	}
	for _, t := range w.Timers {
		wanted[t.Key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(d.activities)) {
		if c := d.activities[key]; !wanted[key] && !c.canceled {
			c.canceled = true
			c.cancel()
		}
	}
	for _, sleeping := range []map[string]func(){d.timers, d.pauses} {
		for _, key := range slices.Sorted(maps.Keys(sleeping)) {
			if !wanted[key] {
				sleeping[key]()
				delete(sleeping, key)
			}
		}
	}
}

func (d *Driver) startTimer(t machine.Timer) {
	d.timers[t.Key] = d.host.Sleep(t, func() {
		delete(d.timers, t.Key)
		d.elapsed[t.Key] = true
		d.Put(machine.Elapsed{Key: t.Key})
	})
}

// pause returns a timer of the driver itself.
func (d *Driver) pause(length time.Duration, summary string) machine.Timer {
	return machine.Timer{At: a2a.At(d.host.Now().Time().Add(length)), Summary: summary}
}

func (d *Driver) startChild(c machine.Child) {
	d.starting++
	begun := func(ok bool) {
		d.starting--
		if ok {
			d.Put(machine.ChildStarted{PlanID: c.PlanID, Attempt: c.Attempt, N: c.N})
		} else {
			d.Put(machine.ChildRefused{PlanID: c.PlanID, Attempt: c.Attempt})
		}
	}
	d.host.Begin(c, begun, func(report *opt.Report, ride []opt.Batch) {
		d.rec.carry(ride)
		d.Put(machine.ChildEnded{PlanID: c.PlanID, Attempt: c.Attempt, Report: report})
	})
}

// send sends the latest message to another workflow. One is outstanding to each. One that
// Temporal has refused although the workflow may be there, for example because its run has as
// many signals as it may have, is sent again after a pause.
func (d *Driver) send(s machine.Signal) {
	d.signals[s.To] = true
	d.host.Send(s, func(r Receipt) {
		if r == Refused {
			d.host.Sleep(d.pause(signalPause, "Signal "+s.To+" again"), func() { delete(d.signals, s.To) })
			return
		}
		delete(d.signals, s.To)
		d.Put(machine.Delivered{To: s.To, N: s.N, Notes: s.Notes, Gone: r == Gone})
	})
}

// startActivity begins an activity, in which events may ride. Temporal does not repeat that
// one. If it has to be repeated, it begins again as the same attempt, without the events, and
// Temporal repeats it from then on.
func (d *Driver) startActivity(a machine.Activity) {
	if d.ended[a.Key] {
		panic("activity " + a.Key + " was wanted again after it had ended")
	}
	var ride []opt.Batch
	tries, again := d.tries[a.Key]
	if a.Kind == machine.RunTask && !again {
		ride = d.rec.ride()
	}
	c := &call{}
	d.activities[a.Key] = c
	c.cancel = d.host.Run(a, ride, tries, func(e End) {
		delete(d.activities, a.Key)
		d.arrived(ride, e)
		if e.Again && !c.canceled {
			d.tries[a.Key] = e.Tries
			if e.Pause.First > 0 {
				d.pauseActivity(a.Key, e.Pause)
			}
			return
		}
		d.ended[a.Key] = true
		d.Put(e.Input)
	})
}

// pauseActivity has an activity begin again after a pause. If no try of it may have begun, the
// next run can begin it as well as this one.
func (d *Driver) pauseActivity(key string, p Pause) {
	if d.tries[key].Begun == 0 {
		delete(d.tries, key)
	}
	length := min(p.First<<min(d.paused[key], 10), p.Longest)
	d.paused[key]++
	d.pauses[key] = d.host.Sleep(d.pause(length, "Begin "+key+" again"), func() { delete(d.pauses, key) })
}

// arrived notes that an activity in which batches rode has ended with an outcome, or without
// one, so that it is not certain that they are in the journal.
func (d *Driver) arrived(ride []opt.Batch, e End) {
	if len(ride) == 0 {
		return
	}
	ended, _ := e.Input.(machine.Ended)
	refused := ended.Outcome.Refused
	d.rec.arrived(ride, e.Returned && refused == nil)
	if refused != nil {
		d.rec.refuse(d, refused)
	}
}
