package opt

import (
	"cmp"
	"fmt"
	"slices"

	"longhaul/a2a"
)

// Next lists the events that follow from the present state of o: the objective
// stops when a plan has failed, its status follows its plans, and the root task
// follows both. Apply them in order and call Next until it returns none.
func (o *Objective) Next(at a2a.Time) []Event {
	if p := o.broken(); p != nil && o.Stopping == "" && !o.Status.Ended() {
		return []Event{{Kind: ObjectiveStopping, At: at, Reason: string(ObjectiveFailed), Status: sayOn(o, explainFailure(o))}}
	}
	if e, ok := o.nextStatus(at); ok {
		return []Event{e}
	}
	return o.nextRoot(at)
}

func (o *Objective) nextStatus(at a2a.Time) (Event, bool) {
	to, reason := o.wants()
	if to == o.Status && reason == o.Reason {
		return Event{}, false
	}
	if !o.Status.May(to) {
		to, reason = ObjectiveWorking, o.byHand() // an intermediate step
	}
	e := Event{Kind: ObjectiveMoved, At: at, From: string(o.Status), To: string(to), Reason: reason}
	if to == ObjectiveFailed {
		e.Status = sayOn(o, explainFailure(o))
	}
	return e, true
}

// wants returns the status and reason that follow from the plans of o.
func (o *Objective) wants() (ObjectiveStatus, string) {
	open := slices.ContainsFunc(o.Plans, func(p *Plan) bool { return !p.Over() })
	switch {
	case o.Status.Ended():
		return o.Status, o.Reason
	case o.Stopping != "" && open:
		return o.Status, o.Reason
	case o.Stopping == string(ObjectiveCanceled), o.Stopping == string(ObjectiveCompleted):
		return ObjectiveStatus(o.Stopping), o.Cause
	case o.Stopping != "":
		return ObjectiveFailed, cmp.Or(o.Cause, whyFailed(o))
	case waitsToBegin(o):
		return o.Status, o.Reason
	case !open && anyPlan(o, PlanCompleted):
		return ObjectiveCompleted, ""
	case !open && anyPlan(o, PlanFailed): // only optional plans, and none of them was completed
		return ObjectiveFailed, NothingCompleted
	case o.Paused:
		return ObjectiveBlocked, pausedBy(o.Plans)
	case !o.Started && o.stuck():
		return ObjectiveBlocked, o.blockedBy()
	case !o.Started:
		return ObjectiveWorking, ByHand
	case !open && !o.Planning:
		return ObjectiveWorking, NothingToDo
	case !open:
		return ObjectiveWorking, ""
	case o.canProceed():
		return ObjectiveWorking, ""
	default:
		return ObjectiveBlocked, o.blockedBy()
	}
}

// waitsToBegin reports whether nothing follows from the plans of o yet: it was not started, or a
// planner makes its first plans or those that replace the open ones.
func waitsToBegin(o *Objective) bool {
	return o.Status == ObjectiveSubmitted && !o.Started && !o.begun() || o.Status == ObjectivePlanning && len(o.Plans) == 0 || replanning(o)
}

// begun reports whether a client has begun the work on a plan by hand. Skipping a
// plan does not count, nor does its replacement by others.
func (o *Objective) begun() bool {
	return slices.ContainsFunc(o.Plans, func(p *Plan) bool {
		dropped := p.Status == PlanSkipped && (p.Reason == Replanned || p.Report != nil && p.Report.ByHand)
		return p.Status != PlanPending && p.Reason != BlockedByDependencies && !p.Kept && !dropped
	})
}

// stuck reports whether a plan that a client has begun by hand waits, and no other
// plan works or could start if o were started.
func (o *Objective) stuck() bool {
	waits := false
	for i, p := range o.Plans {
		blocked := p.Status == PlanBlocked && p.Reason != BlockedByDependencies
		if !p.Status.Ended() && !blocked && (p.Status == PlanWorking || mayFollow(o, i)) {
			return false
		}
		waits = waits || blocked
	}
	return waits
}

// byHand returns the reason of a move to working: a client's while o has
// not been started, none after.
func (o *Objective) byHand() string {
	if o.Started {
		return ""
	}
	return ByHand
}

