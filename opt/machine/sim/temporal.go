package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// run runs a workflow task: the driver of r gets all that has arrived. One that is lost changes
// nothing, except that events may be recorded that follow from the input of the run.
func (w temporal) run(r *run, c *choice) {
	if r.restores && !w.restore(r) {
		return
	}
	r.size.Events += 10
	t := &task{now: w.now, fresh: r.fresh, canceled: r.canceled, reset: r.reset, size: r.size, prompt: !c.chance(4) && !w.journal.down && len(w.lost) == 0}
	if c.chance(12) {
		w.logf("%s: a workflow task is lost", w.name(r.id))
		if r.fresh && t.prompt {
			lost := runOf(w.World, r.id, r.objective, clone(r.m))
			lost.began, lost.shadow, lost.task = r.began, true, &task{now: w.now}
			lost.driver.Open()
			if batches := lost.driver.Rest(); !w.early(batches) {
				w.recordAll(batches)
			}
		}
		return
	}
	slices.SortStableFunc(r.arrived, func(a, b arrival) int { return order(a) - order(b) })
	t.arrived, r.arrived = r.arrived, nil
	r.fresh, r.wake, r.reset = false, false, false
	if w.histories {
		r.history = append(r.history, t)
		live := *t
		live.arrived = nil
		for _, a := range t.arrived {
			live.arrived = append(live.arrived, a.copied())
		}
		next := r.step(&live)
		t.done, t.prompt = live.done, live.prompt
		w.finish(r, next)
		if h, ok := r.m.(objectiveHost); ok {
			t.attempt = h.State.Objective.Attempt
		}
		t.facts, t.undo, t.checked = w.facts.ofPlan(r), len(r.undo), maps.Clone(r.checked)
		return
	}
	w.finish(r, r.step(t))
}

// again begins a run of an objective that has ended or was lost. Its first workflow task reads what
// the journal has then.
func (w temporal) again(id string) *run {
	r := w.newRun(id, id, objectiveHost{machine.RestoreObjective(w.journal.kept(id), 0, w.rules)})
	r.restores = true
	return r
}

// restore has a run read its objective. It fails if the journal has removed that.
func (w temporal) restore(r *run) bool {
	if w.journal.rows[r.id] == nil {
		w.logf("%s is not there any more", w.name(r.id))
		r.ended = true
		w.remove(r.id)
		w.put(op{kind: signal, to: r.m.target(machine.ToContext), in: machine.Left(r.id), from: r})
		return false
	}
	r.m, r.restores = objectiveHost{machine.RestoreObjective(w.journal.kept(r.id), 0, w.rules)}, false
	r.driver = drive.New(r, observed{r}, r.m.source())
	if w.histories {
		r.initial = encoded(r.m.state())
	}
	return true
}

// order returns the order of an arrival among those of one workflow task: signals come first,
// name by name, then the results of calls, in the order of the calls.
func order(a arrival) int {
	switch a.in.(type) {
	case nil:
		return 10 + a.call
	case machine.ObjectiveLost: // it follows from the input of the run
		return -1
	case machine.Letter, machine.Enter:
		return 0
	case machine.Command, machine.Directed, machine.TurnRequest:
		return 1
	case machine.Reported, machine.Callback:
		return 2
	case machine.Turn:
		return 3
	case machine.Canceled:
		return 5
	}
	return 4
}

// use notes that a key is used. It may be used once.
func (w temporal) use(r *run, key string) {
	key = r.id + " " + key
	switch {
	case r.shadow:
		return
	case w.used[key]:
		w.fail("keys", "%s is wanted again after it has ended", key)
	}
	w.used[key] = true
	r.undo = append(r.undo, func() { delete(w.used, key) })
}

