package wire

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// Keys in the metadata of an objective.
const (
	keyRevision  = "longhaul/v1/revision"  // a number that grows with every change by a client
	keyBlockedBy = "longhaul/v1/blockedBy" // what blocks it
	keyStopping  = "longhaul/v1/stopping"  // the status in which it will end
	keyQueuedAt  = "longhaul/v1/queuedAt"  // since when it waits for its turn in its context

	keyUnconfirmed = "longhaul/v1/unconfirmed" // in the answer to a change: plans that have not confirmed it yet

	keyAtOnce = "longhaul/v1/atOnce" // of a plan or a plan task that declares an empty list of dependencies
	keyLink   = "longhaul/v1/link"   // of a linked plan task: whether this server sees the end of the task that stands in for it

	keyStatusReason = "longhaul/v1/statusReason" // the reason of its status, or of a plan's, if that is neither blocked nor failed
)

type objective struct {
	ID          string              `json:"id"`
	Name        string              `json:"name"`
	Description string              `json:"description,omitempty"`
	Status      opt.ObjectiveStatus `json:"status"`
	Plans       *[]plan             `json:"plans,omitempty"`
	Metadata    a2a.Metadata        `json:"metadata"`
	CreatedAt   a2a.Time            `json:"createdAt"`
	UpdatedAt   a2a.Time            `json:"updatedAt"`
}

type plan struct {
	ID           string         `json:"id"`
	ObjectiveID  string         `json:"objectiveId"`
	Name         string         `json:"name"`
	Description  string         `json:"description,omitempty"`
	Status       opt.PlanStatus `json:"status"`
	Tasks        *[]planTask    `json:"tasks,omitempty"`
	Dependencies []string       `json:"dependencies"`
	Metadata     a2a.Metadata   `json:"metadata"`
	CreatedAt    a2a.Time       `json:"createdAt"`
	UpdatedAt    a2a.Time       `json:"updatedAt"`
}

type planTask struct {
	ID           string        `json:"id"`
	PlanID       string        `json:"planId"`
	ObjectiveID  string        `json:"objectiveId"`
	Name         string        `json:"name"`
	Description  string        `json:"description,omitempty"`
	TaskIndex    int           `json:"taskIndex"`
	Dependencies []string      `json:"dependencies"`
	A2ATaskID    string        `json:"a2aTaskId,omitempty"`
	Status       opt.TaskState `json:"status"`
	Metadata     a2a.Metadata  `json:"metadata"`
}

func newObjective(o *opt.Objective, plans, tasks bool) objective {
	out := objective{
		ID: o.ID, Name: o.Name, Description: o.Description, Status: o.Status,
		Metadata:  withReason(o.Metadata, o.Status == opt.ObjectiveBlocked, o.Status == opt.ObjectiveFailed || o.Status == opt.ObjectiveCanceled, o.Reason),
		CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
	}
	if o.Revision > 0 {
		out.Metadata = out.Metadata.With(keyRevision, o.Revision)
	}
	if o.Paused && !o.Status.Ended() {
		out.Metadata = out.Metadata.With(opt.KeyPaused, true)
	}
	if o.Stuck != nil {
		out.Metadata = out.Metadata.With(opt.KeyStuck, o.Stuck)
	}
	if o.Rewound {
		out.Metadata = out.Metadata.With(opt.KeyRewound, true)
	}
	if by := blockedBy(o); by != nil {
		out.Metadata = out.Metadata.With(keyBlockedBy, by)
	}
	if !o.QueuedAt.IsZero() {
		out.Metadata = out.Metadata.With(keyQueuedAt, o.QueuedAt)
	}
	if o.Stopping != "" && !o.Status.Ended() {
		out.Metadata = out.Metadata.With(keyStopping, o.Stopping)
	}
	if plans {
		list := make([]plan, 0, len(o.Plans))
		for _, p := range o.Plans {
			list = append(list, newPlan(p, tasks))
		}
		out.Plans = &list
	}
	return out
}

