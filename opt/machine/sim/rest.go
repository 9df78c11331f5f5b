package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// checkRest checks the invariants that hold when nothing is possible without
// clients.
func checkRest(w *world) {
	for _, r := range w.runs {
		switch h := r.m.(type) {
		case objectiveHost:
			restsForReason(w, &h.o.State)
			knowsItsPlans(w, &h.o.State)
		case planHost:
			planRestsForReason(w, &h.p.State)
			staysTaken(w, &h.p.State.Plan)
		case contextHost:
			nobodyWaitsInVain(w, r, &h.c.State)
		}
		if len(r.records) > 0 {
			w.fail("rest", "%s cannot record its events", w.name(r.id))
		}
	}
	for _, r := range w.latest {
		if h, ok := r.m.(planHost); ok && !r.terminated && !setAside(w, r) {
			usedOnce(w, r, &h.p.State)
			ranAsLong(w, r, &h.p.State)
		}
	}
	rowsEqualStates(w)
	allAnswered(w)
	allJudged(w)
}

// setAside reports whether the journal may have more than a plan: an epoch that a reset has ended has used something, too,
// and a plan whose objective an operator has ended or reset.
func setAside(w *world, r *run) bool {
	return w.journal.rows[r.objective] == nil || w.facts.cut[r.objective] || w.facts.isReset(r.id, r.objective)
}

// usedOnce: the journal has all that the tasks of a plan have used in an attempt, once.
func usedOnce(w *world, r *run, s *machine.PlanState) {
	spent, recorded := int64(0), w.journal.usage(s.Source()).Input
	for _, u := range s.Spent {
		spent += u.Input
	}
	if records := s.Rules >= 7 && s.Epoch <= 1 && !s.Forgotten; records && spent != recorded {
		w.fail("costs", "%s has used %d, and the journal has %d", w.name(r.id), spent, recorded)
	}
}

// restsForReason: an open objective waits for a person, a plan, a client or a
// timer. If its status is working, a client has work by hand (invariant 1).
func restsForReason(w *world, s *machine.ObjectiveState) {
	o := &s.Objective
	byClient := slices.ContainsFunc(o.Plans, func(p *opt.Plan) bool { return clientWorks(w, p) })
	if why := cmp.Or(unfinished(s), unreasoned(o, byClient)); why != "" {
		w.fail("rest", "%s is %s (%s): %s", w.name(o.ID), o.Status, o.Reason, why)
	}
}

// unfinished returns what an objective should have finished before it rests, "" for nothing.
func unfinished(s *machine.ObjectiveState) string {
	o := &s.Objective
	switch {
	case o.Status.Ended():
		return "its workflow does not end"
	case o.Stopping != "":
		return "it is being stopped and does not end"
	case s.Current != nil || len(s.Commands) > 0:
		return "a command is not answered"
	case o.Status == opt.ObjectiveSubmitted && (!s.Idle || s.Begin):
		return "it waits for nothing"
	case o.Status == opt.ObjectivePlanning:
		return "no planner works"
	}
	return ""
}

// unreasoned returns why an objective that has finished all should not rest in its status, "" if it may.
// byClient is whether a client has work by hand.
func unreasoned(o *opt.Objective, byClient bool) string {
	switch {
	case o.Status == opt.ObjectiveBlocked:
		return unblocked(o)
	case o.Status != opt.ObjectiveWorking:
	case o.Reason != opt.NothingToDo:
		if !byClient && o.Reason != opt.ByHand {
			return "nothing works"
		}
	case slices.ContainsFunc(o.Plans, func(p *opt.Plan) bool { return !p.Over() }):
		return "it has plans that are open"
	}
	return ""
}

// unblocked is unreasoned for an objective that is blocked.
func unblocked(o *opt.Objective) string {
	blocked := func(reason string) bool {
		return slices.ContainsFunc(o.Plans, func(p *opt.Plan) bool { return p.Status == opt.PlanBlocked && p.Reason == reason })
	}
	switch o.Reason {
	case opt.BlockedByOperator:
		if !o.Paused {
			return "it is not paused"
		}
	case opt.BlockedByPlan:
		if !blocked(opt.BlockedByOperator) {
			return "it is not paused"
		}
	case opt.BlockedByInput, opt.BlockedByAuth:
		if !blocked(o.Reason) {
			return "no person is asked"
		}
	case opt.BlockedByDependencies:
		return "no plan that it waits for continues"
	}
	return ""
}

// clientWorks reports whether a plan waits for a client: for the move of a task,
// or for tasks.
func clientWorks(w *world, p *opt.Plan) bool {
	r := w.open(p.ID)
	if r == nil || p.Status != opt.PlanWorking {
		return false
	}
	plan := &r.m.(planHost).p.State.Plan
	return len(plan.Tasks) == 0 || p.Reason == opt.ByHand || slices.ContainsFunc(plan.Tasks, func(t *opt.Task) bool { return t.State == opt.TaskWorking && t.ByHand })
}

