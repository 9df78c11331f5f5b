package opt

import (
	"slices"

	"longhaul/a2a"
)

// Next lists the events that follow from the present state of p: open tasks of a
// plan that fails, stops or was ended are canceled, and the status of the plan
// follows its tasks. Apply them in order and call Next until it returns none.
func (p *Plan) Next(at a2a.Time) []Event {
	var events []Event
	if p.closing() {
		for _, t := range p.Tasks {
			if t.State == TaskPending || t.State.Waiting() || t.Awaits() {
				events = append(events, Event{Kind: TaskMoved, At: at, PlanID: p.ID, TaskID: t.A2AID(), From: string(t.State), To: string(TaskCanceled), Reason: p.why()})
			}
		}
	}
	if len(events) > 0 {
		return events // the next call returns the move of the plan
	}
	to, reason := p.wants()
	if to == p.Status && reason == p.Reason {
		return nil
	}
	if !p.Status.serverMay(to) {
		to, reason = p.step()
	}
	return []Event{{Kind: PlanMoved, At: at, PlanID: p.ID, From: string(p.Status), To: string(to), Reason: reason}}
}

// step returns the status on the way to one that the table does not allow from
// the present one: a plan that is replaced while it works is blocked first, any
// other one works first.
func (p *Plan) step() (PlanStatus, string) {
	if p.Status == PlanWorking {
		return PlanBlocked, BlockedByOperator
	}
	return PlanWorking, p.byHand()
}

// wants returns the status and reason that follow from the tasks of p.
func (p *Plan) wants() (PlanStatus, string) {
	done := len(p.Tasks) > 0 && !p.open() // a plan without tasks waits for some
	switch {
	case p.Status.Ended():
		return p.Status, p.Reason
	case p.Stopping != "":
		return wantsStopped(p)
	case !p.Started && !p.begun():
		return p.Status, p.Reason
	case p.OnHold() && !done:
		return PlanBlocked, heldBy(p)
	case done && p.broken() != nil:
		return PlanFailed, p.why()
	case done:
		return PlanCompleted, ""
	case !p.Started && len(p.Running()) > 0:
		return PlanWorking, ByHand
	case len(p.Tasks) == 0, len(p.Running()) > 0, len(p.Ready()) > 0:
		return PlanWorking, ""
	case !p.Started && len(waitingTasks(p)) == 0:
		return PlanWorking, ByHand // a client moves its tasks by hand, and none is under way
	default:
		return PlanBlocked, blockedBy(p.Tasks)
	}
}

// wantsStopped returns the status and reason of a plan that is being stopped.
func wantsStopped(p *Plan) (PlanStatus, string) {
	switch {
	case p.open():
		return p.Status, p.Reason
	case p.Stopping == Replanned, p.Stopping != PlanCanceled && p.Status != PlanWorking:
		return PlanSkipped, p.Stopping
	}
	return PlanFailed, stoppedBy(p)
}

// begun reports whether a client has begun the work of p by hand. Tasks completed
// in an earlier attempt, or taken over, do not count.
func (p *Plan) begun() bool {
	latest := latestRun(p)
	return slices.ContainsFunc(p.Tasks, func(t *Task) bool { return t.State != TaskPending && t.Run == latest && t.Taken == nil })
}

// byHand returns the reason of a move to working: a client's while p has
// not been started, none after.
func (p *Plan) byHand() string {
	if p.Started {
		return ""
	}
	return ByHand
}

// waitingTasks lists the tasks that wait for a person, at a gate or not.
func waitingTasks(p *Plan) []*Task { return p.filter(func(t *Task) bool { return t.State.Waiting() }) }

// open reports whether any task has not ended.
func (p *Plan) open() bool {
	return slices.ContainsFunc(p.Tasks, func(t *Task) bool { return !t.State.Ended() })
}

// OnHold reports whether p starts no task because p or its objective is paused.
func (p *Plan) OnHold() bool { return p.Paused || p.ObjectivePaused }

// heldBy returns the reason of a plan on hold: the question that a task waits for if
// there is one and nothing runs, since the pause is shown beside it.
func heldBy(p *Plan) string {
	if len(waitingTasks(p)) > 0 && len(p.Running()) == 0 {
		return blockedBy(p.Tasks)
	}
	return BlockedByOperator
}

// stoppedBy returns the reason of a plan that failed because it was stopped. It is
// not "completed" for a plan whose objective a client declared completed.
func stoppedBy(p *Plan) string {
	switch p.Stopping {
	case string(ObjectiveCompleted):
		return ObjectiveEnded
	case PlanCanceled:
		return string(TaskCanceled)
	}
	return p.Stopping
}

// closing reports whether the open tasks of p must be canceled: the plan is being
// stopped, a task has failed it, or a client has ended it.
func (p *Plan) closing() bool { return p.Stopping != "" || p.broken() != nil || p.Status.Ended() }

// broken returns the task that fails the plan, nil if there is none: the first one,
// preferring tasks that were not merely canceled because another failed.
func (p *Plan) broken() *Task {
	broken := p.filter((*Task).Broken)
	for _, t := range broken {
		if t.State != TaskCanceled {
			return t
		}
	}
	if len(broken) > 0 {
		return broken[0]
	}
	return nil
}

// why returns the reason for which p fails, stops or has ended.
func (p *Plan) why() string {
	switch t := p.broken(); {
	case p.Stopping == PlanCanceled:
		return string(TaskCanceled)
	case p.Stopping != "":
		return p.Stopping
	case p.Status.Ended():
		return string(p.Status)
	case t.Reason != "" && t.State != TaskRejected && t.Reason != ReasonRejected:
		return t.Reason
	default:
		return string(t.State)
	}
}

// blockedBy returns the reason of a plan whose tasks wait for a person.
func blockedBy(tasks []*Task) string {
	if slices.ContainsFunc(tasks, func(t *Task) bool { return t.State == TaskInputRequired }) {
		return BlockedByInput
	}
	return BlockedByAuth
}

// Brief returns the part of a report that follows from the state of p alone: it has
// no number, directive, results or answer.
func (p *Plan) Brief() Report {
	r := Report{
		Attempt: p.Run, Status: p.Status, Reason: p.Reason, Paused: p.Paused, Started: p.Started,
		Closing: p.Status.Ended() && !p.Settled(), ByHand: !p.Started && (p.begun() || p.Status.Ended()),
	}
	for _, t := range waitingTasks(p) {
		switch {
		case t.Gate != nil:
			r.Open = append(r.Open, t.Gate)
		case r.Waits == "":
			r.Waits = t.State
		}
	}
	return r
}
