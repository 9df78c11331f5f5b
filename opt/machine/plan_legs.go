package machine

import (
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// legs is the part of a Plan for work that is done in legs, and for callbacks.
type legs struct{ tasks }

// maxCallbacks is how many ids of callbacks are kept to know repeats.
const maxCallbacks = 100

// unconfirmed is the text of a task whose work elsewhere could not be canceled.
const unconfirmed = "The task was canceled. Whether the work that it began elsewhere has ended is not known."

// remember stores the memo and the usage in an outcome.
func (m legs) remember(t *opt.Task, out opt.Outcome) {
	s := &m.State
	if out.Memo != nil {
		s.Memos = made(s.Memos)
		s.Memos[t.ID] = opt.Memo{Data: out.Memo, OnCancel: out.OnCancel}
	}
	if out.Usage != nil {
		s.Spent = made(s.Spent)
		s.Spent[t.ID] = s.Spent[t.ID].Plus(*out.Usage)
	}
}

// forget drops the work on t, which ends.
func (m legs) forget(t *opt.Task) {
	delete(m.State.Work, t.ID)
	delete(m.State.Memos, t.ID)
}

// spent returns the usage of the plan.
func (s *PlanState) spent() (sum opt.Usage) {
	for _, t := range s.Plan.Tasks {
		sum = sum.Plus(s.Spent[t.ID])
	}
	return sum
}

// park ends a leg of t. The next one begins when the wait is over or a callback
// arrives; one that has arrived during the leg counts. At a gate, which out may open, the
// legs watch the work elsewhere: an outcome that does not wait closes the gate.
func (m legs) park(t *opt.Task, w *Work, out opt.Outcome, e opt.Event) {
	m.collect(t, out.Artifacts, out.Streamed, e)
	if out.State == opt.TaskWorking || out.Gate != nil {
		m.leaveGate(t, w)
	}
	if out.Gate != nil {
		m.openForExecutor(t, *out.Gate)
		w.AtGate, w.Returned = true, nil
	}
	if text := out.Park.Text; text != "" && text != w.Parked && !w.AtGate { // else it would hide the progress since then
		w.Parked = text
		m.inform(t, w, text)
	}
	if w.Returned != nil {
		m.beginReturning(t, w)
		return
	}
	w.Leg++
	w.Waiting, w.Elsewhere, w.Watches, w.Beat = true, out.Park.Elsewhere, 0, ""
	if wait := time.Duration(out.Park.Wait) * time.Millisecond; wait > 0 && w.Elsewhere == nil && !w.Woken {
		w.Due = a2a.At(m.now.Time().Add(wait))
	}
	w.Woken = false
}

// leaveGate closes the gate at which w watches, if it does: the work elsewhere continues
// without an answer, or asks something else. That begins a new round.
func (m legs) leaveGate(t *opt.Task, w *Work) {
	if !w.AtGate {
		return
	}
	w.Round, w.Attempt, w.Leg, w.AtGate = t.Gates+1, 1, 0, false
	m.moveTask(t, opt.TaskWorking, opt.Event{Round: w.Round, Attempt: w.Attempt})
}

// openForExecutor opens a gate of an executor, which makes the object again.
func (m legs) openForExecutor(t *opt.Task, gate opt.Gate) {
	gate.Sources, gate.Form = nil, nil
	m.openGate(t, gate)
}

// authorizeByHand continues t, which waits for an authorization: that a client moves it to
// working says that the authorization was given.
func (m legs) authorizeByHand(t *opt.Task, c opt.Command) {
	reply := opt.Reply{GateID: t.Gate.ID, Action: opt.Accept, Feedback: c.Text, DecidedBy: c.Principal, At: m.now}
	e := opt.Event{Principal: c.Principal, Decision: m.decided(t.A2AID(), reply, opt.Accepted, opt.Decision{ByHand: true}), Round: t.Gates + 1, Attempt: 1}
	m.applyUnrecorded(opt.Event{Kind: opt.MessageAdded, TaskID: t.A2AID(), Reply: &reply, Verdict: opt.Accepted})
	m.nextRound(t)
	m.moveTask(t, opt.TaskWorking, e)
}

// waits returns the summary of the timer of w.
func (w *Work) waits(t *opt.Task) string {
	if w.Leg > 0 {
		return "Look at " + t.Name + " again"
	}
	return "Wait before the next attempt at " + t.Name
}

// inform shows text to clients as the progress of t, unless it is the latest text
// already.
func (m legs) inform(t *opt.Task, w *Work, text string) {
	if w.Said == text {
		return
	}
	w.Said = text
	m.moveTask(t, t.State, opt.Event{
		Reason: t.Reason, Round: w.Round, Attempt: w.Attempt, Leg: w.Leg, Status: m.say(t, fmt.Sprintf(":progress-%d", m.State.N), text),
	})
}

// beginReturning begins the leg that ends the round with the outcome of a callback or an activity
// elsewhere: the leg checks the outcome and stores its large contents. A pause does not
// hold it back, since it is not new work.
func (m legs) beginReturning(t *opt.Task, w *Work) {
	if !w.Waiting { // else the leg before has made room for it
		w.Leg++
	}
	w.Waiting, w.Due, w.Elsewhere, w.Woken = false, a2a.Time{}, nil, false
	w.Running, w.Returning, w.Root = true, true, m.shows(t)
}

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

// onWatched shows the texts and chunks in heartbeats of an activity elsewhere.
func (m legs) onWatched(in Watched) {
	for _, t := range m.State.Plan.Tasks {
		w := m.State.Work[t.ID]
		if w == nil || !w.Running || !w.watched() || w.watchKey(t) != in.Key {
			continue
		}
		w.Watches++
		if in.Digest == "" {
			return
		}
		w.Beat = in.Digest
		if in.Untaken {
			m.inform(t, w, fmt.Sprintf("Waiting for a worker of queue %q.", w.Elsewhere.Queue))
		}
		if in.Text != "" {
			m.inform(t, w, in.Text)
		}
		if in.Chunk != nil {
			m.add(t, *in.Chunk)
		}
		return
	}
}

// onCallback handles a callback for a task. A repeated callback, or one for a round that
// is over, changes nothing, but work elsewhere may wake every round. At a gate that is all
// that it may do.
func (m legs) onCallback(c opt.Callback) {
	t := m.State.Plan.Task(c.TaskID)
	if t == nil || t.A2AID() != c.TaskID || t.Link != "" { // a linked task has no callback URL
		return
	}
	w, wakes := m.State.Work[t.ID], c.Text == "" && c.Chunk == nil && c.Outcome == nil
	if w == nil || w.Canceling || t.State.Ended() || slices.Contains(w.Callbacks, c.ID) || !wakes && (w.AtGate || w.Round != c.Round) {
		return
	}
	if w.Callbacks = append(w.Callbacks, c.ID); len(w.Callbacks) > maxCallbacks {
		w.Callbacks = slices.Delete(w.Callbacks, 0, len(w.Callbacks)-maxCallbacks)
	}
	if c.Text != "" {
		m.inform(t, w, c.Text)
	}
	if c.Chunk != nil {
		m.add(t, *c.Chunk)
	}
	switch {
	case c.Outcome != nil && w.Returned == nil:
		w.Returned = c.Outcome
		if w.Waiting {
			m.beginReturning(t, w)
		}
	case wakes:
		w.wake()
	}
}

// wake lets the next leg begin at once. The wait after a failed attempt is not cut
// short.
func (w *Work) wake() {
	w.Woken = w.Running
	if w.Leg > 0 {
		w.Due = a2a.Time{}
	}
}

// add adds a chunk of an artifact from a callback or a heartbeat.
func (m legs) add(t *opt.Task, c opt.Chunk) {
	c.Artifact.ArtifactID = opt.ArtifactID(t.A2AID(), c.Artifact.ArtifactID)
	e := opt.Event{Kind: opt.ArtifactAdded, TaskID: t.A2AID(), Chunk: &c}
	if m.shows(t) {
		e.RootID = m.State.RootID
		if !slices.Contains(m.State.Shown, c.Artifact.ArtifactID) {
			m.State.Shown = append(m.State.Shown, c.Artifact.ArtifactID)
		}
	}
	m.apply(e)
}

// cancels reports whether t has begun work elsewhere that its executor can cancel. Only a task
// that ends canceled has it canceled: a client that completes one by hand has taken it over.
func (m legs) cancels(t *opt.Task) bool { return m.State.Memos[t.ID].OnCancel }

// cancelAtGates cancels the work elsewhere of doomed tasks at gates, before the tasks
// end.
func (m legs) cancelAtGates() (any bool) {
	for _, t := range m.State.Plan.DoomedAtGates() {
		if !m.cancels(t) {
			delete(m.State.Work, t.ID) // a leg that watches at the gate
			continue
		}
		m.cancel(t, nil)
		any = true
	}
	return any
}

// cancel begins the leg that cancels the work of t elsewhere. w is the work on t, nil
// for none.
func (m legs) cancel(t *opt.Task, w *Work) {
	if w == nil || w.AtGate {
		w = &Work{Round: t.Gates + 1, Attempt: 1}
		m.State.Work[t.ID] = w
	}
	w.Waiting, w.Due, w.Elsewhere, w.Returned = false, a2a.Time{}, nil, nil
	w.Running, w.Canceling = true, true
	if t.State != opt.TaskWorking {
		m.moveTask(t, opt.TaskWorking, opt.Event{Round: w.Round, Attempt: w.Attempt, Leg: w.Leg})
	}
}

// endCanceled ends t after the leg that cancels. The work elsewhere may have been
// completed before.
func (m legs) endCanceled(t *opt.Task, in Ended, e opt.Event) {
	out, text := in.Outcome, unconfirmed
	if in.Failed == nil && out.State == opt.TaskCompleted {
		m.complete(t, out.Artifacts, out.Streamed, e)
		return
	}
	if in.Failed == nil && out.State.Ended() && out.Message != "" {
		text = out.Message
	}
	m.end(t, opt.TaskCanceled, string(opt.TaskCanceled), text, e)
}
