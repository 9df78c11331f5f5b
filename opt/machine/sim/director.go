package sim

import (
	"slices"
	"strings"

	"longhaul/opt"
	"longhaul/opt/machine"
)

// A director decides what happens next: by the choices of a schedule, or so that the world comes to
// rest.
type director struct {
	w        *world
	temporal temporal
	workers  workers
	clients  clients
	operator resetting
}

func newDirector(w *world) director {
	return director{w, temporal{w}, workers{w}, clients{w, temporal{w}}, resetting{w}}
}

// step does one random thing.
func (d director) step(c *choice) {
	switch k := c.pick(32); {
	case k < 20:
		d.w.advance(d.w.now + []int64{0, 1, 7, 40}[c.pick(4)])
		if things := d.things(); len(things) > 0 {
			d.happen(things[c.pick(len(things))], c)
		}
	case k < 28 && !d.w.journal.whole(): // the API is stopped
		d.w.advance(d.w.now + 1)
	case k < 28:
		d.w.advance(d.w.now + 1)
		d.clients.act(c)
	case k == 28:
		d.w.advance(d.w.now + []int64{1000, 60_000, 4_000_000}[c.pick(3)])
		if d.w.journal.whole() {
			d.w.journal.purge()
			d.temporal.enterAgain()
		}
	default:
		d.fault(c)
	}
}

// A thing is possible now.
type thing struct {
	kind  thingKind
	run   *run
	index int // of an op, a recording, an activity or a timer
}

type thingKind int

const (
	aTask thingKind = iota
	anOp
	aRecording
	anActivity
	aTimer
)

// things lists the possible events, beginning with what takes the least time.
func (d director) things() []thing {
	var out []thing
	for _, r := range d.w.runs {
		if (len(r.arrived) > 0 || r.wake) && !(r.restores && (d.w.journal.down || !d.w.journal.whole())) {
			out = append(out, thing{kind: aTask, run: r})
		}
	}
	out = append(out, d.deliveries(false)...)
	for _, r := range d.w.runs {
		out = append(out, d.workOf(r)...)
	}
	return append(out, d.deliveries(true)...) // after everything else
}

// deliveries lists the ops that can be delivered: those that were delivered before, or the others.
func (d director) deliveries(repeat bool) (out []thing) {
	for i, o := range d.w.ops {
		if o.repeat == repeat && !d.stopped(o) {
			out = append(out, thing{kind: anOp, index: i})
		}
	}
	return out
}

// workOf lists what a run waits for that can end.
func (d director) workOf(r *run) (out []thing) {
	for i, rec := range r.records {
		if !rec.again || !d.w.journal.down && !d.w.journal.early(rec.batches) {
			out = append(out, thing{kind: aRecording, run: r, index: i})
		}
	}
	for i := range r.activities {
		out = append(out, thing{kind: anActivity, run: r, index: i})
	}
	for i, t := range r.timers {
		if t.At.Millis() <= d.w.now {
			out = append(out, thing{kind: aTimer, run: r, index: i})
		}
	}
	return out
}

// stopped reports whether an op is one of the API or of the reconciler, which run when the journal
// is whole.
func (d director) stopped(o op) bool {
	return !d.w.journal.whole() && (o.call != nil || o.kind == lost || o.kind == callback)
}

// happen does a thing, with random results.
func (d director) happen(t thing, c *choice) {
	switch t.kind {
	case aTask:
		d.temporal.run(t.run, c)
	case anOp:
		k := c.pick(20)
		d.deliver(t.index, k >= 18, k == 17)
	case aRecording:
		d.workers.write(t.run, t.index, c)
	case anActivity:
		d.workers.endActivity(t.run, t.index, c)
	case aTimer:
		timer := t.run.timers[t.index]
		d.w.logf("%s: timer %s elapses: %s", d.w.name(t.run.id), timer.Key, timer.Summary)
		t.run.timers = slices.Delete(t.run.timers, t.index, t.index+1)
		t.run.answer(timer.call, nil)
	}
}

// deliver delivers an op. With twice it stays and is delivered again later, which
// also models a message that others overtake. With refused, Temporal does not take a signal.
func (d director) deliver(i int, twice, refused bool) {
	o := d.w.ops[i]
	d.w.ops = append(d.w.ops[:i:i], d.w.ops[i+1:]...)
	switch {
	case o.call != nil:
		d.clients.deliverCall(o, twice)
	case o.kind == callback:
		d.clients.deliverCallback(o, twice)
	default:
		d.temporal.deliver(o, twice, refused)
	}
}

// fault makes a random fault, or an operator interfere.
func (d director) fault(c *choice) {
	kind, j := c.pick(8), d.w.journal
	switch {
	case kind < 2:
		j.down = !j.down
		d.w.logf("the journal is down: %v", j.down)
	case kind == 7 && c.chance(3):
		if j.whole() {
			j.restore(1 + c.pick(40))
		} else {
			j.rebuild()
		}
	case len(d.w.runs) > 0:
		d.interfere(d.w.runs[c.pick(len(d.w.runs))], kind, c)
	}
}

// interfere does something to the workflow of r that its machine does not expect.
func (d director) interfere(r *run, kind int, c *choice) {
	switch {
	case d.spares(r, kind):
	case kind == 7 && len(r.history) > 0:
		d.operator.somewhere(r, c)
	case kind < 5 && !r.size.TooLong && !r.fresh:
		r.size.TooLong, r.size.Long = r.size.Long, true
		d.w.logf("%s: its history is long, too long %v", d.w.name(r.id), r.size.TooLong)
	case d.ends(r, kind, c):
	case c.chance(2):
		d.temporal.signalByHand(r, c)
	default:
		r.replay()
	}
}

