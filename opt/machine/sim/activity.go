package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// The workers run activities, and record the events that ride in them.
type workers struct{ w *world }

// sentBackPause is what an activity waits that was sent back.
var sentBackPause = drive.Pause{First: 5 * time.Second, Longest: 10 * time.Minute}

// endActivity ends an activity with a random result. A canceled activity may also
// end normally.
func (ws workers) endActivity(r *run, index int, c *choice) {
	a := r.activities[index]
	if a.Kind == machine.CallRoll && (ws.w.journal.down || !ws.w.journal.whole()) {
		return
	}
	if a.Kind == machine.LoadKept && ws.w.journal.early([]opt.Batch{{ObjectiveID: r.objective}}) {
		return // it is tried until the journal has what the objective has recorded
	}
	if len(a.ride) > 0 && !a.taken {
		ws.take(r, a, c)
		return
	}
	switch {
	case c.chance(8) && !a.unsure:
		if a.request != nil && c.chance(2) {
			ws.ask(a.request)
		}
		ws.lose(r, a)
	case a.mayWait() && c.chance(8):
		ws.sendBack(r, a)
	case a.Kind == machine.WatchTask:
		ws.over(r, a, watched(a, c))
	default:
		in := ws.result(r, a, c)
		ws.w.logf("%s: %s ends: %s", ws.w.name(r.id), ws.w.name(a.Key), ws.w.say(in))
		ws.w.facts.plan(r.id).endedAt[a.work.Key] = ws.w.now
		ws.over(r, a, in)
	}
}

// lose has the worker of an activity be lost.
func (ws workers) lose(r *run, a *activity) {
	a.unsure = true
	ws.w.logf("%s: a worker is lost with %s", ws.w.name(r.id), ws.w.name(a.Key))
	if a.taken { // else another worker runs it again
		r.drop(a)
		r.answer(a.call, drive.End{Input: machine.Ended{Key: a.Key, Failed: &machine.Failure{Code: "lost"}}, Again: true, Tries: drive.Tries{}.Lose(1)})
	}
}

// sendBack has a worker send an activity back. This run or the next one begins it again.
func (ws workers) sendBack(r *run, a *activity) {
	ws.w.logf("%s: a worker sends %s back", ws.w.name(r.id), ws.w.name(a.Key))
	ws.w.facts.resent[r.id+a.Key] = true
	r.undo = append(r.undo, func() { delete(ws.w.facts.resent, r.id+a.Key) })
	r.drop(a)
	end := drive.End{Input: machine.Ended{Key: a.Key, Failed: &machine.Failure{Code: "quota"}}, Again: true, Pause: sentBackPause}
	if ws.w.journal.down { // it has begun, and could not record what it streams
		end.Tries.Begun = 1
	}
	if !a.ends() && !a.collects {
		end.Held = "Waits for a quota."
		a.held(r)
	}
	r.answer(a.call, end)
}

// result returns the end of an activity for the machine of r.
func (ws workers) result(r *run, a *activity, c *choice) machine.Input {
	switch a.Kind {
	case machine.MakePlans:
		return ws.made(a, c)
	case machine.LoadKept:
		return machine.Loaded{Key: a.Key, Kept: ws.w.journal.kept(r.id)}
	case machine.FollowTask:
		return followed(a, c)
	case machine.LookUp:
		return looked(ws.w, a, c)
	case machine.AskContext, machine.CallRoll:
		return ws.ofContext(a, c)
	case machine.CheckPlan:
		plan := ws.w.latest[a.Of]
		return machine.Checked{Key: a.Key, Gone: plan == nil || plan.terminated}
	}
	return ran(a, c)
}

// ofContext returns the result of an activity about a context.
func (ws workers) ofContext(a *activity, c *choice) machine.Input {
	if a.Kind == machine.AskContext {
		if !(a.asked && c.chance(2)) {
			ws.ask(a.request)
		}
		return machine.Asked{Key: a.Key, Failed: c.chance(4)}
	}
	in := machine.Listed{Key: a.Key, Failed: c.chance(4)}
	in.Begun, in.Waiting = ws.w.journal.members(a.Of)
	return in
}

// ask sends a request to a context, whose workflow begins if it does not run.
func (ws workers) ask(o *op) {
	to := temporal(ws).context(o.to, o.context)
	ws.w.logf("%s hears %s", ws.w.name(o.to), ws.w.say(o.in))
	to.signal(sent(o.in))
}

