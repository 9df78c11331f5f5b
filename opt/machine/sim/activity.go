package sim

import (
	"fmt"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// triesBefore returns the tries at an activity that a worker sends back: one without the journal
// has begun, and could not record what it streams.
func triesBefore(journalDown bool) (t drive.Tries) {
	if journalDown {
		t.Begun = 1
	}
	return t
}

// sentBackPause is what an activity waits that was sent back.
var sentBackPause = drive.Pause{First: 5 * time.Second, Longest: 10 * time.Minute}

// endActivity ends an activity with a random result. A canceled activity may also
// end normally.
func (w temporal) endActivity(r *run, index int, c *choice) {
	a := r.activities[index]
	if a.Kind == machine.LoadKept && w.early([]opt.Batch{{ObjectiveID: r.objective}}) {
		return // it is tried until the journal has what the objective has recorded
	}
	if len(a.ride) > 0 && !a.taken {
		w.take(r, a, c)
		return
	}
	if c.chance(8) && !a.unsure {
		a.unsure = true
		w.logf("%s: a worker is lost with %s", w.name(r.id), w.name(a.Key))
		if a.taken { // else another worker runs it again
			r.drop(a)
			w.answer(r, a.call, drive.End{Input: machine.Ended{Key: a.Key, Failed: &machine.Failure{Code: "lost"}}, Again: true, Tries: drive.Tries{}.Lose(1)})
		}
		return
	}
	if a.Kind == machine.RunTask && !a.taken && !a.unsure && c.chance(8) {
		w.logf("%s: a worker sends %s back", w.name(r.id), w.name(a.Key))
		w.facts.resent[r.id+a.Key] = true // this run or the next one begins it again
		r.undo = append(r.undo, func() { delete(w.facts.resent, r.id+a.Key) })
		r.drop(a)
		w.answer(r, a.call, drive.End{Input: machine.Ended{Key: a.Key, Failed: &machine.Failure{Code: "quota"}}, Again: true, Tries: triesBefore(w.journal.down), Pause: sentBackPause})
		return
	}
	var in machine.Input
	switch a.Kind {
	case machine.MakePlans:
		in = w.made(a, c)
	case machine.LoadKept:
		in = machine.Loaded{Key: a.Key, Kept: w.journal.kept(r.id)}
	case machine.FollowTask:
		in = w.followed(a, c)
	case machine.WatchTask:
		w.over(r, a, watched(a, c))
		return
	default:
		in = w.ran(a, c)
	}
	w.logf("%s: %s ends: %s", w.name(r.id), w.name(a.Key), w.say(in))
	w.facts.endedAt[a.work.Key] = w.now
	w.over(r, a, in)
}

// over ends an activity with an input for its machine.
func (w temporal) over(r *run, a *activity, in machine.Input) {
	ended, ok := in.(machine.Ended)
	if ok && ended.Failed == nil {
		ended.Outcome.Refused = a.refused
		in = ended
	}
	w.facts.over[a.work.Key] = a.attempt
	r.drop(a)
	w.answer(r, a.call, drive.End{Input: in, Returned: ended.Failed == nil})
}

func (w temporal) made(a *activity, c *choice) machine.Input {
	in := machine.Made{Key: a.Key, Planner: "planner", Reason: "it was asked"}
	switch c.pick(8) {
	case 6:
		in.Plans = nil
	case 7:
		in.Planner, in.Reason, in.Failure = "", "", "The planner failed."
	default:
		in.Plans = w.clients().plans(c, 2)
	}
	return in
}

func (w temporal) followed(a *activity, c *choice) machine.Input {
	if a.asked && c.pick(2) == 0 {
		return machine.Ended{Key: a.Key, Failed: &machine.Failure{Code: "canceled", Canceled: true}}
	}
	states := []opt.TaskState{opt.TaskCompleted, opt.TaskFailed, "", opt.TaskCanceled}
	return machine.Followed{Key: a.Key, State: states[c.pick(4)]}
}

// ran returns a random end of a task.
func (w temporal) ran(a *activity, c *choice) machine.Input {
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
	switch c.pick(20) {
	case 9, 10:
		in.Failed = &machine.Failure{Code: "error", Message: "An error."}
	case 11:
		in.Failed = &machine.Failure{Code: opt.ReasonWorkerLost, Message: "The worker was lost."}
	case 12:
		in.Outcome = opt.Outcome{State: opt.TaskFailed, Code: "bad", Message: "It failed."}
	case 13:
		in.Outcome = opt.Outcome{State: opt.TaskRejected, Message: "Rejected."}
	case 14:
		in.Outcome = opt.Outcome{State: opt.TaskInputRequired, Gate: &opt.Gate{Kind: opt.Approval, Title: "Good?", Actions: []opt.Action{opt.Accept, opt.Reject}, Ladder: ladders[c.pick(len(ladders))]}}
	case 15:
		in.Outcome = opt.Outcome{State: opt.TaskAuthRequired, Gate: &opt.Gate{Kind: opt.Credential, Title: "Log in.", Actions: []opt.Action{opt.Accept, opt.Ask}}}
		in.Outcome.Gate.Ladder = [][]opt.Step{nil, {{Kind: opt.Remind, After: 1}, {Kind: opt.Expire, After: 3600}}}[c.pick(2)]
		if c.pick(2) == 0 {
			in.Outcome.Park, in.Outcome.Memo, in.Outcome.OnCancel = &opt.Park{Wait: 5000}, encoded("memo of "+a.Key), c.pick(2) == 0
		}
	case 16, 17, 18, 19:
		in.Outcome, in.Failed = parked(a, c)
	default:
		id := opt.ArtifactID(a.Of, "out")
		text := fmt.Sprintf("made by %s", a.Key)
		in.Outcome = opt.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: id, Parts: []a2a.Part{a2a.TextPart(text)}}}}
	}
	return in
}