// finish ends the run if it may end, or continues it as new.
func (w temporal) finish(r *run, next drive.Next) {
	switch next {
	case drive.Wait:
		w.checks().nothingIsHeldUp(r)
	case drive.Finish:
		w.end(r)
	case drive.Continue:
		w.logf("%s: continues as a new run", w.name(r.id))
		r.replay()
		successor := w.newRun(r.id, r.objective, clone(r.m.successor()))
		successor.parent, successor.result, successor.attempt, successor.canceled = r.parent, r.result, r.attempt, false
		successor.checked = maps.Clone(r.checked)
		for key, again := range r.again {
			w.facts.resent[r.id+key] = w.facts.resent[r.id+key] || again
		}
		r.ended = true
		for _, child := range w.runs {
			if child.parent == r {
				child.parent = nil // its result would go to the run that began it
			}
		}
	}
}

// end ends the run. The run that began it gets its result.
func (w temporal) end(r *run) {
	w.logf("%s: its workflow ends", w.name(r.id))
	r.replay()
	r.ended = true
	w.remove(r.id)
	if o, ok := r.m.(objectiveHost); ok && o.State.Forgotten {
		w.facts.setForward(r.id, w.journal)
		w.put(op{kind: lost, to: r.id, in: machine.PlanLost{PlanID: r.id}})
	}
	if r.parent == nil || r.parent.ended {
		return
	}
	out := planEnd{}
	if !r.terminated {
		report := copied(r.m.(planHost).State.Report)
		out = planEnd{&report, r.driver.Rest()}
	}
	w.put(op{kind: childEnds, to: r.parent.id, from: r.parent, answer: r.result, end: out})
}

// terminate has an operator end the workflow of a plan or an objective. The reconciler
// notices it later.
func (w temporal) terminate(r *run) {
	w.logf("an operator ends the workflow of %s", w.name(r.id))
	r.terminated, w.facts.cut[r.id] = true, true
	for _, rec := range r.records { // a worker may be about to write them
		w.put(op{kind: lateRecord, batches: rec.batches, repeat: true})
	}
	r.activities, r.timers, r.records = nil, nil, nil
	w.forget(r.id)
	w.end(r)
	w.put(op{kind: lost, to: r.objective, in: machine.PlanLost{PlanID: r.id, Attempt: r.attempt}})
}

// deliverLost has the reconciler act: it reports a lost plan to its objective, or begins a
// run that ends an objective without a workflow.
func (w temporal) deliverLost(o op) {
	plan := o.in.(machine.PlanLost)
	to, row := w.open(o.to), w.journal.rows[o.to]
	switch {
	case row == nil || row.closed:
	case w.open(plan.PlanID) != nil: // it has begun again
	case plan.PlanID != o.to && row.terminated(plan.PlanID):
	case to != nil && plan.PlanID != o.to:
		w.logf("%s hears that %s is lost", w.name(o.to), w.name(plan.PlanID))
		w.signal(to, sent(plan))
	case to == nil:
		w.logf("%s is closed in a new run", w.name(o.to))
		for _, r := range slices.Clone(w.runs) {
			if r.objective == o.to {
				w.terminate(r)
			}
		}
		w.signal(w.again(o.to), machine.ObjectiveLost{})
	}
}

// compare has the reconciler look at all plans that are open in the journal, as it does every minute. It
// reports whether an objective hears that one is lost.
func compare(w temporal) (any bool) {
	for _, id := range w.journal.order {
		to, row := w.open(id), w.journal.rows[id]
		if to == nil || row.closed {
			continue
		}
		for _, p := range row.objective.Plans {
			if r := w.latest[p.ID]; r != nil && r.terminated && !p.Status.Ended() {
				w.logf("%s hears that %s is lost", w.name(id), w.name(p.ID))
				w.signal(to, machine.PlanLost{PlanID: p.ID, Attempt: p.Run})
				any = true
			}
		}
	}
	return any
}

// mayLose reports whether an operator may end r, of an objective: it is open in the journal,
// has answered all commands that have arrived, and has recorded all events. Otherwise the
// operator loses answers that no client gets.
func (w temporal) mayLose(r *run) bool {
	s, row := &r.m.(objectiveHost).State, w.journal.rows[r.id]
	return row != nil && !row.closed && len(r.arrived) == 0 && len(r.driver.Rest()) == 0 && !r.fresh && s.Current == nil && len(s.Commands)+len(s.Overdue) == 0
}