// over ends an activity with an input for its machine.
func (ws workers) over(r *run, a *activity, in machine.Input) {
	ended, ok := in.(machine.Ended)
	if ok && ended.Failed == nil {
		ended.Outcome.Refused = a.refused
		in = ended
	}
	ws.w.facts.plan(r.id).over[a.work.Key] = a.attempt
	r.drop(a)
	r.answer(a.call, drive.End{Input: in, Returned: ended.Failed == nil})
}

func (ws workers) made(a *activity, c *choice) machine.Input {
	in := machine.Made{Key: a.Key, Planner: "planner", Reason: "it was asked"}
	switch c.pick(8) {
	case 6:
		in.Plans = nil
	case 7:
		in.Planner, in.Reason, in.Failure = "", "", "The planner failed."
	default:
		in.Plans = budgeted(ws.w, drawPlans(ws.w, c, 2))
	}
	return in
}

// looked returns a random standing decision about a gate, also one of people who may not decide there.
func looked(w *world, a *activity, c *choice) machine.Input {
	in, q := machine.Looked{Key: a.Key}, a.question
	defer func() { w.facts.looked[q.Gate.TaskID] = append(w.facts.looked[q.Gate.TaskID], q) }()
	if q.Gate.Standing == "" {
		return in
	}
	by := [][]string{nil, {"bob"}, {"bob", "carol"}, {"bob", "alice"}, {"alice"}, {"carol"}, {"bob", "bob"}, {"carol", "bob"}}[c.pick(8)]
	if in.By.Action = opt.Accept; c.chance(4) {
		in.By.Action = opt.Reject
	}
	for _, principal := range by {
		in.By.By = append(in.By.By, opt.Vote{Action: in.By.Action, DecidedBy: principal})
	}
	in.By.ID, in.By.ObjectDigest = "standing", q.Gate.ObjectDigest
	return in
}

func followed(a *activity, c *choice) machine.Input {
	if a.asked && c.pick(2) == 0 {
		return machine.Ended{Key: a.Key, Failed: &machine.Failure{Code: "canceled", Canceled: true}}
	}
	states := []opt.TaskState{opt.TaskCompleted, opt.TaskFailed, "", opt.TaskCanceled}
	return machine.Followed{Key: a.Key, State: states[c.pick(4)]}
}

// ran returns a random end of a task.
func ran(a *activity, c *choice) machine.Input {
	if a.asked && c.pick(2) == 0 {
		return machine.Ended{Key: a.Key, Failed: &machine.Failure{Code: "canceled", Message: "It was canceled.", Canceled: true}}
	}
	if a.work.Cancel {
		return canceledElsewhere(a, c)
	}
	in := machine.Ended{Key: a.Key}
	if a.returned != nil && c.pick(4) < 3 { // else its worker cannot record it
		in.Outcome = copied(*a.returned)
		return in
	}
	in.Outcome, in.Failed = executed(a, c)
	if in.Failed == nil && a.spends {
		in.Outcome.Usage = &opt.Usage{Input: 1}
	}
	return in
}

// executed returns a random outcome of an executor, or its failure.
func executed(a *activity, c *choice) (out opt.Outcome, failed *machine.Failure) {
	switch c.pick(20) {
	case 9:
		failed = &machine.Failure{Code: "error", Message: "An error."}
	case 10:
		failed = &machine.Failure{Code: opt.ReasonTimeout, Message: "It took too long.", TimedOut: true}
	case 11:
		failed = &machine.Failure{Code: opt.ReasonWorkerLost, Message: "The worker was lost."}
	case 12:
		out = opt.Outcome{State: opt.TaskFailed, Code: "bad", Message: "It failed."}
	case 13:
		out = opt.Outcome{State: opt.TaskRejected, Message: "Rejected."}
	case 14:
		out = opt.Outcome{State: opt.TaskInputRequired, Gate: &opt.Gate{Kind: opt.Approval, Title: "Good?", Object: []a2a.Part{a2a.TextPart(a.Key)}, Actions: []opt.Action{opt.Accept, opt.Reject}, Ladder: ladders[c.pick(len(ladders))]}}
	case 15:
		out = opt.Outcome{State: opt.TaskAuthRequired, Gate: &opt.Gate{Kind: opt.Credential, Title: "Log in.", Actions: []opt.Action{opt.Accept, opt.Ask}}}
		out.Gate.Ladder = [][]opt.Step{nil, {{Kind: opt.Remind, After: 1}, {Kind: opt.Expire, After: 3600}}}[c.pick(2)]
		if c.pick(2) == 0 {
			out.Park, out.Memo, out.OnCancel = &opt.Park{Wait: 5000}, encoded("memo of "+a.Key), c.pick(2) == 0
		}
	case 16, 17, 18, 19:
		return parked(a, c)
	default:
		text := fmt.Sprintf("made by %s", a.Key)
		if a.work.Executor == checkExecutor {
			text = fmt.Sprintf(`{"verdict": %q}`, []opt.Action{opt.Accept, opt.Accept, opt.Reject, opt.Ask}[c.pick(4)])
		}
		out = opt.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: opt.ArtifactID(a.Of, "out"), Parts: []a2a.Part{a2a.TextPart(text)}}}}
	}
	return out, failed
}

