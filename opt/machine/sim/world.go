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
	now     int64
	runs    []*run          // open, in the order in which their workflows first began
	latest  map[string]*run // by workflow id, open or not
	ops     []op
	calls   []*call
	journal *journal
	used    map[string]bool // keys of activities and timers, by workflow
	hurt    map[string]bool // objectives of which an operator has ended a plan
	replays bool            // histories are kept and replayed
	facts   facts           // the records of the invariants

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

// Run plays a schedule. With script the result has a script.
func Run(s Schedule, script bool) Result {
	w := newWorld(script)
	return w.result(func() {
		w.replays = len(s) > 0 && s[0][7]%16 == 0
		for _, step := range s {
			w.step(&choice{step: step})
		}
		w.settle()
		w.finishAll()
	})
}

func newWorld(script bool) *World {
	return &World{
		now: epoch, latest: map[string]*run{}, journal: newJournal(), used: map[string]bool{}, hurt: map[string]bool{}, facts: newFacts(), verbose: script,
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

// step does one random thing.
func (w *World) step(c *choice) {
	switch k := c.pick(32); {
	case k < 20:
		w.advance(w.now + []int64{0, 1, 7, 40}[c.pick(4)])
		if things := w.things(); len(things) > 0 {
			w.happen(things[c.pick(len(things))], c)
		}
	case k < 28:
		w.advance(w.now + 1)
		w.clients().act(c)
	case k == 28:
		w.advance(w.now + []int64{1000, 60_000, 4_000_000}[c.pick(3)])
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
	index int // of an op, an activity or a timer
}

type thingKind int

const (
	aTask thingKind = iota
	anOp
	aCommit
	anActivity
	aTimer
)

// things lists the possible events, beginning with what takes the least time.
func (w *World) things() []thing {
	var out []thing
	for _, r := range w.runs {
		if len(r.inbox) > 0 || r.wake {
			out = append(out, thing{kind: aTask, run: r})
		}
	}
	for i, o := range w.ops {
		if !o.repeat {
			out = append(out, thing{kind: anOp, index: i})
		}
	}
	for _, r := range w.runs {
		if len(r.unrecorded) > 0 && !w.journal.down {
			out = append(out, thing{kind: aCommit, run: r})
		}
		for i := range r.activities {
			out = append(out, thing{kind: anActivity, run: r, index: i})
		}
		for i, t := range r.timers {
			if t.At.Millis() <= w.now && !w.used[r.id+" "+t.Key] {
				out = append(out, thing{kind: aTimer, run: r, index: i})
			}
		}
	}
	for i, o := range w.ops {
		if o.repeat {
			out = append(out, thing{kind: anOp, index: i}) // after everything else
		}
	}
	return out
}

// happen does a thing, with random results.
func (w *World) happen(t thing, c *choice) {
	switch t.kind {
	case aTask:
		w.temporal().task(t.run, c.chance(12))
	case anOp:
		w.temporal().deliver(t.index, c.chance(10))
	case aCommit:
		events := len(t.run.unrecorded)
		heard := !c.chance(8)
		if c.chance(6) {
			events = c.pick(events) + 1
		}
		w.commit(t.run, events, heard)
	case anActivity:
		w.temporal().endActivity(t.run, t.index, c)
	case aTimer:
		timer := t.run.timers[t.index]
		w.temporal().use(t.run, timer.Key)
		w.logf("%s: timer %s elapses", w.name(t.run.id), timer.Key)
		w.temporal().arrive(t.run, machine.Elapsed{Key: timer.Key})
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
	if len(w.runs) == 0 {
		return
	}
	r := w.runs[c.pick(len(w.runs))]
	_, plan := r.m.(planHost)
	_, objective := r.m.(objectiveHost)
	switch {
	case kind < 5 && !r.leaving && !r.fresh:
		w.logf("%s: its history is long", w.name(r.id))
		r.leaving, r.wake = true, true
		if objective {
			w.temporal().arrive(r, machine.Leaving{})
		}
	case kind == 5 && plan && r.parent != nil && !r.parent.leaving && c.chance(2): // a later run of the objective would not notice
		w.temporal().terminate(r)
	case kind == 6 && (plan || objective) && c.chance(3):
		w.logf("%s: its workflow is asked to stop", w.name(r.id))
		w.temporal().arrive(r, machine.Canceled{})
	default:
		w.temporal().replay(r)
	}
}

// settle does everything that is possible, until the rest waits for clients.
func (w *World) settle() {
	w.journal.down = false
	for range 20_000 {
		things := w.things()
		if len(things) > 0 {
			w.happen(things[0], &choice{})
			continue
		}
		next := w.nextTimer()
		if next == 0 {
			w.checks().checkRest()
			return
		}
		w.now = max(w.now, next)
	}
	w.fail("rest", "the world does not settle")
}

// nextTimer returns the time of the next timer. It skips the timers of objectives
// that wait to be started.
func (w *World) nextTimer() int64 {
	next := int64(0)
	for _, r := range w.runs {
		for _, t := range r.timers {
			if at := t.At.Millis(); !strings.HasPrefix(t.Key, "idle:") && !w.used[r.id+" "+t.Key] && (next == 0 || at < next) {
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
		w.fail("rest", "the workflow of %s never ends", w.name(r.id))
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
		if len(r.inbox) > 0 || s.Current != nil || len(s.Commands) > 0 {
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
