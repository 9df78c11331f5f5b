package workflows

import (
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// open lets t wait at a gate. The gate's id follows from the task's history, so
// it is the same on every replay.
func (r *planRun) open(t *opt.Task, gate opt.Gate) {
	gate.ID, gate.TaskID, gate.RequestedAt = opt.GateID(t.A2AID(), t.Gates+1), t.A2AID(), r.now()
	r.move(t, gate.State(), opt.Event{Gate: &gate, Status: gate.Message(r.in.ContextID, t.A2AID())})
}

// hear judges a letter. The first valid decision at a gate wins; a letter that
// comes again changes nothing.
func (r *planRun) hear(l opt.Letter) {
	key := l.Principal + "\x00" + l.Once()
	if r.state.Seen[key] {
		return
	}
	r.state.Seen[key] = true
	e := opt.Event{Kind: opt.MessageAdded, At: r.now(), PlanID: r.plan.ID, TaskID: l.TaskID, ForTask: l.ForTask, Message: &l.Message, Principal: l.Principal, Key: l.Key}
	if l.Reply == nil {
		r.note(l, e)
		return
	}
	t := r.plan.Task(target(l))
	reply := *l.Reply
	reply.DecidedBy, reply.At, reply.MessageID = l.Principal, r.now(), l.Message.MessageID
	e.Reply, e.Verdict = &reply, verdict(t, reply)
	r.rec.add(e)
	if e.Verdict != opt.Accepted {
		return
	}
	heard := e
	heard.TaskID = t.A2AID()
	r.keep(heard)
	r.move(t, opt.TaskWorking, opt.Event{Attempt: r.nextAttempt(t)})
	if t.Ask == nil {
		r.resume(t)
		return
	}
	r.decide(t, reply)
}

// target returns the plan task that a letter is for.
func target(l opt.Letter) string {
	if l.ForTask != "" {
		return l.ForTask
	}
	return l.TaskID
}

func verdict(t *opt.Task, reply opt.Reply) opt.Verdict {
	switch {
	case t == nil || t.Gate == nil || t.Gate.ID != reply.GateID:
		return opt.NotWaiting
	case t.Gate.Kind == opt.Approval && !t.Gate.Allows(reply.Action):
		return opt.NotOffered
	}
	return opt.Accepted
}

// note adds a message to the conversation: of the task it names, or of the root
// task and so of every task that follows.
func (r *planRun) note(l opt.Letter, e opt.Event) {
	e.Verdict = opt.Noted
	if r.plan.Task(l.TaskID) == nil {
		r.state.Notes = append(r.state.Notes, l.Message)
	} else {
		r.keep(e)
	}
	r.rec.add(e)
}

// decide ends a task that was nothing but its gate.
func (r *planRun) decide(t *opt.Task, reply opt.Reply) {
	switch {
	case reply.Action == opt.Reject:
		r.fail(t, "approval_rejected", strings.TrimSpace("The approval was rejected. "+reply.Feedback))
	case len(reply.Answers) > 0:
		r.complete(t, []a2a.Artifact{answersArtifact(t.ID, t.Name, reply.Answers)}, nil, 0)
	default:
		r.complete(t, nil, nil, 0)
	}
}
