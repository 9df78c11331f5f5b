package sim

import (
	"maps"
	"slices"
	"strings"

	"longhaul/opt"
	"longhaul/opt/machine/drive"
)

// resetting is the part of a World in which an operator resets workflows.
type resetting struct{ temporal }

// somewhere has an operator reset a run to a random moment.
func (w resetting) somewhere(r *run, c *choice) {
	least := 1
	if r.history[0].fresh {
		least = 0
	}
	tasks, arrived := least+c.pick(len(r.history)+1-least), 0
	if tasks < len(r.history) {
		arrived = c.pick(len(r.history[tasks].arrived) + 1)
	}
	w.reset(r, tasks, arrived)
}

// reset has an operator reset the workflow of an objective or a plan to an earlier moment: that
// after its first workflow tasks, when some of what it got in the next one had arrived. A run takes
// its place that has done the same until then, and gets the signals and the results of plans that
// came later again. Activities that ran at that moment begin again.
func (w resetting) reset(r *run, tasks, arrived int) {
	w.advance(w.now + 1)
	w.logf("an operator resets the workflow of %s to task %d of %d, after which %d things had arrived", w.name(r.id), tasks, len(r.history), arrived)
	again := runOf(w.World, r.id, r.objective, restored(r.m, r.initial))
	again.began, again.initial, again.history = r.began, r.initial, slices.Clone(r.history[:tasks])
	again.fresh = tasks == 0 && r.history[0].fresh
	again.parent, again.result, again.attempt = r.parent, r.result, r.attempt
	if tasks > 0 {
		again.size = r.history[tasks-1].size
	}
	again.shadow = true
	again.repeat(again.history)
	again.shadow, again.reset, again.setBack, again.wake, again.canceled = false, true, true, true, r.canceled
	if tasks > 0 {
		again.checked = maps.Clone(r.history[tasks-1].checked)
	}
	w.setFactsBack(r, again)
	w.arriveAgain(r, again, arrived)
	for _, call := range slices.Sorted(maps.Keys(again.unsent)) {
		w.put(again.unsent[call])
	}
	w.leaveWork(r)
	r.ended, w.facts.cut[r.id] = true, true
	w.facts.resets[r.id]++
	if row := w.journal.rows[r.id]; row != nil && row.closed {
		w.facts.reopened[r.id] = true
	}
	w.runs[slices.Index(w.runs, r)], w.latest[r.id] = again, again
}

// setFactsBack sets the facts about r back to those when the last task of again had ended.
func (w resetting) setFactsBack(r, again *run) {
	keep := 0
	if n := len(again.history); n > 0 {
		keep = again.history[n-1].undo
	}
	for _, undo := range slices.Backward(r.undo[keep:]) {
		undo()
	}
	again.undo = slices.Clip(r.undo[:keep])
	if _, plan := r.m.(planHost); plan {
		facts := r.facts
		if n := len(again.history); n > 0 {
			facts = again.history[n-1].facts
		}
		w.facts.setPlan(r, facts)
	}
}

// arriveAgain has what arrived at r after the tasks of again arrive at again: the first things of
// the next task, then signals and the results of plans that it waits for.
func (w resetting) arriveAgain(r, again *run, arrived int) {
	starts := map[int]bool{} // calls for the results of plans that it begins again
	for _, o := range again.unsent {
		starts[o.result] = o.kind == startChild
	}
	later, had := slices.Clone(r.arrived), len(r.history) > len(again.history)
	for _, t := range slices.Backward(r.history[len(again.history):]) {
		later = append(slices.Clone(t.arrived), later...)
	}
	for i, a := range later {
		if had && i < arrived && i < len(r.history[len(again.history)].arrived) && again.calls[a.call] != nil {
			w.had(again, a)
			delete(starts, again.unsent[a.call].result)
			delete(again.unsent, a.call)
			continue
		}
		_, ended := a.value.(planEnd)
		if a.in != nil || ended && again.calls[a.call] != nil && !starts[a.call] {
			again.arrived = append(again.arrived, a.copied())
		}
	}
	waits := func(call int) bool { return again.calls[call] != nil && !starts[call] }
	for i := range w.ops {
		if o := &w.ops[i]; o.kind == childEnds && o.from == r && waits(o.answer) {
			o.from = again
		}
	}
	for _, child := range w.runs {
		switch {
		case child.parent != r:
		case waits(child.result):
			child.parent = again
		default:
			child.parent = nil
		}
	}
}

