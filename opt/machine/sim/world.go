package sim

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

const tenant = "t"

// epoch is the first time of a world, in milliseconds.
const epoch = 1_000_000_000_000

// A World is the world of a schedule. Only the schedule decides what happens in
// it.
type World struct {
	now       int64
	runs      []*run          // open, in the order in which their workflows first began
	latest    map[string]*run // by workflow id, open or not
	ops       []op
	calls     []*call
	journal   *journal
	used      map[string]bool // keys of activities and timers, by workflow
	histories bool            // histories are kept, and may be reset
	replays   bool            // they are replayed as well
	rules     int             // version of the rules of new runs
	skew      int64           // how far the clock of the API is ahead
	facts     facts           // the records of the invariants
	log       []logged        // the events in the journal, in their order
	lost      []logged        // those that it has lost, until it is rebuilt
	again     bool            // events are recorded that the journal had
	stored    func(opt.Batch, opt.Event)

	n, n2, messages, specs int // names given so far

	verbose bool
	script  []string
}

// A Result is the result of a schedule.
type Result struct {
	Problem string   // the broken invariant, and how; "" if all hold
	Script  []string // what happened, if it was requested
	Ends    map[opt.ObjectiveStatus]int
}

// A violation is a broken invariant.
type violation struct{ rule, text string }

// A Mirror gets each event that the journal of a world stores, in a batch of its own, so that
// another journal can record the same. kept returns what the world's has of the objective then,
// with the numbers of all sources, and false if it has lost events that it had.
type Mirror func(b opt.Batch, kept func() (opt.Kept, bool))

// Run plays a schedule. With script the result has a script.
func Run(s Schedule, script bool) Result { return play(newWorld(script), s) }

// RunMirrored is Run with a mirror.
func RunMirrored(s Schedule, m Mirror) Result {
	w := newWorld(false)
	w.stored = func(b opt.Batch, e opt.Event) {
		if b.Events = []opt.Event{copied(e)}; !w.again {
			m(b, func() (opt.Kept, bool) { return w.journal.kept(b.ObjectiveID), len(w.lost) == 0 })
		}
	}
	return play(w, s)
}

func play(w *World, s Schedule) Result {
	return w.result(func() {
		if len(s) > 0 {
			w.histories, w.replays = s[0][7]%4 == 0, s[0][7]%16 == 0
			w.rules -= []int{0, 1, 0, 2}[s[0][6]%4]
			w.skew = []int64{0, 0, -180_000, 180_000}[s[0][5]%4]
		}
		for _, step := range s {
			w.step(&choice{step: step})
		}
		w.settle()
		w.finishAll()
	})
}

func newWorld(script bool) *World {
	return &World{
		now: epoch, latest: map[string]*run{}, journal: newJournal(), used: map[string]bool{}, rules: machine.Rules, facts: newFacts(), verbose: script,
		stored: func(opt.Batch, opt.Event) {},
	}
}

// result runs play and returns the result. A panic in a machine is a problem,
// too.
func (w *World) result(play func()) (result Result) {
	defer func() {
		result.Script = w.script
		switch p := recover().(type) {
		case nil:
		case violation:
			result.Problem = p.rule + ": " + p.text
		default:
			result.Problem = fmt.Sprintf("panic: %v\n%s", p, where(string(debug.Stack())))
		}
	}()
	play()
	result.Ends = map[opt.ObjectiveStatus]int{}
	for _, id := range w.journal.order {
		result.Ends[w.journal.rows[id].objective.Status]++
	}
	return result
}

