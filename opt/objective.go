package opt

import (
	"fmt"
	"slices"

	"longhaul/a2a"
)

// An Objective is a goal, and the plans that reach it. Its id is also its
// Temporal workflow's id and that of its first root task.
type Objective struct {
	ID          string          `json:"id"`
	ContextID   string          `json:"contextId"`
	Tenant      string          `json:"tenant"`
	Principal   string          `json:"principal"` // who asked for it
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Status      ObjectiveStatus `json:"status"`
	Reason      string          `json:"reason,omitempty"` // why it is blocked or failed, in one word
	Failure     string          `json:"failure,omitempty"`
	Metadata    a2a.Metadata    `json:"metadata,omitempty"`
	Plans       []*Plan         `json:"plans,omitempty"` // in the order they were added
	CreatedAt   a2a.Time        `json:"createdAt"`
	UpdatedAt   a2a.Time        `json:"updatedAt"`
	Revision    int64           `json:"revision"`
	Attempt     int             `json:"attempt"`             // 1 at first
	MessageID   string          `json:"messageId,omitempty"` // of the message that began it
	Digest      string          `json:"digest,omitempty"`    // of that message's content

	QueuedAt a2a.Time  `json:"queuedAt,omitzero"` // since when it waits for its turn in its context, zero if it does not
	Started  bool      `json:"started,omitempty"`
	Stopping string    `json:"stopping,omitempty"` // "canceled" or "failed" while it is being stopped
	Cause    string    `json:"cause,omitempty"`    // why it is being canceled, in one word; "" if somebody asked for it
	Root     TaskState `json:"root"`               // of the root task
	RootGate string    `json:"rootGate,omitempty"` // the gate that the root task shows
}

// Replanning is the reason of planning anew, with plans that are there already.
const Replanning = "replan"

// RootID returns the id of the root task of the present attempt.
func (o *Objective) RootID() string { return RootID(o.ID, o.Attempt) }

