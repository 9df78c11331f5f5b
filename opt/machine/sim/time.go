package sim

import (
	"strings"

	"longhaul/opt"
	"longhaul/opt/machine"
)

// passes adds what has passed since the input before to the time that the tasks of a plan ran: those that an activity
// works on, or whose next leg a timer begins. What passed until a quota has sent an activity back does not count.
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
		for _, a := range wants.Activities {
			if a.Of != t.ID || a.Kind != machine.RunTask && a.Kind != machine.Elsewhere || h.p.State.Work[t.ID].Quota {
				continue
			}
			l.ran, l.open = l.ran+dt, l.open+dt
			switch in := in.(type) {
			case machine.Held:
				if in.Key == a.Key && !a.Stop { // else it ends at once
					l.ran, l.open = l.ran-l.open, 0
				}
			case machine.Ended:
				if in.Key == a.Key {
					l.open = 0
				}
			}
		}
		for _, timer := range wants.Timers {
			if strings.HasPrefix(timer.Key, "retry:"+t.A2AID()+":") && t.State == opt.TaskWorking && l.parks > 0 {
				l.ran += dt
			}
		}
	}
}

// ranAsLong: the journal has how long the tasks of a plan ran, except for less than a second of each attempt. An epoch
// that a reset has ended has counted some of it, too.
func ranAsLong(w *world, r *run, s *machine.PlanState) {
	if s.Rules < 31 || w.journal.rows[r.objective] == nil || w.facts.cut[r.id] || w.facts.cut[r.objective] || w.facts.resets[r.id]+w.facts.resets[r.objective] > 0 || s.Forgotten || s.Foreign {
		return
	}
	f, ran, recorded := w.facts.plan(r.id), int64(0), int64(0)
	for _, l := range f.legs {
		ran += l.ran
	}
	for _, c := range s.Clocks {
		if recorded += c.Ran; !c.Since.IsZero() {
			recorded += f.at - c.Since.Millis()
		}
	}
	for source, events := range w.journal.sources {
		name, _ := opt.SplitEpoch(source)
		if id, _ := opt.SplitRoot(name); id != r.id {
			continue
		}
		for _, content := range events {
			if e := event(content); e.Kind == opt.UsageAdded {
				recorded += 1000 * e.Usage.Ran
			}
		}
	}
	if lost := ran - recorded; lost < 0 || lost >= 1000*int64(s.Plan.Run+1) {
		w.fail("time", "the tasks of %s ran for %d ms, and the journal has %d", w.name(r.id), ran, recorded)
	}
}
