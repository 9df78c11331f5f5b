package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// temporal plays Temporal: it begins, runs and ends workflows, and delivers what they send.
type temporal struct{ w *world }

// run runs a workflow task: the driver of r gets all that has arrived. One that is lost changes
// nothing, except that events may be recorded that follow from the input of the run.
func (tp temporal) run(r *run, c *choice) {
	if r.restores && !tp.restore(r) {
		return
	}
	r.size.Events += 10
	t := &task{now: tp.w.now, fresh: r.fresh, canceled: r.canceled, reset: r.reset, size: r.size, prompt: !c.chance(4) && !tp.w.journal.down && tp.w.journal.whole(), deaf: c.chance(6)}
	if c.chance(12) {
		tp.w.logf("%s: a workflow task is lost", tp.w.name(r.id))
		if r.fresh && t.prompt {
			lost := runOf(tp.w, r.id, r.objective, clone(r.m))
			lost.began, lost.shadow, lost.lost, lost.task = r.began, true, true, &task{now: tp.w.now}
			lost.driver.Open()
		}
		return
	}
	slices.SortStableFunc(r.arrived, func(a, b arrival) int { return order(a) - order(b) })
	t.arrived, r.arrived = r.arrived, nil
	r.fresh, r.wake, r.reset = false, false, false
	if tp.w.histories {
		r.history = append(r.history, t)
		live := t.copied()
		next := r.step(live)
		t.done, t.prompt, t.sent = live.done, live.prompt, live.sent
		tp.finish(r, next)
		if h, ok := r.m.(objectiveHost); ok {
			t.attempt = h.o.State.Objective.Attempt
		}
		t.facts, t.undo, t.checked = tp.w.facts.plan(r.id).copied(), len(r.undo), maps.Clone(r.checked)
		return
	}
	tp.finish(r, r.step(t))
}

// again begins a run of an objective that has ended or was lost. Its first workflow task reads what
// the journal has then.
func (tp temporal) again(id string) *run {
	r := tp.newRun(id, id, objectiveHost{machine.RestoreObjective(tp.w.journal.kept(id), 0, tp.w.rules)})
	r.restores = true
	return r
}

