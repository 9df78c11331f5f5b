package sim

import (
	"maps"
	"slices"

	"longhaul/opt/machine/drive"
)

// resetting is an operator who resets workflows.
type resetting struct{ w *world }

// somewhere has an operator reset a run to a random moment.
func (rs resetting) somewhere(r *run, c *choice) {
	least := 1
	if r.history[0].fresh || r.restored && rs.w.rules >= 37 {
		least = 0
	}
	if _, objective := r.m.(objectiveHost); !objective && r.former != nil && len(r.former.history) > 0 && c.chance(3) {
		rs.former(r, 1+c.pick(len(r.former.history)))
		return
	}
	tasks, arrived := least+c.pick(len(r.history)+1-least), 0
	if tasks < len(r.history) {
		arrived = c.pick(len(r.history[tasks].arrived) + 1)
	}
	rs.reset(r, tasks, arrived)
}

// reset has an operator reset a workflow to an earlier moment: that
// after its first workflow tasks, when some of what it got in the next one had arrived. A run takes
// its place that has done the same until then, and gets the signals and the results of plans that
// came later again. Activities that ran at that moment begin again.
func (rs resetting) reset(r *run, tasks, arrived int) { rs.resetFrom(r, r, tasks, arrived) }

// resetFrom is reset for r, or for the run that r has taken the place of in a reset before, as far as both are the same:
// what only r got is lost.
func (rs resetting) resetFrom(from, r *run, tasks, arrived int) {
	rs.w.advance(rs.w.now + 10)
	rs.w.logf("an operator resets the workflow of %s to task %d of %d, after which %d things had arrived, again %v", rs.w.name(r.id), tasks, len(from.history), arrived, from != r)
	again := runOf(rs.w, r.id, r.objective, restored(r.m, r.initial))
	again.began, again.initial, again.facts, again.history = r.began, r.initial, r.facts, slices.Clone(r.history[:tasks])
	again.fresh = tasks == 0 && r.history[0].fresh
	again.restored, again.restores = r.restored, tasks == 0 && r.restored // it reads its objective again
	again.parent, again.result, again.attempt, again.before, again.since = r.parent, r.result, r.attempt, r, tasks
	if tasks > 0 {
		again.size = r.history[tasks-1].size
	}
	again.shadow = true
	again.repeat(again.history)
	again.shadow, again.reset, again.setBack, again.wake, again.canceled = false, true, true, true, r.canceled
	if tasks > 0 {
		again.checked = maps.Clone(r.history[tasks-1].checked)
	}
	rs.setFactsBack(r, again)
	delete(rs.w.facts.queue, r.id)
	waits := rs.arriveAgain(from, again, arrived)
	rs.takeChildren(r, again, waits)
	for _, call := range slices.Sorted(maps.Keys(again.unsent)) {
		rs.w.put(again.unsent[call])
	}
	rs.leaveWork(r)
	r.ended, rs.w.facts.cut[r.id] = true, true
	rs.w.facts.resets[r.id]++
	if row := rs.w.journal.rows[r.id]; row != nil && row.closed {
		rs.w.facts.reopened[r.id] = true
	}
	rs.w.latest[r.id] = again
	if i := slices.Index(rs.w.runs, r); i >= 0 {
		rs.w.runs[i] = again
	} else { // it had ended
		rs.w.runs = append(rs.w.runs, again)
	}
}

// former has an operator reset the run of a plan or a context before r, which ends without a word to others.
func (rs resetting) former(r *run, tasks int) {
	rs.leaveWork(r)
	r.ended = true
	rs.w.remove(r.id)
	rs.reset(r.former, tasks, 0)
}

// setFactsBack sets the facts about r back to those when the last task of again had ended.
func (rs resetting) setFactsBack(r, again *run) {
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
		rs.w.facts.plans[r.id] = facts.copied()
	}
}

// arriveAgain has what arrived at r after the tasks of again arrive at again: the first things of
// the next task, then signals and the results of plans that it waits for. It returns which these are.
func (rs resetting) arriveAgain(r, again *run, arrived int) (waits func(call int) bool) {
	starts := map[int]bool{} // calls for the results of plans that it begins again
	for _, o := range again.unsent {
		starts[o.result] = o.kind == startChild
	}
	waits = func(call int) bool { return again.calls[call] != nil && !starts[call] }
	if next := r.history[len(again.history):]; len(next) > 0 {
		arrived = min(arrived, len(next[0].arrived))
	} else {
		arrived = 0
	}
	for i, a := range arrivedSince(r, len(again.history)) {
		if i < arrived && again.calls[a.call] != nil {
			rs.had(again, a)
			delete(starts, again.unsent[a.call].result)
			delete(again.unsent, a.call)
			continue
		}
		_, ended := a.value.(planEnd)
		if a.in != nil || ended && waits(a.call) {
			again.arrived = append(again.arrived, a.copied())
		}
	}
	return waits
}

// arrivedSince returns the arrivals at r after its first tasks.
func arrivedSince(r *run, tasks int) (later []arrival) {
	for _, t := range r.history[tasks:] {
		later = append(later, t.arrived...)
	}
	return append(later, r.arrived...)
}

// takeChildren gives again the results of the plans of r that it waits for; the others go to no run.
func (rs resetting) takeChildren(r, again *run, waits func(call int) bool) {
	for i := range rs.w.ops {
		if o := &rs.w.ops[i]; o.kind == childEnds && o.from == r && waits(o.answer) {
			o.from = again
		}
	}
	for _, child := range rs.w.runs {
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
func (rs resetting) had(r *run, a arrival) {
	r.arrived = append(r.arrived, a.copied())
	for _, x := range r.activities {
		if e, ok := a.value.(drive.End); ok && x.call == a.call && !e.Again {
			f := rs.w.facts.plan(r.id)
			f.over[x.work.Key], f.endedAt[x.work.Key] = x.attempt, rs.w.now
		}
	}
	r.activities = slices.DeleteFunc(r.activities, func(x *activity) bool { return x.call == a.call })
	r.records = slices.DeleteFunc(r.records, func(x *recording) bool { return x.call == a.call })
	r.timers = slices.DeleteFunc(r.timers, func(x *sleep) bool { return x.call == a.call })
}

// leaveWork notes that workers may still write events of a run that has ended.
func (rs resetting) leaveWork(r *run) {
	for _, rec := range r.records {
		rs.w.put(rec.late())
	}
	for _, a := range r.activities {
		if len(a.ride) > 0 && !a.taken {
			rs.w.put(op{kind: lateRecord, batches: a.ride, repeat: true})
		}
	}
	r.activities, r.timers, r.records = nil, nil, nil
}