func (r *run) activity(key string) *activity {
	for _, a := range r.activities {
		if a.Key == key {
			return a
		}
	}
	return nil
}

// signalByHand has an operator send r a signal: what its machine could not handle is skipped.
func (w temporal) signalByHand(r *run, c *choice) {
	w.n2++
	id := fmt.Sprintf("by hand %d", w.n2)
	list := []machine.Input{
		machine.Letter{}, machine.Command{}, machine.Command{Command: opt.Command{ID: id, ObjectiveID: r.id, Kind: opt.CreatePlan}},
		machine.Command{Command: opt.Command{ID: id, ObjectiveID: r.id, Kind: opt.CancelTask, PlanID: "plan-unknown", TaskID: "task-unknown"}},
		machine.Reported{PlanID: "plan-unknown"}, machine.Reported{PlanID: "plan-unknown", Report: opt.Report{N: 99, Status: opt.PlanCompleted}},
		machine.PlanLost{}, machine.PlanLost{PlanID: "plan-unknown"}, machine.Turn{}, machine.Canceled{},
	}
	switch r.m.(type) {
	case planHost:
		list = []machine.Input{machine.Letter{}, machine.Directed{}, machine.Callback{}, machine.Callback{Callback: opt.Callback{ID: id, TaskID: "task-unknown"}}}
	case contextHost:
		list = []machine.Input{machine.Enter{}, machine.TurnRequest{}}
	}
	in := list[c.pick(len(list))]
	err := machine.Check(in)
	w.logf("an operator sends %s to %s: %v", w.say(in), w.name(r.id), err)
	if err == nil {
		w.signal(r, in)
	}
}

// signal has a signal arrive at r.
func (w temporal) signal(r *run, in machine.Input) { r.arrived = append(r.arrived, arrival{in: in}) }

// answer has the result of a call arrive at r.
func (w temporal) answer(r *run, call int, value any) {
	if !r.ended {
		r.arrived = append(r.arrived, arrival{call: call, value: value})
	}
}

// open returns the run of a workflow, nil if there is none.
func (w temporal) open(id string) *run {
	for _, r := range w.runs {
		if r.id == id {
			return r
		}
	}
	return nil
}

func (w temporal) remove(id string) {
	w.runs = slices.DeleteFunc(w.runs, func(r *run) bool { return r.id == id })
}

// write has a try at a recording end.
func (w temporal) write(r *run, index int, c *choice) {
	rec := r.records[index]
	done := func(e written) {
		r.records = slices.Delete(r.records, index, index+1)
		w.answer(r, rec.call, e)
	}
	switch k := c.pick(8); {
	case w.journal.down || k == 7 || w.early(rec.batches): // it may be written or not
		if k == 7 {
			w.put(op{kind: lateRecord, batches: rec.batches, repeat: true})
		}
		if !rec.again {
			done(written{err: errors.New("no answer")})
		}
	default:
		w.logf("%s: %d batches are recorded", w.name(r.id), len(rec.batches))
		refused := w.recordAll(rec.batches)
		switch {
		case k == 6 && !rec.again:
			w.logf("%s does not hear of it", w.name(r.id))
			done(written{err: errors.New("no answer")})
		case k < 6:
			done(written{refused: refused})
		}
	}
}

// take has a worker take an activity in which events ride: it records them first.
func (w temporal) take(r *run, a *activity, c *choice) {
	k := c.pick(10)
	if w.journal.down || k >= 8 || w.early(a.ride) {
		w.logf("%s: no worker has %s", w.name(r.id), w.name(a.Key))
		if k == 9 {
			w.put(op{kind: lateRecord, batches: a.ride, repeat: true})
		}
		r.drop(a)
		w.answer(r, a.call, drive.End{Input: machine.Ended{Key: a.Key, Failed: &machine.Failure{Code: "lost"}}, Again: true, Tries: drive.Tries{}.Lose(k - 8&1)})
		return
	}
	a.taken, a.refused = true, w.recordAll(a.ride)
	w.logf("%s: a worker has %s, and has recorded its batches, refused %v", w.name(r.id), w.name(a.Key), a.refused != nil)
}