// write has a try at a recording end.
func (ws workers) write(r *run, index int, c *choice) {
	rec := r.records[index]
	done := func(e drive.Recorded) {
		r.records = slices.Delete(r.records, index, index+1)
		r.answer(rec.call, e)
	}
	switch k := c.pick(8); {
	case ws.w.journal.down || k == 7 || ws.w.journal.early(rec.batches): // it may be written or not
		if k == 7 {
			ws.w.put(rec.late())
		}
		if !rec.again {
			done(drive.Recorded{Err: errNoAnswer})
		}
	default:
		is := ws.written(r, rec, k != 5)
		switch {
		case k == 6 && !rec.again:
			ws.w.logf("%s does not hear of it", ws.w.name(r.id))
			done(drive.Recorded{Err: errNoAnswer})
		case k < 6:
			done(is)
		}
	}
}

// written writes a recording, and sends its message unless Temporal does not take that.
func (ws workers) written(r *run, rec *recording, taken bool) drive.Recorded {
	ws.w.logf("%s: %d batches are recorded", ws.w.name(r.id), len(rec.batches))
	is := drive.Recorded{Refused: ws.w.journal.recordAll(rec.batches)}
	if rec.report != nil && is.Refused == nil && taken {
		is.Sent = rec.report.arrive(ws.w)
	}
	return is
}

var errNoAnswer = errors.New("no answer")

// now records r within a workflow task, and sends its message, unless the journal does not take it.
func (r *recording) now(w *world) (ok bool, sent drive.Receipt) {
	if ok = !w.journal.early(r.batches) && w.journal.recordAll(r.batches) == nil; ok && r.report != nil {
		sent = r.report.arrive(w)
	}
	return ok, sent
}

// arrive has a message of a worker arrive.
func (o op) arrive(w *world) drive.Receipt {
	to := w.open(o.to)
	if to == nil {
		w.logf("%s is not there to hear %s from %s", w.name(o.to), w.say(o.in), w.name(o.from.id))
		return drive.Gone
	}
	w.logf("%s hears %s from %s", w.name(o.to), w.say(o.in), w.name(o.from.id))
	to.signal(sent(o.in))
	return drive.Taken
}

// take has a worker take an activity in which events ride: it records them first.
func (ws workers) take(r *run, a *activity, c *choice) {
	k := c.pick(10)
	if ws.w.journal.down || k >= 8 || ws.w.journal.early(a.ride) {
		ws.w.logf("%s: no worker has %s", ws.w.name(r.id), ws.w.name(a.Key))
		if k == 9 {
			ws.w.put(op{kind: lateRecord, batches: a.ride, repeat: true})
		}
		r.drop(a)
		r.answer(a.call, drive.End{Input: machine.Ended{Key: a.Key, Failed: &machine.Failure{Code: "lost"}}, Again: true, Tries: drive.Tries{}.Lose(k - 8&1)})
		return
	}
	a.taken, a.refused = true, ws.w.journal.recordAll(a.ride)
	ws.w.logf("%s: a worker has %s, and has recorded its batches, refused %v", ws.w.name(r.id), ws.w.name(a.Key), a.refused != nil)
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
	defer func() { out.Park.Needs = []opt.Usage{{}, {Input: 1}, {Input: 1, Calls: 1}}[c.pick(3)] }()
	switch c.pick(3) {
	case 0:
		out.Park.Wait, out.Park.Notes = 5000, c.pick(2) == 0
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