func newPlan(p *opt.Plan, tasks bool) plan {
	out := plan{
		ID: p.ID, ObjectiveID: p.ObjectiveID, Name: p.Name, Description: p.Description, Status: p.Status,
		Dependencies: orEmpty(p.Dependencies),
		Metadata:     ordered(withReason(p.Metadata, p.Status == opt.PlanBlocked, p.Status == opt.PlanFailed, p.Reason), p.Dependencies),
		CreatedAt:    p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
	if p.Paused && !p.Status.Ended() {
		out.Metadata = out.Metadata.With(opt.KeyPaused, true)
	}
	if tasks {
		list := make([]planTask, 0, len(p.Tasks))
		for _, t := range p.Tasks {
			list = append(list, newPlanTask(p, t))
		}
		out.Tasks = &list
	}
	return out
}

func newPlanTask(p *opt.Plan, t *opt.Task) planTask {
	out := planTask{
		ID: t.ID, PlanID: p.ID, ObjectiveID: p.ObjectiveID, Name: t.Name, Description: t.Description, TaskIndex: t.Index,
		Dependencies: orEmpty(t.Dependencies), Status: t.State,
	}
	reason := ""
	if t.State == opt.TaskFailed {
		reason = t.Reason
	}
	out.Metadata = ordered(withReason(t.Metadata, false, true, reason), t.Dependencies)
	switch {
	case t.Link != "":
		out.A2ATaskID = t.Link
		out.Metadata = out.Metadata.With(keyLink, linkOf(t))
	case t.State != opt.TaskPending:
		out.A2ATaskID = t.A2AID()
	}
	return out
}

// ordered returns m with the mark of an empty list of dependencies, since none are shown
// like that, too.
func ordered(m a2a.Metadata, dependencies []string) a2a.Metadata {
	if dependencies == nil || len(dependencies) > 0 {
		return m
	}
	return m.With(keyAtOnce, true)
}

// A link says what becomes of a linked task.
type link struct {
	Followed bool   `json:"followed"`       // it ends as the task does that stands in for it
	Note     string `json:"note,omitempty"` // for people
}

func linkOf(t *opt.Task) link {
	if t.Follow || t.State.Ended() {
		return link{Followed: t.Follow}
	}
	return link{Note: "This server has no task with the id of a2aTaskId that you may see. Move this task with tasks/updateStatus."}
}

// A block is the path from an objective to what blocks it.
type block struct {
	PlanID      string `json:"planId"`
	TaskID      string `json:"taskId,omitempty"`      // the A2A task to answer
	InterruptID string `json:"interruptId,omitempty"` // its gate
	Question    string `json:"question,omitempty"`    // the question of the gate
}

// blockedBy returns what blocks o: the gate that has been open for the longest, a
// task that waits without a gate, or a plan that a client has paused. It is nil
// if nothing blocks o, if a client has paused o itself, or if o comes without
// plans.
func blockedBy(o *opt.Objective) *block {
	if o.Status != opt.ObjectiveBlocked || o.Reason == opt.BlockedByOperator {
		return nil
	}
	var found *block
	var oldest *opt.Gate
	for _, p := range o.Plans {
		if p.Status != opt.PlanBlocked || p.Reason == opt.BlockedByDependencies {
			continue
		}
		if found == nil {
			found = &block{PlanID: p.ID}
		}
		for _, t := range p.Tasks {
			switch g := t.Gate; {
			case !t.State.Waiting():
			case g != nil && (oldest == nil || g.RequestedAt.Millis() < oldest.RequestedAt.Millis()):
				found, oldest = &block{p.ID, t.A2AID(), g.ID, g.Prompt()}, g
			case found.TaskID == "":
				found = &block{PlanID: p.ID, TaskID: t.A2AID()}
			}
		}
	}
	return found
}

// withReason returns metadata with the reason of a status under the extension's keys.
func withReason(m a2a.Metadata, blocked, failed bool, reason string) a2a.Metadata {
	switch {
	case reason != "" && blocked:
		return m.With(opt.KeyBlockedReason, reason)
	case reason != "" && failed:
		return m.With(opt.KeyFailureReason, reason)
	case reason != "":
		return m.With(keyStatusReason, reason)
	case m == nil:
		return a2a.Metadata{}
	}
	return m
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
