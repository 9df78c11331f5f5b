package machine

import (
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// Work that is done in legs, and callbacks for it.

// maxCallbacks is how many ids of callbacks are kept to know repeats.
const maxCallbacks = 100

// unconfirmed is the text of a task whose work elsewhere could not be canceled.
const unconfirmed = "The task was canceled. Whether the work that it began elsewhere has ended is not known."

// stops reports whether the activity of w should stop. An activity elsewhere also stops
// when a callback has brought the outcome.
func (w *Work) stops() bool { return w.Stop || w.Elsewhere != nil && w.Returned != nil }

// watched reports whether the activity of w is watched: until a worker takes it, and for
// its heartbeats if it has any.
func (w *Work) watched() bool {
	return w.Elsewhere != nil && !w.stops() && (w.Elsewhere.Heartbeat > 0 || w.Watches == 0)
}

// watchKey returns the key of the activity that reads the next heartbeat.
func (w *Work) watchKey(t *opt.Task) string { return fmt.Sprintf("%s:watch-%d", w.key(t), w.Watches) }

// wake lets the next leg begin at once. The wait after a failed attempt is not cut
// short.
func (w *Work) wake() {
	w.Woken = w.Running
	if w.Leg > 0 {
		w.Due = a2a.Time{}
	}
}

// hear lets the next leg begin at once after a note, if the leg before it has asked for that.
func (w *Work) hear() {
	w.Noted = w.Running
	if w.Hears && w.Waiting && w.Leg > 0 {
		w.Due = a2a.Time{}
	}
}

// remember stores the memo and the usage in an outcome. e has the leg.
func (j job) remember(out opt.Outcome, e opt.Event) {
	k, id := j.kept, j.task.ID
	if out.Memo != nil {
		k.Memos = made(k.Memos)
		k.Memos[id] = opt.Memo{Data: out.Memo, OnCancel: out.OnCancel}
	}
	if out.Usage == nil {
		return
	}
	used := out.Usage.Reported()
	if j.plan.facts().rules < rulesBudget {
		used.Calls = 0
	}
	k.use(id, used)
	if !used.IsZero() && j.plan.facts().rules >= rulesUsage {
		e.Kind, e.TaskID, e.Usage, e.Budgets = opt.UsageAdded, j.task.A2AID(), &used, j.plan.facts().spending.shownWith(out.Budgets)
		j.plan.record(e)
	}
	k.Limited = k.Limited || out.Budgets != nil && out.Budgets.Objective != (opt.SpendLimit{}) && j.plan.facts().rules >= rulesBudget
}

// park ends a leg. The next one begins when the wait is over or a callback
// arrives; one that has arrived during the leg counts. At a gate, which out may open, the
// legs watch the work elsewhere: an outcome that does not wait closes the gate.
func (j job) park(out opt.Outcome, e opt.Event) {
	w := j.work()
	j.collect(out.Artifacts, out.Streamed, e)
	if out.State == opt.TaskWorking || out.Gate != nil {
		j.leaveGate()
	}
	if out.Gate != nil {
		j.plan.openGate(j.task, out.Gate, &opt.StandingUse{}) // the work elsewhere continues meanwhile, so that people are asked
		if j.work() != w {                                    // the budget has no room for the question
			return
		}
		w.AtGate, w.Returned = true, nil
	}
	if text := out.Park.Text; text != "" && text != w.Parked && !w.AtGate { // else it would hide the progress since then
		w.Parked = text
		j.inform(text)
	}
	if w.Returned != nil {
		j.beginReturning()
		return
	}
	w.Streamed = slices.Compact(slices.Sorted(slices.Values(slices.Concat(w.Streamed, out.Streamed))))
	w.await(*out.Park, j.plan.facts())
}

// await has the next leg wait.
func (w *Work) await(p opt.Park, f facts) {
	w.Leg++
	w.Waiting, w.Elsewhere, w.Watches, w.Beat = true, p.Elsewhere, 0, ""
	if f.rules >= rulesBudget {
		w.Needs = p.Needs
	}
	w.Hears = p.Notes && f.rules >= rulesNotes
	if wait := time.Duration(p.Wait) * time.Millisecond; wait > 0 && w.Elsewhere == nil && !w.Woken && !(w.Hears && w.Noted) {
		w.Due = a2a.At(f.now.Time().Add(wait))
	}
	w.Woken, w.Noted = false, false
}

// leaveGate closes the gate at which the legs watch, if they do: the work elsewhere continues
// without an answer, or asks something else. That begins a new round.
func (j job) leaveGate() {
	w := j.work()
	if !w.AtGate {
		return
	}
	w.Round, w.Attempt, w.Leg, w.Streamed, w.AtGate = j.task.Gates+1, 1, 0, nil, false
	j.move(opt.TaskWorking, opt.Event{Round: w.Round, Attempt: w.Attempt})
}

// inform shows text to clients as the progress of the task, unless it is the latest text
// already.
func (j job) inform(text string) {
	reason := j.task.Reason
	if reason == opt.HeldByQuota { // it works meanwhile, or says so again
		reason = ""
	}
	show(j, reason, text)
}

// show is inform with the reason of the state of the task.
func show(j job, reason, text string) {
	t, w := j.task, j.work()
	if w.Said == text {
		return
	}
	w.Said = text
	j.move(t.State, opt.Event{
		Reason: reason, Round: w.Round, Attempt: w.Attempt, Leg: w.Leg, Status: j.say(fmt.Sprintf(":progress-%d", j.plan.facts().n), text),
	})
}

// beginReturning begins the leg that ends the round with the outcome of a callback or an activity
// elsewhere: the leg checks the outcome and stores its large contents. A pause does not
// hold it back, since it is not new work.
func (j job) beginReturning() {
	w := j.work()
	lap(j, 0)
	if !w.Waiting { // else the leg before has made room for it
		w.Leg++
	}
	w.Waiting, w.Due, w.Elsewhere, w.Woken, w.Noted, w.Needs = false, a2a.Time{}, nil, false, false, opt.Usage{}
	w.Running, w.Returning, w.Root = true, true, j.plan.leaf(j.task)
}

// watched shows the text and chunk in a heartbeat of the activity elsewhere.
func (j job) watched(in Watched) {
	w := j.work()
	w.Watches++
	if in.Digest == "" {
		return
	}
	w.Beat = in.Digest
	if in.Untaken {
		j.inform(fmt.Sprintf("Waiting for a worker of queue %q.", w.Elsewhere.Queue))
	}
	j.progress(in.Text, in.Chunk)
}

// takes reports whether a callback is for the task. A repeated callback, or one for a round that
// is over, is not, but work elsewhere may wake every round. At a gate that is all that it may do. A
// linked task has no callback URL.
func (j job) takes(c opt.Callback, wakes bool) bool {
	t, w := j.task, j.work()
	if t.A2AID() != c.TaskID || t.Link != "" || t.State.Ended() || w.Canceling || w.Opens || slices.Contains(w.Callbacks, c.ID) {
		return false
	}
	return wakes || !w.AtGate && w.Round == c.Round && (!w.Held || c.Outcome != nil)
}

// called handles a callback.
func (j job) called(c opt.Callback) {
	w, wakes := j.work(), c.Text == "" && c.Chunk == nil && c.Outcome == nil
	if !j.takes(c, wakes) {
		return
	}
	if w.Callbacks = append(w.Callbacks, c.ID); len(w.Callbacks) > maxCallbacks {
		w.Callbacks = slices.Delete(w.Callbacks, 0, len(w.Callbacks)-maxCallbacks)
	}
	if w.Held && c.Outcome != nil { // which needs no more of the budget
		j.release(opt.Event{})
	}
	j.progress(c.Text, c.Chunk)
	switch {
	case c.Outcome != nil && w.Returned == nil:
		w.Returned = c.Outcome
		if w.Waiting {
			j.beginReturning()
		}
	case wakes:
		w.wake()
	}
}

// progress shows a text and adds a chunk of an artifact from a callback or a heartbeat.
func (j job) progress(text string, chunk *opt.Chunk) {
	if text != "" {
		j.inform(text)
	}
	if chunk == nil {
		return
	}
	c := *chunk
	c.Artifact.ArtifactID = opt.ArtifactID(j.task.A2AID(), c.Artifact.ArtifactID)
	e := opt.Event{Kind: opt.ArtifactAdded, TaskID: j.task.A2AID(), Chunk: &c}
	if j.plan.leaf(j.task) {
		e.RootID = j.plan.facts().rootID
		j.plan.show(c.Artifact.ArtifactID)
	}
	j.plan.apply(e)
}

// cancels reports whether the task has begun work elsewhere that its executor can cancel.
func (j job) cancels() bool { return j.kept.Memos[j.task.ID].OnCancel }

// beginCanceling begins the leg that cancels the work elsewhere. by goes into the event that
// closes the gate of the task.
func (j job) beginCanceling(by opt.Event) {
	t, w := j.task, j.work()
	lap(j, 0)
	if w == nil || w.AtGate || w.Held {
		w = &Work{Round: t.Gates + 1, Attempt: 1}
		j.kept.Work[t.ID] = w
	}
	w.Waiting, w.Due, w.Elsewhere, w.Returned = false, a2a.Time{}, nil, nil
	w.Running, w.Canceling = true, true
	if t.State != opt.TaskWorking {
		by.Round, by.Attempt, by.Leg = w.Round, w.Attempt, w.Leg
		j.move(opt.TaskWorking, by)
	}
}

// endCanceled ends the task after the leg that cancels. The work elsewhere may have been
// completed before.
func (j job) endCanceled(in Ended, e opt.Event) {
	out, text := in.Outcome, unconfirmed
	if in.Failed == nil && out.State == opt.TaskCompleted {
		j.complete(out.Artifacts, out.Streamed, e)
		return
	}
	if why := j.work().Overspent; why != "" {
		j.end(opt.TaskFailed, opt.CodeBudget, why, e)
		return
	}
	if in.Failed == nil && out.State.Ended() && out.Message != "" {
		text = out.Message
	}
	j.end(opt.TaskCanceled, string(opt.TaskCanceled), text, e)
}

// The budget of a request limits all plans of its objective. Before a step of a task begins, its needs are compared
// with the rest: of its own use a plan has the latest figures, and of that of other plans, in directives, what these may
// use. Overspend is therefore at most one step for each running task.
// At a limit the steps are held, in between two steps of their rounds. One task of a plan asks for all that are.

// Texts about tasks that are held while another one asks.
const (
	heldText     = "Waits until the budget is raised."
	releasedText = "The budget was raised."
	sharedText   = "Waits until other plans leave it some of the budget, or it is raised."
	roomText     = "The budget has room for it."
)

// needs returns what the next step of w needs.
func (w *Work) needs() opt.Usage {
	if w.Opens {
		return opt.Usage{Questions: 1}
	}
	needs := w.Needs
	needs.Seconds = 1
	return needs
}

// counted returns what of that is known before the step.
func (w *Work) counted() opt.Usage {
	return opt.Usage{Calls: w.needs().Calls, Questions: w.needs().Questions}
}

// holds keeps the task from its next step, w, if that needs more than is left of the budget: the plan asks, or
// the task fails. It reports whether it does.
func (j job) holds(w *Work) bool {
	facts := j.plan.facts()
	if facts.spending.fits(w.needs(), opt.Usage{}, facts.now) {
		return false
	}
	w.Running, w.Waiting, w.Held = false, false, true
	j.kept.Work[j.task.ID] = w
	shared := false
	for _, p := range facts.spending.purses(facts.now) {
		over := p.Over(p.used, w.needs())
		switch {
		case !p.may || over == (opt.SpendLimit{}): // others may leave it more
			shared = shared || p.Over(p.counted, w.needs()) != opt.SpendLimit{}
		case p.final().Over(p.used, w.needs()) != (opt.SpendLimit{}):
			j.overspent("The budget of the " + p.of + " is spent: " + over.Text(p.used) + ".")
			return true
		case facts.rules < rulesPlaybookBudget:
			j.ask(excess{purse: p, over: over, spent: p.used})
			return true
		}
	}
	if facts.rules >= rulesPlaybookBudget && j.task.Awaits() { // no more
		j.move(opt.TaskWorking, opt.Event{})
	}
	if shared {
		j.inform(sharedText)
	}
	return true
}

// ask opens the gate about a budget.
func (j job) ask(e excess) {
	facts := j.plan.facts()
	gate := facts.spending.gate(j.task, e, facts.now)
	j.move(gate.State(), opt.Event{Gate: &gate, Status: gate.Message(facts.contextID, j.task.A2AID())})
}

// overspent fails the task, after the work that it has begun elsewhere was canceled.
func (j job) overspent(text string) {
	if j.cancels() {
		j.beginCanceling(opt.Event{})
		j.work().Overspent = text
		return
	}
	j.end(opt.TaskFailed, opt.CodeBudget, text, opt.Event{})
}

// release continues the task with the step that was held.
func (j job) release(closing opt.Event) {
	w := j.work()
	if w.Held, w.Waiting = false, true; j.task.Gate == nil {
		text := releasedText
		if w.Said == sharedText {
			text = roomText
		}
		j.inform(text)
		return
	}
	closing.Round, closing.Attempt, closing.Leg = w.Round, w.Attempt, w.Leg
	j.move(opt.TaskWorking, closing)
}

// heldIn returns the jobs whose steps are held.
func heldIn(jobs []job) (list []job) {
	for _, j := range jobs {
		if w := j.work(); w != nil && w.Held {
			list = append(list, j)
		}
	}
	return list
}

// due returns the calls and questions of those steps that are about to begin.
func due(jobs []job) (sum opt.Usage) {
	for _, j := range jobs {
		w, rules := j.work(), j.plan.facts().rules
		if w != nil && (w.Waiting && rules >= rulesPlaybookBudget || w.Opens && w.Running && rules >= rulesLookAgain) {
			sum = sum.Plus(w.counted())
		}
	}
	return sum
}

// releaseFitting continues as many of the tasks whose steps are held as the budget has room for, after it was raised. It
// reports whether there are any.
func releaseFitting(jobs []job) (any bool) {
	for _, j := range heldIn(jobs) {
		if j.task.Gate == nil && j.plan.facts().rules < rulesPlaybookBudget {
			continue
		}
		if facts := j.plan.facts(); facts.spending.fits(j.work().needs(), due(jobs), facts.now) {
			j.release(opt.Event{})
			any = true
		}
	}
	return any
}

// askHeld has the first task whose step is held ask for all that are, unless one asks already. Those that no raise
// may help fail.
func askHeld(jobs []job) bool {
	held := heldIn(jobs)
	if len(held) == 0 || held[0].plan.facts().rules < rulesPlaybookBudget || slices.ContainsFunc(held, func(j job) bool { return j.task.Gate != nil }) {
		return false
	}
	facts := held[0].plan.facts()
	return slices.ContainsFunc(facts.spending.purses(facts.now), func(p purse) bool { return p.may && p.askFor(held, due(jobs)) })
}

// askFor is askHeld for one budget. due is about to begin.
func (p purse) askFor(held []job, due opt.Usage) bool {
	held = slices.DeleteFunc(slices.Clone(held), func(j job) bool { return !p.holds(j.work().needs(), due) })
	if len(held) == 0 {
		return false
	}
	first, e := held[0], excess{purse: p, spent: p.used.Plus(due)}
	for _, j := range held {
		if over := p.final().Over(e.spent, j.work().needs()); over != (opt.SpendLimit{}) {
			j.overspent("The budget is spent, and no one may raise it: " + over.Text(e.spent) + ".")
			return true
		}
		if j != first {
			e.others = e.others.Plus(j.work().needs())
		}
	}
	e.over = p.Over(e.spent, first.work().needs().Plus(e.others))
	if e.over == (opt.SpendLimit{}) || p.OnExceeded == opt.FailBudget { // there is room for it since the last look, or others may leave it
		return false
	}
	first.ask(e)
	for _, j := range held[1:] {
		j.inform(heldText)
	}
	return true
}

// runs reports whether a task runs, as a [Clock] counts it.
func (w *Work) runs(t *opt.Task) bool {
	switch {
	case w == nil, t.Follow, w.Opens:
		return false
	case w.Running:
		return !w.Quota
	}
	return w.Waiting && w.Leg > 0 && !w.Due.IsZero() && !w.AtGate
}

// lap adds to the clock of the task what passed since the lap before.
func lap(j job, measured int64) {
	if w := j.work(); w != nil && w.Elsewhere != nil { // no worker of ours has measured that
		measured = 0
	}
	c := j.kept.Clocks[j.task.ID]
	c.lap(j.plan.facts().now, measured)
	setClock(j, c)
}

// lapToEnd is the lap at the end of an activity. One that was canceled before a worker has begun it took no time, and one
// that Temporal has timed out the time that it may take: its worker could not say how long it ran.
func lapToEnd(j job, in Ended) {
	ran, f := in.Outcome.Ran, j.plan.facts()
	if in.Failed != nil && ran == 0 && j.work().Elsewhere == nil {
		switch {
		case in.Failed.Canceled:
			restart(j)
		case in.Failed.Code == opt.ReasonTimeout && f.rules >= rulesTimeouts && (in.Failed.TimedOut || f.rules < rulesTimedOut):
			ran = j.task.MayTake(f.limits).Milliseconds()
			if c := j.kept.Clocks[j.task.ID]; !c.Since.IsZero() { // a leg that cancels may take less
				ran = min(ran, f.now.Millis()-c.Since.Millis())
			}
		}
	}
	lap(j, ran)
}

// setClock keeps the clock of the task.
func setClock(j job, c Clock) {
	if c != j.kept.Clocks[j.task.ID] && j.plan.facts().rules >= rulesTime {
		j.kept.Clocks = made(j.kept.Clocks)
		j.kept.Clocks[j.task.ID] = c
	}
}

// restart drops what passed since the latest lap.
func restart(j job) {
	c := j.kept.Clocks[j.task.ID]
	c.Since = a2a.Time{}
	setClock(j, c)
}

// count starts or stops the clock of the task, and takes as many whole seconds off it as are to be counted now. spends
// is whether an event has what its leg has used.
func count(j job, spends bool) (seconds int64) {
	w, id := j.work(), j.task.ID
	c := j.kept.Clocks[id]
	c.turn(j.plan.facts().now, w.runs(j.task))
	setClock(j, c)
	c, known := j.kept.Clocks[id]
	more := w != nil && !w.Opens && (w.Running || w.Leg > 0)
	ended := j.task.State.Ended() && j.plan.facts().rules >= rulesOver // a plan that ends for its next attempt does not wait for the last leg
	if !known || more && !spends && !ended && c.Ran < latestCount {
		return 0
	}
	sum := j.kept.Ran + c.Ran
	if j.kept.Ran, c.Ran = sum%1000, 0; more {
		j.kept.Clocks[id] = c
	} else {
		delete(j.kept.Clocks, id)
	}
	return sum / 1000
}
