package opt

import (
	"fmt"
	"slices"

	"longhaul/a2a"
)

// An Objective is a goal, and the plans that reach it. Its id is also its
// Temporal workflow's id and the id of its first root task.
type Objective struct {
	ID          string          `json:"id"`
	ContextID   string          `json:"contextId"`
	Tenant      string          `json:"tenant"`
	Principal   string          `json:"principal"`         // who asked for it
	Shapers     []string        `json:"shapers,omitempty"` // other principals who shaped the work
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Status      ObjectiveStatus `json:"status"`
	Reason      string          `json:"reason,omitempty"` // code that explains the status; "" if there is nothing to explain
	Failure     string          `json:"failure,omitempty"`
	Metadata    a2a.Metadata    `json:"metadata,omitempty"`
	Plans       []*Plan         `json:"plans,omitempty"` // in the order they were added
	CreatedAt   a2a.Time        `json:"createdAt"`
	UpdatedAt   a2a.Time        `json:"updatedAt"`
	Revision    int64           `json:"revision"`
	Attempt     int             `json:"attempt"`             // 1 at first
	MessageID   string          `json:"messageId,omitempty"` // of the message that began it
	Digest      string          `json:"digest,omitempty"`    // of that message's content
	Limits      Limits          `json:"limits,omitzero"`

	QueuedAt a2a.Time  `json:"queuedAt,omitzero"` // its place in the queue of the context while it waits for its turn, else zero
	Started  bool      `json:"started,omitempty"`
	Paused   bool      `json:"paused,omitempty"`   // a client has paused it
	Stopping string    `json:"stopping,omitempty"` // "canceled", "failed" or "completed" while it is being stopped
	Cause    string    `json:"cause,omitempty"`    // why it is being canceled, as a code; "" if a client asked for it
	Planning bool      `json:"planning,omitempty"` // a planner is at work
	Root     TaskState `json:"root"`               // of the root task
	RootGate string    `json:"rootGate,omitempty"` // the gate that the root task shows

	Loose   bool   `json:"loose,omitempty"`   // dependencies of one of a list free all of it, as they did before version 3 of the rules
	Rewound bool   `json:"rewound,omitempty"` // as the journal has it: the objective or a plan has begun another epoch
	Stuck   *Stuck `json:"stuck,omitempty"`   // likewise
	Used    Used   `json:"-"`                 // likewise; with plans alone
}

// Kept is an objective as the journal has it once an attempt has ended: its plans
// with their tasks, and those with their artifacts.
type Kept struct {
	Objective Objective        `json:"objective"`
	Request   *a2a.Message     `json:"request,omitempty"`  // that began it
	Starter   string           `json:"starter,omitempty"`  // who sent it to an objective that waited to be started; "" for who asked for that
	Given     []PlanSpec       `json:"given,omitempty"`    // plans that came with it
	Recorded  map[string]int64 `json:"recorded,omitempty"` // number of the last event, by source
	Epochs    map[string]int   `json:"epochs,omitempty"`   // the latest epoch, by the name of a source that has begun another one
	Answered  []string         `json:"answered,omitempty"` // ids of the commands that were answered
	Used      Usage            `json:"used,omitzero"`      // by all work on it so far
	UsedBy    map[string]Usage `json:"usedBy,omitempty"`   // likewise, by a plan, by its id; see [UsedBy]
	Heard     []string         `json:"heard,omitempty"`    // ids of the letters that the objective itself has judged, as Letter.ID returns them
}

// String returns o on one line, for people.
func (o Objective) String() string {
	return oneLine("objective", o.ID, o.Name, string(o.Status), o.Reason)
}

// Replanning is the reason of an objective in planning whose open plans are to be
// replaced.
const Replanning = "replan"

// Head returns the members of o that change while it is worked on.
func (o *Objective) Head() *ObjectiveHead {
	return &ObjectiveHead{
		Status: o.Status, Reason: o.Reason, Failure: o.Failure, Stopping: o.Stopping, Started: o.Started, Paused: o.Paused,
		QueuedAt: o.QueuedAt, Attempt: o.Attempt, Revision: o.Revision, Shapers: o.Shapers,
	}
}