// Plan returns the plan with an id, nil if there is none.
func (o *Objective) Plan(id string) *Plan {
	for _, p := range o.Plans {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// Unordered reports whether the plans run as their dependencies allow, not in
// list order.
func (o *Objective) Unordered() bool {
	return slices.ContainsFunc(o.Plans, func(p *Plan) bool { return len(p.Dependencies) > 0 })
}

// Leaf reports whether no plan declares that it depends on p.
func (o *Objective) Leaf(p *Plan) bool {
	return !slices.ContainsFunc(o.Plans, func(q *Plan) bool { return slices.Contains(q.Dependencies, p.ID) })
}

// Startable lists the plans that may start now, in list order.
func (o *Objective) Startable() []*Plan {
	if !o.Started || o.Stopping != "" || o.Status.Ended() || o.paused() || o.replanning() || o.broken() != nil {
		return nil
	}
	free := 1
	if o.Unordered() {
		free = MaxParallel
	}
	var out []*Plan
	for i, p := range o.Plans {
		switch {
		case p.Status.Ended():
		case p.Started:
			free--
		case p.paused(), !o.turn(i): // a client that paused it before its turn lets it go on
		case len(out) < free:
			out = append(out, p)
		}
	}
	return out[:max(0, min(len(out), free))]
}

// turn reports whether what comes before the plan at index i is done.
func (o *Objective) turn(i int) bool {
	if o.Unordered() {
		return !o.held(o.Plans[i])
	}
	return i == 0 || o.Plans[i-1].Done()
}

// replanning reports whether other plans are being made in place of those that
// have not ended.
func (o *Objective) replanning() bool { return o.Status == ObjectivePlanning && o.Reason == Replanning }

// Held lists the plans of a started objective that wait for another plan they
// depend on and do not show it yet.
func (o *Objective) Held() []*Plan {
	if !o.Started || o.Stopping != "" {
		return nil
	}
	var out []*Plan
	for _, p := range o.Plans {
		if p.Status == PlanPending && o.held(p) {
			out = append(out, p)
		}
	}
	return out
}

// held reports whether p depends on a plan that is not done, or not made yet.
func (o *Objective) held(p *Plan) bool {
	return slices.ContainsFunc(p.Dependencies, func(id string) bool {
		d := o.Plan(id)
		return d == nil || !d.Done()
	})
}

// Settled reports whether the present attempt has ended.
func (o *Objective) Settled() bool { return o.Status.Ended() && o.Root.Ended() }

// Gate returns the gate that the root task shows: the oldest open one, nil if
// none is open.
func (o *Objective) Gate() *Gate {
	var oldest *Gate
	for _, p := range o.Plans {
		if p.Report == nil {
			continue
		}
		for _, g := range p.Report.Open {
			if oldest == nil || g.RequestedAt.Millis() < oldest.RequestedAt.Millis() {
				oldest = g
			}
		}
	}
	return oldest
}

// waits returns the state of a task that waits at no gate, "" if none does.
func (o *Objective) waits() TaskState {
	for _, p := range o.Plans {
		if p.Report != nil && p.Report.Waits != "" {
			return p.Report.Waits
		}
	}
	return ""
}

// Apply changes o as e says, or reports why it cannot and leaves o alone.
func (o *Objective) Apply(e Event) error {
	switch e.Kind {
	case ObjectiveOpened:
		*o = *e.Objective
	case ObjectiveMoved:
		if !o.Status.May(ObjectiveStatus(e.To)) {
			return &MoveError{string(o.Status), e.To}
		}
		o.Status, o.Reason = ObjectiveStatus(e.To), e.Reason
		if text := failureText(e); text != "" {
			o.Failure = text
		}
		o.Started = o.Started || o.Status != ObjectiveSubmitted && !o.onlyFollows()
		if o.Status != ObjectiveSubmitted {
			o.QueuedAt = a2a.Time{}
		}
	case ObjectiveChanged:
		o.Name, o.Description, o.Metadata = e.Change.apply(o.Name, o.Description, o.Metadata)
		o.Revision = max(o.Revision, e.Revision)
	case ObjectiveQueued:
		o.QueuedAt = e.At
	case ObjectiveAgain:
		return o.again(e)
	case ObjectiveStopping:
		o.Stopping, o.Cause, o.Failure = e.Reason, e.Cause, failureText(e)
	case PlanAdded:
		if o.Plan(e.PlanID) != nil {
			return fmt.Errorf("plan %s is there already", e.PlanID)
		}
		header := *e.Plan
		header.Tasks = nil
		o.Plans = append(o.Plans, &header)
	case PlanAgain:
		return o.planAgain(e)
	case PlanChanged:
		return o.reorder(e)
	case PlanReported:
		return o.hear(e)
	case TaskMoved:
		return o.moveRoot(e)
	case ArtifactAdded, MessageAdded:
		return nil // shown by the journal, decides nothing
	default:
		return fmt.Errorf("an objective cannot apply %q", e.Kind)
	}
	o.UpdatedAt = e.At
	return nil
}

// onlyFollows reports whether the status of o is one that plans come to which a
// client moves by hand. That does not start an objective.
func (o *Objective) onlyFollows() bool {
	return o.Reason == ByHand || o.Status == ObjectiveBlocked && o.Reason != BlockedByOperator
}

// again begins a new attempt at an objective that failed or was canceled. Its
// completed plans stay completed; each of the others needs a PlanAgain of its
// own.
func (o *Objective) again(e Event) error {
	if to := ObjectiveStatus(e.To); o.Status == to || !o.Status.Ended() || !o.Status.May(to) {
		return &MoveError{string(o.Status), e.To}
	}
	o.Status, o.Reason, o.Failure, o.Stopping, o.Cause = ObjectiveSubmitted, "", "", "", ""
	o.QueuedAt, o.Started, o.Attempt, o.Root, o.RootGate = a2a.Time{}, false, e.Attempt, TaskSubmitted, ""
	for _, p := range o.Plans {
		p.Kept = p.Status == PlanCompleted
		if p.Status == PlanFailed || p.Status == PlanSkipped {
			p.Status, p.Reason, p.Started, p.Stopping, p.Report = PlanPending, "", false, "", nil
		}
	}
	o.UpdatedAt = e.At
	return nil
}

// planAgain begins a new attempt at a plan that failed, without which o goes on.
func (o *Objective) planAgain(e Event) error {
	p := o.Plan(e.PlanID)
	switch {
	case p == nil:
		return fmt.Errorf("plan %s: %w", e.PlanID, ErrUnknown)
	case p.Status != PlanFailed || !p.Over() || !p.Optional() || o.Status.Ended():
		return &MoveError{string(p.Status), string(PlanPending)}
	}
	o.UpdatedAt = e.At
	return p.again(e)
}

// Met reports whether everything that p depends on is done.
func (o *Objective) Met(p *Plan) bool { return !o.held(p) }

func (o *Objective) hear(e Event) error {
	p := o.Plan(e.PlanID)
	if p == nil {
		return fmt.Errorf("plan %s: %w", e.PlanID, ErrUnknown)
	}
	if p.Report != nil && e.Report.N < p.Report.N {
		return nil // overtaken by a later one
	}
	p.Report, p.Status, p.Reason, p.UpdatedAt = e.Report, e.Report.Status, e.Report.Reason, e.At
	// A report that it works may have been overtaken by the next.
	p.Started = p.Started || p.Status == PlanWorking && p.Reason != ByHand || p.Status == PlanBlocked && p.Reason != BlockedByDependencies && !e.Report.ByHand
	return nil
}

func (o *Objective) moveRoot(e Event) error {
	if e.TaskID != o.RootID() {
		return fmt.Errorf("task %s: %w", e.TaskID, ErrUnknown)
	}
	if !o.Root.may(TaskState(e.To), rootMoves) {
		return &MoveError{string(o.Root), e.To}
	}
	o.Root, o.RootGate = TaskState(e.To), ""
	if e.Gate != nil {
		o.RootGate = e.Gate.ID
	}
	return nil
}

func failureText(e Event) string {
	if e.Status == nil {
		return ""
	}
	return e.Status.Text()
}
