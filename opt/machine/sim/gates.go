package sim

import (
	"cmp"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// beforeReply notes what may be about to be sent back.
func beforeReply(w *world, r *run, in machine.Letter) {
	h, ok := r.m.(planHost)
	if !ok || in.Reply == nil || in.Reply.Action != opt.Refine {
		return
	}
	t := h.p.State.Plan.Task(in.TaskID)
	if t == nil || t.Gate == nil || t.Gate.ID != in.Reply.GateID {
		return
	}
	made := []string{}
	for _, id := range t.Gate.Sources {
		made = append(made, h.p.State.Plan.Task(id).A2AID())
	}
	w.facts.plan(r.id).sending[t.Gate.ID] = made
}

// passedAlone notes what an approval knows that is accepted without a reply.
func passedAlone(w *world, r *run, s *machine.PlanState, e opt.Event) {
	if f := w.facts.plan(r.id); f.gates[e.TaskID].isPassedAlone(e) {
		f.notesAt[e.TaskID] = notesNow(s)
	}
}

// decidedBySome: a gate is passed only by as many principals as it asks for, and
// each of them may decide.
func decidedBySome(w *world, r *run, s *machine.PlanState, e opt.Event) {
	f, t := w.facts.plan(r.id), s.Plan.Task(cmp.Or(e.ForTask, e.TaskID))
	if e.Reply == nil || e.Verdict != opt.Accepted || e.Reply.Action == opt.Ask || t == nil {
		return
	}
	if e.Reply.Action == opt.Refine {
		f.sentBack[t.A2AID()] = f.sending[e.Reply.GateID]
	}
	open := f.gates[t.A2AID()]
	if accepts := e.Reply.Action == opt.Accept || e.Reply.Action == opt.EditAccept; open.isApproval() && t.Gate == nil && accepts {
		f.notesAt[t.A2AID()] = notesNow(s)
	}
	open.takes(w, f, t, *e.Reply)
	apart(w, s, *e.Reply)
}

// decidedByChecks: checks decide without a person only as a group, about results that no client has
// made and notes that no client has written, until a person was asked; they send an object back only
// as often as they may.
func decidedByChecks(w *world, r *run, s *machine.PlanState, e opt.Event) {
	if d := e.Decision; d == nil || d.DecidedBy != opt.ByChecks || !d.Closed {
		return
	}
	f, t := w.facts.plan(r.id), s.Plan.Task(e.TaskID)
	checks := t.Ask.Form.Checks
	if e.Decision.Action == opt.Refine {
		f.rounds[e.TaskID]++
	} else {
		f.notesAt[e.TaskID] = map[string]bool{}
	}
	agreed(w, s, checks, e)
	switch {
	case f.rounds[e.TaskID] > checks.Rounds:
		w.fail("checks", "%s is sent back %d times", w.name(e.TaskID), f.rounds[e.TaskID])
	case f.asked[e.TaskID]:
		w.fail("checks", "%s is decided by checks after people were asked", w.name(e.TaskID))
	case hasUnchecked(s, t), f.ordered:
		w.fail("checks", "%s is decided by checks that have not seen a note, or another order", w.name(e.TaskID))
	}
	if slices.ContainsFunc(s.Plan.Inputs(t), byClient) {
		w.fail("checks", "%s is about what a client has made", w.name(e.TaskID))
	}
}

// decidedByStanding: a standing decision decides only about the object for which its rule holds, which
// no client has made and of which no note is, with as many people behind it as the gate asks for. Each
// of them may decide there, and has not shaped the work. No check has rejected the object.
func decidedByStanding(w *world, r *run, s *machine.PlanState, e opt.Event) {
	if !e.Passes() || e.Decision.Standing == nil {
		return
	}
	f, d := w.facts.plan(r.id), e.Decision
	t, by := s.Plan.Task(e.TaskID), d.Standing
	if d.Action == opt.Accept {
		f.notesAt[e.TaskID] = map[string]bool{}
	}
	looked := w.facts.looked[e.TaskID]
	i := slices.IndexFunc(looked, func(q opt.StandingQuestion) bool { return q.Gate.ObjectDigest == d.ObjectDigest })
	if i < 0 || by.ObjectDigest != d.ObjectDigest {
		w.fail("standing", "%s is decided about another object than that of the rule", w.name(d.GateID))
		return
	}
	hasPeople(w, s, looked[i].Gate, d)
	rejects := func(found opt.Finding) bool { return found.Verdict == opt.Reject }
	switch {
	case t.Ask != nil && f.asked[e.TaskID]:
		w.fail("standing", "%s is decided after people were asked", w.name(d.GateID))
	case t.Standing == "", slices.ContainsFunc(d.Checks, rejects):
		w.fail("standing", "%s is decided against its playbook or its checks", w.name(d.GateID))
	case hasUnchecked(s, t), f.ordered, slices.ContainsFunc(s.Plan.Inputs(t), byClient):
		w.fail("standing", "%s is decided about what a client has a part in", w.name(d.GateID))
	}
}

// hasPeople: as many people are behind a standing decision as the gate asks for, and each may decide there.
func hasPeople(w *world, s *machine.PlanState, of opt.Gate, d *opt.Decision) {
	gate, people := openGate{Gate: of}, map[string]bool{}
	for _, v := range d.Standing.By {
		if people[v.DecidedBy] = true; !gate.may(v.DecidedBy) || v.DecidedBy == s.Requester || slices.Contains(s.Shapers, v.DecidedBy) {
			w.fail("standing", "%s is decided by %s, who may not", w.name(d.GateID), v.DecidedBy)
		}
	}
	need := 1
	if of.Responders != nil && d.Action == opt.Accept {
		need = max(need, of.Responders.Accepts)
	}
	if len(people) < need {
		w.fail("standing", "%s is passed by %d principals", w.name(d.GateID), len(people))
	}
}

// agreed: as many checks as are needed give the verdict, of those that have run.
func agreed(w *world, s *machine.PlanState, checks *opt.Checks, e opt.Event) {
	verdict, n := e.Decision.Action, 0
	if verdict == opt.Refine {
		verdict = opt.Reject
	}
	for _, found := range e.Decision.Checks {
		c := s.Plan.Task(found.TaskID)
		ran := verdict == opt.Reject || c != nil && c.State == opt.TaskCompleted && !byClient(c) // after a reject it is made again
		if found.Verdict == verdict && ran {
			n++
		}
	}
	if n < checks.Groups[0].Need || len(e.Decision.Checks) != len(checks.Places()) {
		w.fail("checks", "%d checks of %s say %s", n, w.name(e.TaskID), verdict)
	}
}

// hasUnchecked reports whether clients have written notes that an approval at t would cover.
func hasUnchecked(s *machine.PlanState, t *opt.Task) bool {
	notes := slices.Concat(s.Notes, t.Notes)
	for _, of := range s.Plan.Tasks {
		if of.Ask == nil {
			notes = append(notes, of.Notes...)
		}
	}
	return slices.ContainsFunc(notes, func(m a2a.Message) bool {
		author, _ := m.Metadata.String(opt.KeyAuthor)
		return author != opt.ByChecks
	})
}

// apart: a deputy, and who has named it, have no part in the work.
func apart(w *world, s *machine.PlanState, reply opt.Reply) {
	if reply.For == nil {
		return
	}
	for _, who := range []string{reply.DecidedBy, reply.For.MadeBy} {
		if who != "" && slices.Contains(append(s.Shapers, s.Requester), who) {
			w.fail("gates", "%s has a part in the work, and in the decision at %s for %s", who, w.name(reply.GateID), reply.For.Principal)
		}
	}
}

// takes: a principal may decide at the gate of a task, or the one that it is the deputy for may, and passes
// it only as the last of those it asks for. Neither has two votes.
func (g *openGate) takes(w *world, f *planFacts, t *opt.Task, reply opt.Reply) {
	seat := reply.DecidedBy
	if reply.For != nil {
		seat = reply.For.Principal
	}
	if g == nil || g.ID != reply.GateID || !g.may(seat) {
		w.fail("gates", "%s decides at %s", seat, w.name(reply.GateID))
	}
	accepts := 1
	if g.Responders != nil {
		accepts = max(accepts, g.Responders.Accepts)
	}
	by := append(f.accepted[reply.GateID], [2]string{reply.DecidedBy, seat})
	f.accepted[reply.GateID] = by
	persons, seats := map[string]bool{}, map[string]bool{}
	for _, v := range by {
		persons[v[0]], seats[v[1]] = true, true
	}
	if n := min(len(persons), len(seats)); reply.Action == opt.Accept && t.Gate == nil && n < accepts {
		w.fail("gates", "%s is passed by %d principals", w.name(reply.GateID), n)
	}
}

// isApproval reports whether g is open and asks for approval.
func (g *openGate) isApproval() bool { return g != nil && g.Kind == opt.Approval && !g.Budget }

// isPassedAlone reports whether g is an approval that e accepts without a reply.
func (g *openGate) isPassedAlone(e opt.Event) bool {
	d := e.Decision
	return g.isApproval() && d != nil && d.Action == opt.Accept && (d.ByHand || e.Step == opt.Expire)
}

// gateIsNew: a gate shows the present results of the tasks that it is about; after
// they were sent back, these are made by a later attempt.
func gateIsNew(w *world, r *run, s *machine.PlanState, e opt.Event) {
	if !opensGate(e) || len(e.Gate.Sources) == 0 {
		return
	}
	var parts []a2a.Part
	for _, id := range e.Gate.Sources {
		t := s.Plan.Task(id)
		if slices.Contains(w.facts.plan(r.id).sentBack[e.TaskID], t.A2AID()) {
			w.fail("gates", "%s opens with results that were sent back", w.name(e.Gate.ID))
		}
		if !t.State.Ended() && !s.Plan.Loose { // under earlier rules a task did not wait for all
			w.fail("gates", "%s opens before %s has ended", w.name(e.Gate.ID), w.name(t.ID))
		}
		for _, a := range t.Artifacts {
			parts = append(parts, a.Parts...)
		}
	}
	if !slices.ContainsFunc(s.Plan.Tasks, func(t *opt.Task) bool { return t.Ask != nil && len(t.Artifacts) > 0 }) {
		same(w, e.Gate.ID, e.Gate.Object, parts)
	}
}

// chained: each reply that a plan judges, and each gate that expires, has a record,
// which follows on the one before it in its chain.
func chained(w *world, r *run, s *machine.PlanState, e opt.Event) {
	d := e.Decision
	if d == nil {
		if e.Reply != nil || e.Step == opt.Expire {
			w.fail("chain", "%s leaves no record of a decision at %s", e.Kind, w.name(e.TaskID))
		}
		return
	}
	source, chains := s.Source(), w.facts.plan(r.id).chains
	chain := chains[source]
	before := chain
	if again := chain.Add(*d); d.N != again.N || d.Previous != before.Hash || d.Hash != again.Hash {
		w.fail("chain", "decision %d of %s follows on %s, want %d on %s", d.N, source, d.Previous, again.N, before.Hash)
	}
	if e.Reply != nil && !isAbout(d, e) {
		w.fail("chain", "decision %d of %s is not about %s", d.N, source, e.Reply.MessageID)
	}
	chains[source] = chain
}

// isAbout reports whether a record is about the reply in e.
func isAbout(d *opt.Decision, e opt.Event) bool {
	return d.Verdict == e.Verdict && d.DecidedBy == e.Reply.DecidedBy && d.GateID == e.Reply.GateID && d.MessageID == e.Reply.MessageID
}

// stepsInOrder: each step of a gate is taken at most once, in order, never before
// its time, and never after the gate has closed.
func stepsInOrder(w *world, r *run, s *machine.PlanState, e opt.Event) {
	f := w.facts.plan(r.id)
	g := f.gates[e.TaskID]
	if e.Step != "" {
		stepIsDue(w, f, g, e)
	}
	switch {
	case e.Gate == nil:
		delete(f.gates, e.TaskID)
	case g == nil || g.ID != e.Gate.ID:
		f.asked[e.TaskID] = f.asked[e.TaskID] || !e.Gate.Budget
		f.gates[e.TaskID] = &openGate{Gate: *e.Gate}
		hasSteps(w, e.Gate, 0)
		isClocked(w, s, e)
	default:
		hasSteps(w, e.Gate, g.steps)
		if e.Step != "" {
			isPostponed(w, s, g, e)
		}
	}
}

// stepIsDue checks that g takes the step in e, and notes that.
func stepIsDue(w *world, f *planFacts, g *openGate, e opt.Event) {
	switch {
	case g == nil:
		w.fail("steps", "%s takes the step %s at no gate", w.name(e.TaskID), e.Step)
	case g.steps == len(g.Ladder):
		w.fail("steps", "%s takes a step after its last one", w.name(g.ID))
	case g.Ladder[g.steps].Kind != e.Step:
		w.fail("steps", "%s takes the step %s, not %s", w.name(g.ID), e.Step, g.Ladder[g.steps].Kind)
	case e.At.Millis() < g.RequestedAt.Millis()+g.Ladder[g.steps].After*1000:
		w.fail("steps", "%s takes step %d too early", w.name(g.ID), g.steps+1)
	case (e.Step == opt.Expire) != (e.Gate == nil):
		w.fail("steps", "%s is open %v after the step %s", w.name(g.ID), e.Gate != nil, e.Step)
	}
	if s := g.Ladder[g.steps]; s.Kind == opt.Reassign { // votes of others do not count any more
		f.accepted[g.ID] = slices.DeleteFunc(f.accepted[g.ID], func(by [2]string) bool { return !slices.Contains(s.To.Principals, by[1]) })
	}
	g.steps++
}

// isClocked checks that each step of a gate that has just opened comes as its task has it, those in
// working time as people at the office count it. Runs under earlier rules take that for other time.
func isClocked(w *world, s *machine.PlanState, e opt.Event) {
	t, g := s.Plan.Task(e.TaskID), e.Gate
	if t == nil || t.Ask == nil || g.Budget {
		return
	}
	begin, before, done := g.RequestedAt.Millis()/1000, int64(0), int64(0)
	for i, step := range t.Ask.Ladder {
		want, shift := step.After, shiftOf(s, t.Ask, i)
		if step.Works && s.Rules >= 20 {
			want = before + 1
			if left := step.After - done; left > 0 {
				want = max(want, shift.after(begin+before, left)-begin)
			}
		}
		if got := g.Ladder[i].After; got != want {
			w.fail("steps", "%s has step %d after %d s, want %d", w.name(g.ID), i+1, got, want)
		}
		done += shift.worked(begin+before, begin+want)
		before = want
	}
}

// shiftOf returns who counts the time before a step of the gate of a task. Earlier rules know no calendars
// of steps.
func shiftOf(s *machine.PlanState, ask *opt.Gate, i int) Shift {
	if s.Rules >= 28 && slices.ContainsFunc(ask.Ladder[:i+1], func(s opt.Step) bool { return s.Calendar != nil }) {
		return SecondHalf
	}
	return FirstHalf
}

// isPostponed checks that the steps after one that g has just taken are as much later as that was, and that as
// much working time is between them as before. It notes their times.
func isPostponed(w *world, s *machine.PlanState, g *openGate, e opt.Event) {
	after := func(g *opt.Gate, i int) int64 { return g.Ladder[i].After*1000 + g.Late } // milliseconds
	opened := g.RequestedAt.Millis()
	before := after(&g.Gate, g.steps-1)
	now := max(before, e.At.Millis()-opened)
	ask := s.Plan.Task(e.TaskID).Ask
	works := func(i int) bool { return s.Rules >= 28 && ask != nil && !g.Budget && ask.Ladder[i].Works }
	for i := g.steps; i < len(g.Ladder); i++ {
		if works(i) {
			now -= now % 1000 // from here on whole seconds count
		}
		planned := after(&g.Gate, i)
		want := now + planned - before
		if works(i) {
			f, begin := shiftOf(s, ask, i), opened/1000
			if work := f.worked(begin+before/1000, begin+planned/1000); work > 0 {
				want = (f.after(begin+now/1000, work) - begin) * 1000
			}
		}
		if got := after(e.Gate, i); got != want {
			w.fail("steps", "%s has step %d %d ms after it opened, want %d", w.name(g.ID), i+1, got, want)
		}
		before, now = planned, want
	}
	g.Ladder, g.Late = e.Gate.Ladder, e.Gate.Late
}

// hasSteps checks that a gate shows the steps that it has taken.
func hasSteps(w *world, g *opt.Gate, n int) {
	if g.Taken != n {
		w.fail("steps", "%s shows %d steps, and has taken %d", w.name(g.ID), g.Taken, n)
	}
}

// may reports whether a principal may decide at g now.
func (g *openGate) may(by string) bool {
	who := opt.Responders{}
	if g.Responders != nil {
		who = *g.Responders
	}
	everyone := len(who.Principals)+len(who.Groups) == 0
	for _, s := range g.Ladder[:g.steps] {
		switch {
		case s.Kind == opt.Reassign:
			who.Principals, everyone = s.To.Principals, false
		case s.Kind == opt.Escalate:
			who.Principals = slices.Concat(who.Principals, s.To.Principals)
		}
	}
	return (everyone || slices.Contains(who.Principals, by)) && (!who.NotRequester || by != principals[0])
}