// had has the result of a call arrive that had arrived before the reset.
func (w resetting) had(r *run, a arrival) {
	r.arrived = append(r.arrived, a.copied())
	for _, x := range r.activities {
		if e, ok := a.value.(drive.End); ok && x.call == a.call && !e.Again {
			w.facts.over[x.work.Key], w.facts.endedAt[x.work.Key] = x.attempt, w.now
		}
	}
	r.activities = slices.DeleteFunc(r.activities, func(x *activity) bool { return x.call == a.call })
	r.records = slices.DeleteFunc(r.records, func(x *recording) bool { return x.call == a.call })
	r.timers = slices.DeleteFunc(r.timers, func(x *sleep) bool { return x.call == a.call })
}

// leaveWork notes that workers may still write events of a run that has ended.
func (w resetting) leaveWork(r *run) {
	for _, rec := range r.records {
		w.put(op{kind: lateRecord, batches: rec.batches, repeat: true})
	}
	for _, a := range r.activities {
		if len(a.ride) > 0 && !a.taken {
			w.put(op{kind: lateRecord, batches: a.ride, repeat: true})
		}
	}
	r.activities, r.timers, r.records = nil, nil, nil
}

// planFacts are the facts about the tasks of a plan.
type planFacts struct {
	attempts, over    map[string]int
	endedAt           map[string]int64
	accepted, sending map[string][]string
	sentBack          map[string][]string
	notesAt           map[string]map[string]bool
	gates             map[string]openGate
	legs              map[string]leg
	chains            map[string]opt.Chain
}

// taskPrefix begins the ids of all that belongs to the tasks of a plan.
func taskPrefix(planID string) string { return strings.Replace(planID, "plan-", "task-", 1) + "-" }

// ofPlan returns a copy of the facts about the plan of r; nothing for another run.
func (f *facts) ofPlan(r *run) (out planFacts) {
	if _, plan := r.m.(planHost); !plan {
		return out
	}
	prefix := taskPrefix(r.id)
	same := func(v []string) []string { return slices.Clone(v) }
	return planFacts{
		attempts: those(f.attempts, prefix, value[int]), over: those(f.over, prefix, value[int]), endedAt: those(f.endedAt, prefix, value[int64]),
		accepted: those(f.accepted, prefix, same), sending: those(f.sending, prefix, same), sentBack: those(f.sentBack, prefix, same),
		notesAt: those(f.notesAt, prefix, maps.Clone[map[string]bool]),
		gates:   those(f.gates, prefix, func(g *openGate) openGate { return *g }),
		legs:    those(f.legs, prefix, func(l *leg) leg { return *l }),
		chains:  those(f.chains, prefix, value[opt.Chain]),
	}
}

// setPlan sets the facts about the plan of r to a copy that was made before.
func (f *facts) setPlan(r *run, to planFacts) {
	f.forget(taskPrefix(r.id))
	same := func(v []string) []string { return slices.Clone(v) }
	add(f.attempts, to.attempts, value[int])
	add(f.over, to.over, value[int])
	add(f.endedAt, to.endedAt, value[int64])
	add(f.accepted, to.accepted, same)
	add(f.sending, to.sending, same)
	add(f.sentBack, to.sentBack, same)
	add(f.notesAt, to.notesAt, maps.Clone[map[string]bool])
	add(f.gates, to.gates, func(g openGate) *openGate { return &g })
	add(f.legs, to.legs, func(l leg) *leg { return &l })
	add(f.chains, to.chains, value[opt.Chain])
}

func value[V any](v V) V { return v }

// those returns copies of the members of m whose keys have a prefix.
func those[V, W any](m map[string]V, prefix string, copied func(V) W) map[string]W {
	out := map[string]W{}
	for key, v := range m {
		if strings.HasPrefix(key, prefix) {
			out[key] = copied(v)
		}
	}
	return out
}

// add adds copies of the members of from to m.
func add[V, W any](m map[string]W, from map[string]V, copied func(V) W) {
	for key, v := range from {
		m[key] = copied(v)
	}
}