// where returns the functions of the machines in a stack.
func where(stack string) string {
	var out []string
	for line := range strings.Lines(stack) {
		if strings.Contains(line, "opt/machine/") && strings.Contains(line, ".go:") && !strings.Contains(line, "world.go") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return strings.Join(out[:min(len(out), 12)], "\n")
}

func (w *World) fail(rule, format string, args ...any) {
	panic(violation{rule, fmt.Sprintf(format, args...)})
}

func (w *World) logf(format string, args ...any) {
	if w.verbose {
		w.script = append(w.script, fmt.Sprintf("%7d ms  ", w.now-epoch)+fmt.Sprintf(format, args...))
	}
}

func (w *World) put(o op) { w.ops = append(w.ops, o) }

func (w *World) at() a2a.Time { return a2a.AtMillis(w.now) }

// apiTime returns the time after ms milliseconds, by the clock of the API.
func (w *World) apiTime(ms int64) a2a.Time { return a2a.AtMillis(w.now + w.skew + ms) }

// step does one random thing.
func (w *World) step(c *choice) {
	switch k := c.pick(32); {
	case k < 20:
		w.advance(w.now + []int64{0, 1, 7, 40}[c.pick(4)])
		if things := w.things(); len(things) > 0 {
			w.happen(things[c.pick(len(things))], c)
		}
	case k < 28 && len(w.lost) > 0: // the API is stopped
		w.advance(w.now + 1)
	case k < 28:
		w.advance(w.now + 1)
		w.clients().act(c)
	case k == 28:
		w.advance(w.now + []int64{1000, 60_000, 4_000_000}[c.pick(3)])
		if len(w.lost) == 0 {
			w.purge()
		}
	default:
		w.fault(c)
	}
}

// advance advances the time, but not beyond the patience of running calls.
func (w *World) advance(to int64) {
	for _, o := range w.ops {
		if o.call != nil && !o.repeat {
			to = min(to, o.call.begunAt+patience)
		}
	}
	w.now = max(w.now, to)
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
func (w *World) things() []thing {
	var out []thing
	for _, r := range w.runs {
		if (len(r.arrived) > 0 || r.wake) && !(r.restores && (w.journal.down || len(w.lost) > 0)) {
			out = append(out, thing{kind: aTask, run: r})
		}
	}
	for i, o := range w.ops {
		if !o.repeat && !w.stopped(o) {
			out = append(out, thing{kind: anOp, index: i})
		}
	}
	for _, r := range w.runs {
		for i, rec := range r.records {
			if !rec.again || !w.journal.down && !w.early(rec.batches) {
				out = append(out, thing{kind: aRecording, run: r, index: i})
			}
		}
		for i := range r.activities {
			out = append(out, thing{kind: anActivity, run: r, index: i})
		}
		for i, t := range r.timers {
			if t.At.Millis() <= w.now {
				out = append(out, thing{kind: aTimer, run: r, index: i})
			}
		}
	}
	for i, o := range w.ops {
		if o.repeat && !w.stopped(o) {
			out = append(out, thing{kind: anOp, index: i}) // after everything else
		}
	}
	return out
}

// stopped reports whether an op is one of the API or of the reconciler, which run when the journal
// is whole.
func (w *World) stopped(o op) bool {
	return len(w.lost) > 0 && (o.call != nil || o.kind == lost || o.kind == callback)
}

// happen does a thing, with random results.
func (w *World) happen(t thing, c *choice) {
	switch t.kind {
	case aTask:
		w.temporal().run(t.run, c)
	case anOp:
		k := c.pick(20)
		w.temporal().deliver(t.index, k >= 18, k == 17)
	case aRecording:
		w.temporal().write(t.run, t.index, c)
	case anActivity:
		w.temporal().endActivity(t.run, t.index, c)
	case aTimer:
		timer := t.run.timers[t.index]
		w.logf("%s: timer %s elapses: %s", w.name(t.run.id), timer.Key, timer.Summary)
		t.run.timers = slices.Delete(t.run.timers, t.index, t.index+1)
		w.temporal().answer(t.run, timer.call, nil)
	}
}

// fault makes a random fault, or an operator interfere.
func (w *World) fault(c *choice) {
	kind := c.pick(8)
	if kind < 2 {
		w.journal.down = !w.journal.down
		w.logf("the journal is down: %v", w.journal.down)
		return
	}
	if kind == 7 && c.chance(3) {
		if len(w.lost) == 0 {
			w.restoreJournal(1 + c.pick(40))
		} else {
			w.rebuildJournal()
		}
		return
	}
	if len(w.runs) == 0 {
		return
	}
	r := w.runs[c.pick(len(w.runs))]
	_, plan := r.m.(planHost)
	_, objective := r.m.(objectiveHost)
	switch {
	case kind == 7 && len(r.history) > 0 && (plan || objective):
		resetting{w.temporal()}.somewhere(r, c)
	case kind < 5 && !r.size.TooLong && !r.fresh:
		r.size.TooLong, r.size.Long = r.size.Long, true
		w.logf("%s: its history is long, too long %v", w.name(r.id), r.size.TooLong)
	case kind == 5 && (plan || objective && w.temporal().mayLose(r)) && c.chance(2):
		w.temporal().terminate(r)
	case kind == 6 && objective && c.chance(3):
		w.logf("a client cancels %s", w.name(r.id))
		w.temporal().signal(r, machine.Canceled{Principal: "alice"})
	case kind == 6 && (plan || objective) && c.chance(3):
		w.logf("%s: its workflow is asked to stop", w.name(r.id))
		r.canceled, r.wake = true, true
	case c.chance(2):
		w.temporal().signalByHand(r, c)
	default:
		r.replay()
	}
}

// newRun adds a run, which replaces an earlier run with the same id.
func (w *World) newRun(id, objective string, m host) *run {
	r := runOf(w, id, objective, m)
	r.began, r.wake = w.now, true
	if w.histories {
		r.initial, r.facts = encoded(m.state()), w.facts.ofPlan(r)
	}
	if i := slices.IndexFunc(w.runs, func(x *run) bool { return x.id == id }); i >= 0 {
		w.runs[i] = r
	} else {
		w.runs = append(w.runs, r)
	}
	w.latest[id] = r
	return r
}

// forget notes that the keys of a workflow may be used again: it begins again.
func (w *World) forget(id string) {
	forget(w.used, id+" ")
}

// settle does everything that is possible, until the rest waits for clients.
func (w *World) settle() {
	w.journal.down = false
	w.rebuildJournal()
	for range 20_000 {
		things := w.things()
		if len(things) > 0 {
			w.happen(things[0], &choice{})
			continue
		}
		switch next := w.nextTimer(); {
		case next > 0:
			w.now = max(w.now, next)
		case !compare(w.temporal()):
			w.checks().checkRest()
			return
		}
	}
	w.fail("rest", "the world does not settle")
}

// nextTimer returns the time of the next timer. It skips the timers of objectives
// that wait to be started.
func (w *World) nextTimer() int64 {
	next := int64(0)
	for _, r := range w.runs {
		for _, t := range r.timers {
			if at := t.At.Millis(); !strings.HasPrefix(t.Key, "idle:") && (next == 0 || at < next) {
				next = at
			}
		}
	}
	return next
}

// finishAll has clients do what the objectives wait for, then cancels the
// open ones. Then every workflow must have ended.
func (w *World) finishAll() {
	w.logf("helpful clients finish what waits for them")
	for range 4 {
		w.help()
		w.settle()
	}
	w.logf("clients cancel the open objectives")
	for _, id := range w.journal.order {
		if !w.journal.rows[id].objective.Status.Ended() {
			w.n2++
			w.clients().sendThis(opt.Command{ID: fmt.Sprintf("c%d", w.n2), Kind: opt.UpdateObjective, ObjectiveID: id, Status: string(opt.ObjectiveCanceled)})
		}
	}
	w.settle()
	for _, r := range w.runs {
		if r.objective == "" || !w.checks().isUnknown(r) {
			w.fail("rest", "the workflow of %s never ends", w.name(r.id))
		}
	}
	for _, id := range w.journal.order {
		if o := w.journal.rows[id].objective; !o.Status.Ended() {
			w.fail("rest", "%s is %s after it was canceled", w.name(id), o.Status)
		}
	}
}

// help answers gates, resumes pauses, starts idle objectives and completes tasks
// that clients move by hand.
func (w *World) help() {
	for _, id := range w.journal.order {
		o := &w.journal.rows[id].objective
		if o.Status.Ended() {
			continue
		}
		say := func(c opt.Command) {
			w.n2++
			c.ID, c.ObjectiveID = fmt.Sprintf("c%d", w.n2), id
			w.clients().sendThis(c)
		}
		if o.Paused || o.Status == opt.ObjectiveSubmitted || o.Reason == opt.ByHand {
			say(opt.Command{Kind: opt.UpdateObjective, Status: string(opt.ObjectiveWorking)})
		}
		for _, p := range o.Plans {
			if p.Paused && !p.Status.Ended() {
				say(opt.Command{Kind: opt.UpdatePlan, PlanID: p.ID, Status: string(opt.PlanWorking)})
			}
			for _, t := range p.Tasks {
				switch {
				case t.Gate != nil:
					for _, who := range principals {
						w.clients().answerGate(p, t.Gate, opt.Accept, who)
					}
				case t.ByHand && !t.State.Ended():
					say(opt.Command{Kind: opt.MoveTask, PlanID: p.ID, TaskID: t.ID, Status: string(opt.TaskCompleted)})
				}
			}
		}
	}
}

// retrying reports whether an undelivered command may retry an objective.
func (w *World) retrying(id string) bool {
	if r := w.temporal().open(id); r != nil {
		s := &r.m.(objectiveHost).State
		if len(r.arrived) > 0 || s.Current != nil || len(s.Commands) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(w.ops, func(o op) bool { return o.call != nil && o.call.objectiveID == id })
}

func contextWorkflow(contextID string) string { return "context " + contextID }

// clients is the part of a World with the clients.
type clients struct{ *World }

func (w *World) clients() clients { return clients{w} }

// checks is the part of a World with the invariants.
type checks struct{ *World }

func (w *World) checks() checks { return checks{w} }

func (w *World) legs() legChecks { return legChecks{w} }

// temporal is the part of a World that runs workflows and activities.
type temporal struct{ *World }

func (w *World) temporal() temporal { return temporal{w} }