// restore has a run read its objective. It fails if the journal has removed that.
func (tp temporal) restore(r *run) bool {
	if tp.w.journal.rows[r.id] == nil {
		tp.w.logf("%s is not there any more", tp.w.name(r.id))
		r.ended = true
		tp.w.remove(r.id)
		left := machine.Left(r.id)
		if tp.w.rules < 44 { // contexts drop it, and others wait for ever
			left.N = 1
		}
		tp.w.put(op{kind: signal, to: r.m.target(machine.ToContext), in: left, from: r})
		return false
	}
	if r.restored { // the journal has what it did before it was reset
		tp.w.facts.setForward(r.id, tp.w.journal)
	}
	r.m, r.restores, r.restored = objectiveHost{machine.RestoreObjective(tp.w.journal.kept(r.id), 0, tp.w.rules)}, false, true
	r.driver = drive.New(r, observed{r}, r.m.source())
	if tp.w.histories {
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

// finish ends the run if it may end, or continues it as new.
func (tp temporal) finish(r *run, next drive.Next) {
	switch next {
	case drive.Wait:
		nothingIsHeldUp(tp.w, r)
	case drive.Finish:
		tp.end(r)
	case drive.Continue:
		tp.w.logf("%s: continues as a new run", tp.w.name(r.id))
		r.replay()
		successor := tp.newRun(r.id, r.objective, clone(r.m.successor()))
		successor.parent, successor.result, successor.attempt, successor.canceled = r.parent, r.result, r.attempt, false
		successor.checked = maps.Clone(r.checked)
		for key, again := range r.again {
			tp.w.facts.resent[r.id+key] = tp.w.facts.resent[r.id+key] || again
		}
		r.ended = true
		for _, child := range tp.w.runs {
			if child.parent == r {
				child.parent = nil // its result would go to the run that began it
			}
		}
	}
}

// end ends the run. The run that began it gets its result.
func (tp temporal) end(r *run) {
	tp.w.logf("%s: its workflow ends", tp.w.name(r.id))
	r.replay()
	r.ended = true
	tp.w.remove(r.id)
	if h, ok := r.m.(objectiveHost); ok && h.o.State.Forgotten {
		tp.w.facts.setForward(r.id, tp.w.journal)
		tp.w.put(op{kind: lost, to: r.id, in: machine.PlanLost{PlanID: r.id}})
	}
	if last := copied(r.driver.Rest()); !r.terminated && len(last) > 0 { // its worker records them when the result is accepted
		tp.w.put(op{kind: lateRecord, to: r.id, batches: last, repeat: true, kept: r.id == r.objective})
	}
	if r.parent == nil || r.parent.ended {
		return
	}
	out := planEnd{}
	if !r.terminated {
		report := copied(r.m.(planHost).p.State.Report)
		out = planEnd{&report, r.driver.Rest()}
	}
	tp.w.put(op{kind: childEnds, to: r.parent.id, from: r.parent, answer: r.result, end: out})
}

// terminate has an operator end the workflow of a plan, an objective or a context. The reconciler
// notices the former two later.
func (tp temporal) terminate(r *run) {
	tp.w.logf("an operator ends the workflow of %s", tp.w.name(r.id))
	if r.objective == "" {
		tp.w.advance(tp.w.now + 10)
	}
	r.terminated, tp.w.facts.cut[r.id] = true, true
	for _, rec := range r.records { // a worker may be about to write them
		tp.w.put(rec.late())
	}
	r.activities, r.timers, r.records = nil, nil, nil
	tp.w.forget(r.id)
	tp.end(r)
	if r.objective != "" {
		tp.w.put(op{kind: lost, to: r.objective, in: machine.PlanLost{PlanID: r.id, Attempt: r.attempt}})
	}
}

// deliverLost has the reconciler act: it reports a lost plan to its objective, which begins again for
// that if it has ended, or begins a run that ends an objective without a workflow.
func (tp temporal) deliverLost(o op) {
	plan := o.in.(machine.PlanLost)
	tp.settle(o.to)
	to, row := tp.w.open(o.to), tp.w.journal.rows[o.to]
	switch {
	case row == nil || row.closed && !row.opens(plan.PlanID):
	case tp.w.open(plan.PlanID) != nil: // it has begun again
	case plan.PlanID != o.to && row.terminated(plan.PlanID):
	case plan.PlanID != o.to && (to != nil || row.closed):
		tp.planLost(o.to, plan)
	case to == nil:
		tp.w.logf("%s is closed in a new run", tp.w.name(o.to))
		for _, r := range slices.Clone(tp.w.runs) {
			if r.objective == o.to {
				tp.terminate(r)
			}
		}
		tp.again(o.to).signal(machine.ObjectiveLost{})
	}
}

// reconcile has the reconciler look at all plans that are open in the journal, as it does every minute. It
// reports whether an objective hears that one is lost.
func (tp temporal) reconcile() (any bool) {
	for _, id := range tp.w.journal.order {
		row := tp.w.journal.rows[id]
		for _, p := range row.objective.Plans {
			if r := tp.w.latest[p.ID]; r != nil && r.terminated && !p.Status.Ended() {
				any = tp.planLost(id, machine.PlanLost{PlanID: p.ID, Attempt: p.Run}) || any
			}
		}
	}
	return any
}

// enterAgain has the reconciler enter the objectives that wait in a context that is gone, or began later, as it does every
// minute. It reports whether there are any.
func (tp temporal) enterAgain() (any bool) {
	for _, id := range tp.w.journal.order {
		o := &tp.w.journal.rows[id].objective
		to := tp.w.open(contextWorkflow(o.ContextID))
		if o.QueuedAt.IsZero() || o.Status.Ended() || to != nil && to == tp.w.entered[id] {
			continue
		}
		any = true
		ahead := tp.w.journal.before(o.ContextID, id)
		to = tp.context(contextWorkflow(o.ContextID), o.ContextID)
		tp.w.entered[id] = to
		tp.w.logf("the reconciler enters in %s: %s", tp.w.name(to.id), tp.w.name(id))
		to.signal(sent(machine.Enter{ObjectiveID: id, Attempt: o.Attempt, At: o.QueuedAt, Behind: ahead.begun, Starting: ahead.starting, Waiting: max(1, ahead.waiting)}))
	}
	return any
}

// planLost reports a lost plan to its objective. One that has ended begins again for that. It reports
// whether the objective hears it.
func (tp temporal) planLost(objectiveID string, plan machine.PlanLost) bool {
	to := tp.w.open(objectiveID)
	if to == nil && tp.w.journal.rows[objectiveID].closed {
		to = tp.again(objectiveID)
	}
	if to == nil {
		return false
	}
	tp.w.logf("%s hears that %s is lost", tp.w.name(objectiveID), tp.w.name(plan.PlanID))
	to.signal(sent(plan))
	return true
}

// mayLose reports whether an operator may end r, of a plan or an objective. An objective is open in
// the journal, has answered all commands that have arrived, and has recorded all events. Otherwise
// the operator loses answers that no client gets.
func (tp temporal) mayLose(r *run) bool {
	row := tp.w.journal.rows[r.objective]
	h, objective := r.m.(objectiveHost)
	if !objective {
		return true
	}
	s := &h.o.State
	return row != nil && !row.closed && len(r.arrived) == 0 && len(r.driver.Rest()) == 0 && !r.fresh && s.Current == nil && len(s.Commands)+len(s.Overdue) == 0
}

// signalByHand has an operator send r a signal: what its machine could not handle is skipped.
func (tp temporal) signalByHand(r *run, c *choice) {
	tp.w.n2++
	id := fmt.Sprintf("by hand %d", tp.w.n2)
	list := []machine.Input{
		machine.Letter{}, machine.Command{}, machine.Command{Command: opt.Command{ID: id, ObjectiveID: r.id, Kind: opt.CreatePlan}},
		machine.Command{Command: opt.Command{ID: id, ObjectiveID: r.id, Kind: opt.CancelTask, PlanID: "plan-unknown", TaskID: "task-unknown"}},
		machine.Reported{PlanID: "plan-unknown"}, machine.Reported{PlanID: "plan-unknown", Report: opt.Report{N: 99, Status: opt.PlanCompleted}},
		machine.PlanLost{}, machine.PlanLost{PlanID: "plan-unknown"}, machine.Turn{}, machine.Canceled{},
	}
	switch m := r.m.(type) {
	case objectiveHost: // or a reconciler that has looked before the plan has begun
		if m.o.State.Rules >= 33 {
			for _, p := range m.o.State.Objective.Plans {
				list = append(list, machine.PlanLost{PlanID: p.ID, Attempt: p.Run})
			}
		}
	case planHost:
		list = []machine.Input{machine.Letter{}, machine.Directed{}, machine.Callback{}, machine.Callback{Callback: opt.Callback{ID: id, TaskID: "task-unknown"}}}
	case contextHost:
		list = []machine.Input{machine.Enter{}, machine.TurnRequest{}}
	}
	in := list[c.pick(len(list))]
	err := machine.Check(in)
	tp.w.logf("an operator sends %s to %s: %v", tp.w.say(in), tp.w.name(r.id), err)
	if err == nil {
		r.signal(in)
	}
}

// context returns the run of a context, which begins if there is none.
func (tp temporal) context(id, contextID string) *run {
	if to := tp.w.open(id); to != nil {
		return to
	}
	tp.w.forget(id) // it begins again
	return tp.newRun(id, "", contextHost{machine.NewContext(tenant, contextID, tp.w.rules)})
}

// newRun adds a run, which replaces an earlier run with the same id.
func (tp temporal) newRun(id, objective string, m host) *run {
	r := runOf(tp.w, id, objective, m)
	r.began, r.wake, r.former = tp.w.now, true, tp.w.latest[id]
	if tp.w.histories {
		r.initial, r.facts = encoded(m.state()), tp.w.facts.plan(r.id).copied()
	}
	if i := slices.IndexFunc(tp.w.runs, func(x *run) bool { return x.id == id }); i >= 0 {
		tp.w.runs[i] = r
	} else {
		tp.w.runs = append(tp.w.runs, r)
	}
	tp.w.latest[id] = r
	return r
}

// deliver delivers an op between workflows, their workers and the reconciler. One that Temporal has
// refused is sent again by a run that waits until it is taken, or else the run hears of it.
func (tp temporal) deliver(o op, twice, refused bool) {
	switch o.kind {
	case signal:
		switch {
		case !refused || o.repeat:
			tp.deliverSignal(o, twice)
		case o.from.restores:
			tp.w.put(o)
		default:
			o.from.answer(o.answer, drive.Refused)
		}
	case lateRecord:
		tp.deliverRecord(o, refused)
	case startChild:
		tp.deliverChild(o)
	case lost:
		tp.deliverLost(o)
	case childEnds:
		o.from.answer(o.answer, o.end)
	}
}

// deliverRecord records what a worker records late, unless it was lost. The reconciler records what Temporal
// keeps then, and what the journal does not take yet.
func (tp temporal) deliverRecord(o op, lost bool) {
	switch {
	case o.kept && (lost || tp.w.journal.early(o.batches)):
		tp.w.put(o)
	case !lost:
		(&recording{batches: o.batches, report: o.report}).now(tp.w)
		tp.followLate(o.batches[0].ObjectiveID)
	}
}

// followLate sets the revision that the next run of an objective begins with to that in the journal, if that has refused the
// latest run for good: what the run before its reset had done may be recorded only after the facts were set forward.
func (tp temporal) followLate(objectiveID string) {
	r, row := tp.w.latest[objectiveID], tp.w.journal.rows[objectiveID]
	if r != nil && r.restores { // that has not read it yet
		r = r.former
	}
	if r == nil || row == nil || !r.ended {
		return
	}
	if h, ok := r.m.(objectiveHost); ok && h.o.State.Forgotten {
		tp.w.facts.revision[objectiveID] = row.objective.Revision
	}
}

// settle has the reconciler record the last events of an objective, which its result has.
func (tp temporal) settle(id string) {
	for _, o := range slices.Clone(tp.w.ops) {
		if o.kept && o.to == id {
			(&recording{batches: o.batches}).now(tp.w)
		}
	}
}

func (tp temporal) deliverSignal(o op, twice bool) {
	to := tp.w.open(o.to)
	switch {
	case to != nil:
		tp.w.logf("%s hears %s from %s", tp.w.name(o.to), tp.w.say(o.in), tp.w.name(o.from.id))
		to.signal(o.in)
		if twice {
			again := o
			again.repeat, again.in = true, sent(o.in)
			tp.w.put(again)
		}
	case !o.repeat:
		tp.w.logf("%s is not there to hear %s from %s", tp.w.name(o.to), tp.w.say(o.in), tp.w.name(o.from.id))
	}
	switch {
	case o.repeat:
	case to == nil:
		o.from.answer(o.answer, drive.Gone)
	default:
		o.from.answer(o.answer, drive.Taken)
	}
}

func (tp temporal) deliverChild(o op) {
	if o.from.ended {
		return
	}
	if tp.w.open(o.to) != nil {
		tp.w.logf("%s cannot begin: its former run is there", tp.w.name(o.to))
		o.from.answer(o.answer, false)
		return
	}
	tp.w.logf("%s begins", tp.w.name(o.to))
	m := planHost{&machine.Plan{}}
	must(json.Unmarshal(o.state, m.state()))
	beginsOnce(tp.w, &m.p.State, o.resets)
	child := tp.newRun(o.to, o.from.objective, m)
	child.parent, child.result, child.attempt, child.fresh = o.from, o.result, o.child.Attempt, true
	o.from.answer(o.answer, true)
}