// planRestsForReason is restsForReason for a plan.
func planRestsForReason(w *world, s *machine.PlanState) {
	p, why := &s.Plan, ""
	for _, t := range p.Tasks {
		why = cmp.Or(why, taskUnfinished(s, t))
	}
	if why = cmp.Or(why, planUnfinished(p, clientWorks(w, p))); why != "" {
		w.fail("rest", "%s is %s (%s): %s", w.name(p.ID), p.Status, p.Reason, w.name(why))
	}
}

// taskUnfinished returns what should have been done about a task before its plan rests, "" for nothing.
func taskUnfinished(s *machine.PlanState, t *opt.Task) string {
	p, work := &s.Plan, s.Work[t.ID]
	open := func(b *opt.Task) bool { return !b.State.Ended() && b != t }
	works := t.State == opt.TaskWorking && !t.ByHand && !p.OnHold()
	switch {
	case t.Gate != nil && t.Gate.Taken < len(t.Gate.Ladder):
		return "a step of " + t.Gate.ID + " is never taken"
	case t.Awaits() && slices.ContainsFunc(p.Tasks, open):
	case work != nil && work.Running:
		return "its task " + t.ID + " works without an activity"
	case works && work == nil:
		return "nothing works on its task " + t.ID
	case works && !isHeld(s):
		return "its task " + t.ID + " does not begin"
	}
	return ""
}

// planUnfinished returns what a plan should have done before it rests, "" for nothing. byClient is whether
// a client has work by hand.
func planUnfinished(p *opt.Plan, byClient bool) string {
	asks := []string{opt.BlockedByInput, opt.BlockedByAuth}
	switch {
	case p.Settled():
		return "its workflow does not end"
	case p.Stopping != "":
		return "it is being stopped and does not end"
	case p.Status == opt.PlanWorking && !byClient:
		return "nothing works"
	case slices.Contains(asks, p.Reason) && !slices.ContainsFunc(p.Tasks, func(t *opt.Task) bool { return t.State.Waiting() }):
		return "no person is asked"
	case p.OnHold():
	case p.Reason == opt.BlockedByOperator:
		return "it is not paused"
	case len(p.Ready()) > 0:
		return "tasks are ready"
	}
	return ""
}

// nobodyWaitsInVain: when nothing runs, no objective holds the turn or waits for
// it: an objective that cannot continue gives it back (invariant 4).
func nobodyWaitsInVain(w *world, r *run, s *machine.ContextState) {
	if s.Holder != nil || len(s.Front)+len(s.Waiting) > 0 {
		holder := "nobody"
		if s.Holder != nil {
			holder = w.name(s.Holder.ID)
		}
		w.fail("turns", "%s rests, %s has the turn, %d wait", w.name(r.id), holder, len(s.Front)+len(s.Waiting))
	}
}

// knowsItsPlans: an objective shows the true states of its plans (invariant 5).
func knowsItsPlans(w *world, s *machine.ObjectiveState) {
	for _, p := range s.Objective.Plans {
		own := w.planState(p.ID)
		if own == nil || p.Over() {
			continue
		}
		is, shown := lookOf(&own.Plan, len(own.Plan.Brief().Open)), lookOf(p, len(p.Report.Open))
		if is != shown {
			w.fail("known", "%s is %s, its objective takes it for %s", w.name(p.ID), is, shown)
		}
		if l := s.Links[slices.IndexFunc(s.Links, func(l *machine.Link) bool { return l.PlanID == p.ID })]; l.Directive.N != own.Directive.N {
			w.fail("known", "%s has not acted upon directive %d", w.name(p.ID), l.Directive.N)
		}
		knowsUse(w, s, own)
		if own.Plan.Started && own.Heard != len(s.Notes) {
			w.fail("notes", "%s has %d notes of %d", w.name(p.ID), own.Heard, len(s.Notes))
		}
	}
	rollsUp(w, &s.Objective)
}

// lookOf describes what an objective shows of a plan with open gates.
func lookOf(p *opt.Plan, gates int) string {
	return fmt.Sprintf("%s (%s) paused %v started %v gates %d", p.Status, p.Reason, p.Paused, p.Started, gates)
}

// counts returns how many gates of an objective are open, how many of its plans, and how many were completed.
func counts(w *world, o *opt.Objective) (gates, open, completed int) {
	for _, p := range o.Plans {
		switch {
		case !p.Over():
			open++
			if own := w.unended(w.open(p.ID), p); own != nil {
				gates += len(own.Plan.Waiting())
			}
		case p.Status == opt.PlanCompleted && !p.Kept:
			completed++
		}
	}
	return gates, open, completed
}

// rollsUp: an objective and its root task agree with a simple roll-up of the
// plans (invariant 5).
func rollsUp(w *world, o *opt.Objective) {
	switch gates, open, completed := counts(w, o); {
	case gates > 0 && !o.Root.Waiting() && o.Status != opt.ObjectiveSubmitted && o.Stopping == "":
		w.fail("rollup", "%s shows %s, though a gate is open", w.name(o.ID), o.Root)
	case open == 0 && completed > 0 && !o.Status.Ended() && o.Status != opt.ObjectivePlanning:
		w.fail("rollup", "%s is %s, though all its plans are done", w.name(o.ID), o.Status)
	case o.Root.Ended() != o.Status.Ended():
		w.fail("rollup", "%s is %s and its root task %s", w.name(o.ID), o.Status, o.Root)
	}
}

