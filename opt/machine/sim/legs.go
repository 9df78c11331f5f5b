package sim

import (
	"fmt"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A leg is the record of the invariants about the latest leg of an A2A task.
type leg struct {
	memo     string
	onCancel bool
	due      int64 // when the next leg may begin
	round    int
	parks    int  // in the attempt
	canceled bool // the leg that cancels has ended
	returned bool // a callback or an activity elsewhere has brought an outcome
	owed     bool // the round must end with it
}

// legChecks are the invariants of legs.
type legChecks struct{ *World }

// leg returns the record of an A2A task.
func (f *facts) leg(taskID string) *leg {
	if f.legs[taskID] == nil {
		f.legs[taskID] = &leg{}
	}
	return f.legs[taskID]
}

// beforeEnd notes how a leg ends.
func (w legChecks) beforeEnd(r *run, in machine.Ended) {
	h, ok := r.m.(planHost)
	if !ok {
		return
	}
	for _, t := range h.State.Plan.Tasks {
		work := h.State.Work[t.ID]
		if work == nil || !work.Running || w.keyOf(h, t) != in.Key {
			continue
		}
		l := w.facts.leg(t.A2AID())
		switch {
		case work.AtGate && t.Gate == nil: // it was answered: the next round begins
			return
		case in.Failed == nil && work.Elsewhere != nil, in.Failed != nil && work.Returned != nil && !work.Returning:
			l.parks++
			l.due, l.returned = 0, true
		case in.Failed != nil:
			l.parks = 0
			l.owed = l.owed && !work.Returning
		case in.Outcome.Park != nil:
			if work.AtGate && (in.Outcome.State == opt.TaskWorking || in.Outcome.Gate != nil) {
				l.round, l.parks = l.round+1, 0 // the gate closes, which begins a round
			}
			l.parks++
			l.due = w.now + in.Outcome.Park.Wait
			if work.Woken || work.Returned != nil {
				l.due = 0
			}
		case in.Failed == nil:
			l.parks = 0
		}
		if in.Failed == nil && work.Elsewhere == nil && (in.Outcome.Park == nil || in.Outcome.Gate != nil) {
			l.owed = false // the round ends with it
		}
		if in.Outcome.Memo != nil && work.Elsewhere == nil {
			l.memo, l.onCancel = string(in.Outcome.Memo), in.Outcome.OnCancel
		}
		l.canceled = l.canceled || work.Canceling
	}
}

// keyOf returns the key of the activity that works on t, "" for none.
func (w legChecks) keyOf(h planHost, t *opt.Task) string {
	for _, a := range h.Wants().Activities {
		if a.Of == t.ID {
			return a.Key
		}
	}
	return ""
}

// beforeCallback notes that a callback may wake a task.
func (w legChecks) beforeCallback(in machine.Callback) {
	if in.Outcome != nil || in.Text == "" && in.Chunk == nil {
		w.facts.leg(in.TaskID).due = 0
	}
	if in.Outcome != nil {
		w.facts.leg(in.TaskID).returned = true
	}
}

// beginsLeg: a leg has the memo of the one before it, and begins when the wait is over.
func (w legChecks) beginsLeg(h planHost, a *activity) {
	t := h.State.Plan.Task(a.Of)
	l := w.facts.leg(t.A2AID())
	if a.Kind == machine.FollowTask {
		return
	}
	if string(a.work.Memo) != l.memo {
		w.fail("legs", "%s gets the memo %q, not %q", w.name(a.Key), a.work.Memo, l.memo)
	}
	if a.work.Cancel {
		if !l.onCancel || l.canceled {
			w.fail("legs", "%s cancels work that was not begun, or cancels twice", w.name(a.Key))
		}
		return
	}
	if a.watches && !t.State.Waiting() {
		w.fail("legs", "%s watches a task that is %s", w.name(a.Key), t.State)
	}
	if a.work.Round != l.round {
		l.round, l.parks = a.work.Round, 0
	}
	if a.work.Leg != l.parks {
		w.fail("legs", "%s is leg %d, after %d parks", w.name(a.Key), a.work.Leg, l.parks)
	}
	if a.work.Leg > 0 && w.now < l.due {
		w.fail("legs", "%s begins %d ms too early", w.name(a.Key), l.due-w.now)
	}
}

// afterCallback notes an outcome that the plan has accepted.
func (w legChecks) afterCallback(r *run, in machine.Callback) {
	h, ok := r.m.(planHost)
	if !ok || in.Outcome == nil {
		return
	}
	if t := h.State.Plan.Task(in.TaskID); t != nil {
		if work := h.State.Work[t.ID]; work != nil && work.Returned == in.Outcome && !work.Canceling {
			w.facts.leg(in.TaskID).owed = true
		}
	}
}

// isReturned: an outcome of a callback or an activity elsewhere ends the round.
func (w legChecks) isReturned(r *run, e opt.Event) {
	h, plan := r.m.(planHost)
	if !plan || e.Kind != opt.TaskMoved || !opt.TaskState(e.To).Ended() {
		return
	}
	if l, t := w.facts.leg(e.TaskID), h.State.Plan.Task(e.TaskID); l.owed && !t.ByHand {
		w.fail("legs", "%s ends %s, and an outcome that was returned is lost", w.name(e.TaskID), e.To)
	}
}

// canceledElsewhere: a task that is canceled has canceled its work elsewhere.
func (w legChecks) canceledElsewhere(r *run, e opt.Event) {
	_, plan := r.m.(planHost)
	if !plan || e.Kind != opt.TaskMoved || e.To != string(opt.TaskCanceled) || e.Reason == opt.ByHand {
		return
	}
	if l := w.facts.leg(e.TaskID); l.onCancel && !l.canceled {
		w.fail("legs", "%s is canceled, and its work elsewhere is not", w.name(e.TaskID))
	}
}

// parked returns a random outcome after which a task continues later, or the failure of
// an activity elsewhere that no worker has taken.
func parked(a *activity, c *choice) (opt.Outcome, *machine.Failure) {
	if a.Kind == machine.Elsewhere {
		return opt.Outcome{}, &machine.Failure{Code: "error", Message: "It failed."}
	}
	out := opt.Outcome{State: opt.TaskWorking, Park: &opt.Park{Text: "It continues."}}
	out.Memo, out.OnCancel = encoded("memo of "+a.Key), c.pick(2) == 0
	if a.watches && c.pick(4) < 3 {
		out.State, out.Park.Wait = opt.TaskAuthRequired, 5000
		return out, nil
	}
	switch c.pick(3) {
	case 0:
		out.Park.Wait = 5000
	case 1:
		out.Park.Elsewhere = &opt.Elsewhere{Queue: "elsewhere", Activity: "Work", Heartbeat: c.pick(2)}
	}
	return out, nil
}

// watched returns a random heartbeat.
func watched(a *activity, c *choice) machine.Input {
	in := machine.Watched{Key: a.Key}
	switch c.pick(3) {
	case 0:
		in.Beat = opt.Beat{Digest: a.Key, Text: "It beats."}
	case 1:
		in.Beat = opt.Beat{Digest: a.Key, Untaken: true}
	}
	return in
}

// canceledElsewhere returns a random end of the leg that cancels.
func canceledElsewhere(a *activity, c *choice) machine.Input {
	in := machine.Ended{Key: a.Key}
	switch c.pick(3) {
	case 0:
		in.Outcome = opt.Outcome{State: opt.TaskFailed, Code: "canceled", Message: "The other agent has canceled its task."}
	case 1:
		in.Failed = &machine.Failure{Code: "error", Message: "An error."}
	default:
		in.Outcome = opt.Outcome{State: opt.TaskCompleted}
	}
	return in
}

// sendCallback sends a random callback for a task that the journal shows as working.
func (w clients) sendCallback(c *choice) {
	var working []*opt.Task
	var plans []*opt.Plan
	for _, id := range w.journal.order {
		for _, p := range w.journal.rows[id].objective.Plans {
			for _, t := range p.Tasks {
				if t.State == opt.TaskWorking || t.State == opt.TaskAuthRequired {
					working, plans = append(working, t), append(plans, p)
				}
			}
		}
	}
	if len(working) == 0 {
		w.sendCommand(c)
		return
	}
	i := c.pick(len(working))
	w.n2++
	in := opt.Callback{ID: fmt.Sprintf("callback-%d", w.n2), TaskID: working[i].A2AID(), Round: working[i].Gates + 1}
	switch c.pick(4) {
	case 0:
		in.Text = "Half of it is done."
	case 1:
		in.Chunk = &opt.Chunk{Artifact: a2a.Artifact{ArtifactID: "sent", Parts: []a2a.Part{a2a.TextPart("sent")}}}
	case 2:
		in.Outcome = &opt.Outcome{State: opt.TaskCompleted}
	}
	w.logf("a callback for %s: %s", w.name(in.TaskID), in.ID)
	w.put(op{kind: callback, to: plans[i].ID, in: machine.Callback{Callback: in}})
}

// deliverCallback delivers a callback to a plan, if its workflow is there.
func (w clients) deliverCallback(o op, twice bool) {
	if to := w.temporal().open(o.to); to != nil {
		w.temporal().signal(to, sent(o.in))
	}
	if twice {
		again := o
		again.repeat, again.in = true, sent(o.in)
		w.put(again)
	}
}