// spares reports whether no operator ends or resets r: a context under earlier rules, where others work beside each other
// then, or wait for ever.
func (d director) spares(r *run, kind int) bool {
	return r.objective == "" && d.w.rules < 44 && (kind == 5 || kind == 7)
}

// ends ends the workflow of r, or asks it to stop, and reports whether it did.
func (d director) ends(r *run, kind int, c *choice) bool {
	switch {
	case kind == 5 && d.temporal.mayLose(r) && c.chance(2):
		d.temporal.terminate(r)
	case kind == 6 && r.objective == r.id && c.chance(3):
		d.w.logf("a client cancels %s", d.w.name(r.id))
		r.signal(machine.Canceled{Principal: "alice", Text: "It is not needed any more."})
	case kind == 6 && r.objective != "" && c.chance(3):
		d.w.logf("%s: its workflow is asked to stop", d.w.name(r.id))
		r.canceled, r.wake = true, true
	default:
		return false
	}
	return true
}

// settle does everything that is possible, until the rest waits for clients.
func (d director) settle() {
	d.w.journal.down = false
	d.w.journal.rebuild()
	for range 20_000 {
		things := d.things()
		if len(things) > 0 {
			d.happen(things[0], &choice{})
			continue
		}
		switch next := d.nextTimer(); {
		case next > 0:
			d.w.now = max(d.w.now, next)
		case !d.temporal.reconcile() && !d.temporal.enterAgain():
			checkRest(d.w)
			for _, r := range d.w.runs {
				r.replay()
			}
			return
		}
	}
	d.w.fail("rest", "the world does not settle")
}

// nextTimer returns the time of the next timer. It skips the timers of objectives
// that wait to be started.
func (d director) nextTimer() int64 {
	next := int64(0)
	for _, r := range d.w.runs {
		for _, t := range r.timers {
			if at := t.At.Millis(); !strings.HasPrefix(t.Key, "idle:") && (next == 0 || at < next) {
				next = at
			}
		}
	}
	return next
}

// finishAll has clients do what the objectives wait for, and also the forks of those in which people have
// decided, then cancels the open ones. Then every workflow must have ended.
func (d director) finishAll(s Schedule) {
	d.w.logf("helpful clients finish what waits for them")
	d.helpAll()
	if d.w.forks {
		d.forkDecided(s)
	}
	d.w.logf("clients cancel the open objectives")
	for _, id := range d.w.journal.order {
		if !d.w.journal.rows[id].objective.Status.Ended() {
			d.say(id, opt.Command{Kind: opt.UpdateObjective, Status: string(opt.ObjectiveCanceled)})
		}
	}
	d.settle()
	for _, r := range d.w.runs {
		if r.objective == "" || !isUnknown(d.w, r) && !waitsInVain(d.w, r) {
			d.w.fail("rest", "the workflow of %s never ends", d.w.name(r.id))
		}
	}
	for _, id := range d.w.journal.order {
		if o := d.w.journal.rows[id].objective; !o.Status.Ended() {
			d.w.fail("rest", "%s is %s after it was canceled", d.w.name(id), o.Status)
		}
	}
}

// helpAll has clients help until nothing waits for them that can continue.
func (d director) helpAll() {
	for range 4 {
		d.help()
		d.settle()
	}
}

// forkDecided has clients fork the objectives in which people have decided, most of them from their latest
// event, and then forks of them, and help those.
func (d director) forkDecided(s Schedule) {
	for i := 0; i < len(d.w.journal.order) && i < len(s) && i < 9; i++ {
		r := d.w.journal.rows[d.w.journal.order[i]]
		decides := func(e opt.Event) bool { return e.Decision.Original() != nil }
		if !slices.ContainsFunc(d.w.journal.eventsOf(r.objective.ID), decides) {
			continue
		}
		step := s[i]
		if step[0]%4 > 0 {
			step[0] = 0
		}
		d.clients.fork(r, &choice{step: step})
		d.helpAll()
	}
}

// help answers gates, resumes pauses, starts idle objectives and completes tasks
// that clients move by hand.
func (d director) help() {
	for _, id := range d.w.journal.order {
		o := &d.w.journal.rows[id].objective
		if o.Status.Ended() {
			continue
		}
		if o.Paused || o.Status == opt.ObjectiveSubmitted || o.Reason == opt.ByHand {
			d.say(id, opt.Command{Kind: opt.UpdateObjective, Status: string(opt.ObjectiveWorking)})
		}
		for _, p := range o.Plans {
			if p.Paused && !p.Status.Ended() {
				d.say(id, opt.Command{Kind: opt.UpdatePlan, PlanID: p.ID, Status: string(opt.PlanWorking)})
			}
			for _, t := range p.Tasks {
				d.helpTask(p, t)
			}
		}
	}
}

func (d director) helpTask(p *opt.Plan, t *opt.Task) {
	switch {
	case t.Gate != nil:
		for _, who := range principals {
			d.clients.answerGate(t.Gate, opt.Accept, who)
		}
	case t.ByHand && !t.State.Ended():
		d.say(p.ObjectiveID, opt.Command{Kind: opt.MoveTask, PlanID: p.ID, TaskID: t.ID, Status: string(opt.TaskCompleted)})
	}
}

// say has a client send a command.
func (d director) say(objectiveID string, c opt.Command) {
	c.ID, c.ObjectiveID = d.clients.newCommandID(), objectiveID
	d.clients.sendThis(c)
}