// rowsEqualStates: when all is recorded, the rows are equal to the states of the
// machines (invariant 5).
func rowsEqualStates(w *world) {
	for _, id := range w.journal.order {
		r := w.latest[id]
		if r == nil || r.m.(objectiveHost).o.State.Forgotten { // the journal has another end
			continue
		}
		row, own := &w.journal.rows[id].objective, &r.m.(objectiveHost).o.State.Objective
		head := *own.Head()
		if w.rules < 4 { // then it may be recorded later who has shaped the work
			head.Shapers = row.Shapers
		}
		same(w, id, []any{row.Head(), row.Text(), len(row.Plans)}, []any{head, own.Text(), len(own.Plans)})
		if root := w.journal.roots[own.RootID()]; root != own.Root {
			w.fail("rows", "the root task of %s is recorded as %s and is %s", w.name(id), root, own.Root)
		}
		for _, p := range row.Plans {
			planEqualsStates(w, p, own.Plan(p.ID))
		}
	}
}

// planEqualsStates: a plan in the rows is equal to what its objective shows, and to its own state.
func planEqualsStates(w *world, p, shown *opt.Plan) {
	same(w, p.ID, p.Text(), shown.Text())
	own := w.planState(p.ID)
	if own == nil || w.latest[p.ID].attempt != p.Run || p.Reason == opt.Terminated {
		same(w, p.ID, p.Status, shown.Status)
		if p.Status.Ended() && slices.ContainsFunc(p.Tasks, func(t *opt.Task) bool { return !t.State.Ended() }) {
			w.fail("rows", "%s has ended (%s), and shows tasks that have not", w.name(p.ID), p.Reason)
		}
		return
	}
	same(w, p.ID, p.Head(), own.Plan.Head())
	same(w, p.ID, tasksOf(p), tasksOf(&own.Plan))
	if !w.facts.isReset(p.ID, p.ObjectiveID) { // else in another order, or of the run before alone
		same(w, p.ID, notesOf(p), notesOf(&own.Plan))
	}
}

// tasksOf lists the tasks of a plan as the journal shows them.
func tasksOf(p *opt.Plan) []any {
	var out []any
	for _, t := range p.Tasks {
		gate := ""
		if t.Gate != nil {
			gate = t.Gate.ID
		}
		out = append(out, []any{t.A2AID(), t.Name, t.State, t.Reason, gate, t.Gates, t.Link, t.Follow, t.Dependencies, t.Artifacts})
	}
	return out
}

// notesOf lists the notes to the tasks of a plan.
func notesOf(p *opt.Plan) (out [][]a2a.Message) {
	for _, t := range p.Tasks {
		out = append(out, t.Notes)
	}
	return out
}

// allAnswered: each command that was handled or has begun a run is answered, and each change has a
// command (invariant 3).
func allAnswered(w *world) {
	f := &w.facts
	for _, id := range slices.Sorted(maps.Keys(f.taken)) {
		if f.answers[id] == 0 {
			w.fail("answers", "command %s is not answered", id)
		}
		if c := f.commands[id]; !f.cut[f.taken[id]] && !f.cut[c.PlanID] { // else they may have done more, or less, than is recorded
			isAppliedAsAnswered(w, c)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(f.retries)) {
		if f.answers[id] == 0 && w.journal.rows[f.retries[id]] != nil {
			w.fail("answers", "command %s has begun a run, and is not answered", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(f.applied)) {
		if n := f.applied[id]; n != 0 {
			w.fail("revision", "%s has %d revisions more than changes", w.name(id), n)
		}
	}
}

// isAppliedAsAnswered: the name in a refused command appears nowhere; that of an applied one does.
func isAppliedAsAnswered(w *world, c opt.Command) {
	name := "named by " + c.ID
	there, refused := w.journal.texts[name], w.facts.refused[c.ID]
	switch {
	case there && refused:
		w.fail("answers", "command %s was refused and is applied", c.ID)
	case !there && !refused && gives(c, name):
		w.fail("answers", "command %s was answered as applied and is not", c.ID)
	}
}

// gives reports whether a command gives a name.
func gives(c opt.Command, name string) bool {
	switch c.Kind {
	case opt.AddTasks:
		return c.Tasks[0].Name == name
	case opt.CreatePlan:
		return c.Plan.Name == name
	}
	return c.Change != nil && c.Change.Name != nil
}

// allJudged: each letter that a workflow has handled is judged once (invariant
// 7).
func allJudged(w *world) {
	for _, id := range slices.Sorted(maps.Keys(w.facts.heard)) {
		if n := w.facts.judged[id]; n != 1 && !(n > 1 && w.facts.again[id]) {
			w.fail("letters", "letter %s is judged %d times", id, n)
		}
	}
}

func same(w *world, id string, row, state any) {
	if a, b := string(encoded(row)), string(encoded(state)); a != b {
		w.fail("rows", "of %s is recorded\n%s, but it is\n%s", w.name(id), w.name(a), w.name(b))
	}
}