// canProceed reports whether any plan works, is being stopped, was directed to
// start, could start, or has ended and has tasks that are still stopping.
func (o *Objective) canProceed() bool {
	return len(o.Startable()) > 0 || slices.ContainsFunc(o.Plans, func(p *Plan) bool {
		stops := (p.Status.Ended() || p.Stopping != "") && !p.Over()
		return p.Status == PlanWorking || stops || p.Started && (p.Status == PlanPending || p.Reason == BlockedByDependencies)
	})
}

// pausedBy returns the reason of a paused objective with plans: the reason of a plan that waits for a
// person if there is one, since the pause is shown beside it.
func pausedBy(plans []*Plan) string {
	for _, p := range plans {
		if p.Status == PlanBlocked && (p.Reason == BlockedByInput || p.Reason == BlockedByAuth) {
			return p.Reason
		}
	}
	return BlockedByOperator
}

func (o *Objective) blockedBy() string {
	reason := BlockedByDependencies
	for _, p := range o.Plans {
		switch {
		case p.Status != PlanBlocked || !p.Started && p.Reason == BlockedByDependencies:
		case p.Reason == BlockedByOperator:
			reason = BlockedByPlan
		default:
			return p.Reason
		}
	}
	return reason
}

func (o *Objective) nextRoot(at a2a.Time) []Event {
	to, gate := o.rootWants()
	shown := ""
	if gate != nil {
		shown = gate.ID
	}
	if o.Root.Ended() || to == o.Root && shown == o.RootGate {
		return nil
	}
	e := Event{Kind: TaskMoved, At: at, TaskID: o.RootID(), From: string(o.Root), To: string(to), Reason: o.Reason, Gate: gate}
	switch {
	case gate != nil:
		e.Status = gate.Message(o.ContextID, o.RootID())
	case to == TaskFailed, to == TaskRejected, to == TaskCanceled && o.Failure != "":
		e.Status = sayOn(o, o.Failure)
	}
	if to != TaskCompleted {
		return []Event{e}
	}
	return append(o.results(at), e)
}

func (o *Objective) rootWants() (TaskState, *Gate) {
	switch o.Status {
	case ObjectiveCompleted:
		return TaskCompleted, nil
	case ObjectiveFailed:
		if o.Reason == ReasonRejected {
			return TaskRejected, nil
		}
		return TaskFailed, nil
	case ObjectiveCanceled:
		return TaskCanceled, nil
	case ObjectiveSubmitted:
		return TaskSubmitted, nil
	}
	gate, waits := o.Gate(), o.waits()
	switch {
	case o.Stopping != "":
		return TaskWorking, nil
	case gate != nil:
		return gate.State(), gate
	case waits != "":
		return waits, nil
	}
	return TaskWorking, nil
}

// results lists the artifacts that the root task does not show yet.
func (o *Objective) results(at a2a.Time) []Event {
	var events []Event
	for _, p := range o.Plans {
		if p.Report == nil || !o.Leaf(p) {
			continue
		}
		for _, a := range p.Report.Results {
			if !slices.Contains(p.Report.Shown, a.ArtifactID) {
				events = append(events, Event{Kind: ArtifactAdded, At: at, TaskID: o.RootID(), Chunk: &Chunk{Artifact: a, Last: true}})
			}
		}
	}
	return events
}

func (o *Objective) broken() *Plan {
	for _, p := range o.Plans {
		if p.Broken() {
			return p
		}
	}
	return nil
}

// whyFailed returns the reason of the failure of o: the reason of a plan that was not merely
// stopped because another one had failed.
func whyFailed(o *Objective) string {
	for _, p := range o.Plans {
		if p.Broken() && p.Reason != "" && p.Reason != o.Stopping {
			return p.Reason
		}
	}
	return o.Stopping
}

func explainFailure(o *Objective) string {
	if o.Failure != "" {
		return o.Failure
	}
	p := o.broken()
	switch {
	case p == nil:
		return "No plan was completed: only optional plans were left, and they failed."
	case p.Report != nil && p.Report.Failure != "":
		return p.Report.Failure
	case p.Reason != "":
		return fmt.Sprintf("The plan %q failed (%s).", p.Name, p.Reason)
	}
	return fmt.Sprintf("The plan %q failed.", p.Name)
}

func anyPlan(o *Objective, s PlanStatus) bool {
	return slices.ContainsFunc(o.Plans, func(p *Plan) bool { return p.Status == s })
}

// sayOn returns a message of the agent on the root task. One id per attempt is
// enough, since a root task ends once.
func sayOn(o *Objective, text string) *a2a.Message {
	return a2a.AgentMessage(o.ContextID, o.RootID(), ":status", text)
}