// Text returns the name, description and metadata of o.
func (o *Objective) Text() *Text {
	return &Text{Name: o.Name, Description: o.Description, Metadata: o.Metadata}
}

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

// Unordered reports whether several plans may run at a time: one of them declares
// dependencies.
func (o *Objective) Unordered() bool {
	return slices.ContainsFunc(o.Plans, func(p *Plan) bool { return declared(p.Dependencies, o.Loose) })
}

// Follows reports whether p follows the plan before it in the list.
func (o *Objective) Follows(p *Plan) bool {
	return p.Dependencies == nil && !o.Loose || !o.Unordered()
}

// Before lists the plans that must be done before p may start: those that it depends on,
// or else the one before it in the list.
func (o *Objective) Before(p *Plan) []*Plan {
	var out []*Plan
	for i, b := range o.Plans {
		next := i+1 < len(o.Plans) && o.Plans[i+1].ID == p.ID
		if slices.Contains(p.Dependencies, b.ID) || next && o.Follows(p) {
			out = append(out, b)
		}
	}
	return out
}

// Leaf reports whether no plan declares that it depends on p.
func (o *Objective) Leaf(p *Plan) bool {
	return !slices.ContainsFunc(o.Plans, func(q *Plan) bool { return slices.Contains(q.Dependencies, p.ID) })
}

// Startable lists the plans that may start now, in list order. If none declares
// dependencies, one plan runs at a time, else as many as the limit allows; a plan that
// waits at a gate counts. It does not look at other objectives of the context.
func (o *Objective) Startable() []*Plan {
	if !o.Started || o.Stopping != "" || o.Status.Ended() || o.Paused || replanning(o) || o.broken() != nil {
		return nil
	}
	free := 1
	if o.Unordered() {
		free = o.Limits.OrDefault().Parallel
	}
	var out []*Plan
	for i, p := range o.Plans {
		switch {
		case p.Status.Ended(), p.Stopping != "" && !p.Started:
		case p.Started:
			free--
		case p.Paused, !mayFollow(o, i): // a plan that was paused before it could start, starts when it is resumed
		default:
			out = append(out, p)
		}
	}
	return out[:max(0, min(len(out), free))]
}

// mayFollow reports whether the plans that the plan at index i waits for are done.
func mayFollow(o *Objective, i int) bool {
	return o.Met(o.Plans[i]) && inTurn(o.Plans, i, o.Follows, (*Plan).Done) && (o.Loose || haveEnded(o.Plans[i], o.Before, planEnded))
}

func planEnded(p *Plan) (over, last bool) { return p.Over(), false }

// replanning reports whether a planner makes plans that replace the open ones.
func replanning(o *Objective) bool { return o.Status == ObjectivePlanning && o.Reason == Replanning }

// Met reports whether all dependencies of p are done. One that does not exist yet is not.
func (o *Objective) Met(p *Plan) bool {
	return !slices.ContainsFunc(p.Dependencies, func(id string) bool {
		d := o.Plan(id)
		return d == nil || !d.Done()
	})
}

// Closed reports whether nothing of the objective can be changed in this attempt.
func (o *Objective) Closed() bool { return o.Status.Ended() || o.Stopping != "" }

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

// waits returns the state of a task that waits without a gate, "" if there is none.
func (o *Objective) waits() TaskState {
	for _, p := range o.Plans {
		if p.Report != nil && p.Report.Waits != "" {
			return p.Report.Waits
		}
	}
	return ""
}

// Apply changes o by e. It returns an error and leaves o unchanged if e is not
// possible.
func (o *Objective) Apply(e Event) error {
	switch e.Kind {
	case ObjectiveOpened:
		*o = *e.Objective
	case ObjectiveMoved:
		return o.move(e)
	case ObjectivePaused, ObjectiveResumed:
		o.Paused = e.Kind == ObjectivePaused
	case ObjectiveChanged:
		o.change(e)
	case ObjectiveQueued:
		o.QueuedAt = e.QueuedAt
	case ObjectiveRetried:
		return o.retry(e)
	case ObjectiveStopping:
		o.Stopping, o.Cause, o.Failure = e.Reason, e.Cause, failureText(e)
	case PlanAdded:
		if o.Plan(e.PlanID) != nil {
			return fmt.Errorf("plan %s is there already", e.PlanID)
		}
		header := *e.Plan
		header.Tasks = nil
		for _, old := range o.Plans {
			if slices.Contains(e.Replaces, old.ID) {
				old.Stopping = Replanned
			}
		}
		o.Plans = append(o.Plans, &header)
	case PlanRetried, PlanChanged, PlanMoved:
		return o.applyPlan(e)
	case TaskMoved:
		return o.moveRoot(e)
	case ArtifactAdded, MessageAdded, CommandAnswered:
		return nil // of interest to the journal alone
	default:
		return fmt.Errorf("an objective cannot apply %q", e.Kind)
	}
	o.UpdatedAt = e.At
	return nil
}

// change gives o a new name, description and metadata: as in e.Change, which a
// client sent, or of e.Text.
func (o *Objective) change(e Event) {
	if e.Change == nil && e.Text != nil {
		o.Name, o.Description, o.Metadata = e.Text.Name, e.Text.Description, e.Text.Metadata
	}
	o.Name, o.Description, o.Metadata = e.Change.apply(o.Name, o.Description, o.Metadata)
	o.Revision = max(o.Revision, e.Revision)
}

func (o *Objective) move(e Event) error {
	if !o.Status.May(ObjectiveStatus(e.To)) {
		return &MoveError{string(o.Status), e.To}
	}
	o.Status, o.Reason, o.UpdatedAt = ObjectiveStatus(e.To), e.Reason, e.At
	if text := failureText(e); text != "" {
		o.Failure = text
	}
	o.Started = o.Started || o.Status != ObjectiveSubmitted && !o.Status.Ended() && !o.onlyFollows()
	if o.Status != ObjectiveSubmitted {
		o.QueuedAt = a2a.Time{}
	}
	return nil
}

// onlyFollows reports whether o has its status only because a client moves tasks of
// its plans by hand. That does not start an objective.
func (o *Objective) onlyFollows() bool {
	return o.Reason == ByHand || o.Status == ObjectiveBlocked
}

// applyPlan applies an event about one of the plans: its name and dependencies,
// which the objective owns, a retry, or its end if it has no workflow.
func (o *Objective) applyPlan(e Event) error {
	p := o.Plan(e.PlanID)
	if p == nil {
		return fmt.Errorf("plan %s: %w", e.PlanID, ErrUnknown)
	}
	var err error
	switch e.Kind {
	case PlanRetried:
		err = p.retry(e)
	case PlanMoved:
		err = p.move(e)
	default:
		p.change(e)
	}
	if err == nil {
		o.UpdatedAt = e.At
	}
	return err
}

// retry begins a new attempt at an objective that failed or was canceled. Its
// completed plans stay completed; each of the others that is retried has a
// PlanRetried event.
func (o *Objective) retry(e Event) error {
	if to := ObjectiveStatus(e.To); o.Status == to || !o.Status.Ended() || !o.Status.May(to) {
		return &MoveError{string(o.Status), e.To}
	}
	o.Status, o.Reason, o.Failure, o.Stopping, o.Cause = ObjectiveSubmitted, "", "", "", ""
	o.QueuedAt, o.Started, o.Paused, o.Attempt, o.Root, o.RootGate = a2a.Time{}, false, false, e.Attempt, TaskSubmitted, ""
	for _, p := range o.Plans {
		p.Kept = p.Status == PlanCompleted
	}
	o.UpdatedAt = e.At
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
