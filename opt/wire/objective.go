package wire

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// Keys in the metadata of an objective. Its root task has two of them, too.
const (
	KeyRevision  = "longhaul/v1/revision"  // a number that grows with every change by a client
	keyBlockedBy = "longhaul/v1/blockedBy" // what blocks it
	KeyStopping  = "longhaul/v1/stopping"  // the status in which it will end
	KeyQueuedAt  = "longhaul/v1/queuedAt"  // since when it waits for its turn in its context

	KeyUnconfirmed = "longhaul/v1/unconfirmed" // in the answer to a change: plans that have not confirmed it yet

	keyAtOnce = "longhaul/v1/atOnce" // of a plan or a plan task that declares an empty list of dependencies
	keyLink   = "longhaul/v1/link"   // of a linked plan task: whether this server sees the end of the task that stands in for it

	keyStatusReason = "longhaul/v1/statusReason" // the reason of its status, or of a plan's, if that is neither blocked nor failed
	KeyStatusText   = "longhaul/v1/statusText"   // of a plan task that waits for a worker: why, for people
)

// An Objective is an objective of the extension.
type Objective struct {
	ID          string              `json:"id,omitempty"`
	Name        string              `json:"name"`
	Description string              `json:"description,omitempty"`
	Status      opt.ObjectiveStatus `json:"status,omitempty"`
	Plans       []Plan              `json:"plans,omitzero"` // in their order; absent if they were not asked for
	Metadata    a2a.Metadata        `json:"metadata,omitzero"`
	CreatedAt   a2a.Time            `json:"createdAt,omitzero"`
	UpdatedAt   a2a.Time            `json:"updatedAt,omitzero"`
}

// A Plan is a part of the work on an objective.
type Plan struct {
	ID           string         `json:"id,omitempty"`
	ObjectiveID  string         `json:"objectiveId,omitempty"`
	Name         string         `json:"name"`
	Description  string         `json:"description,omitempty"`
	Status       opt.PlanStatus `json:"status,omitempty"`
	Tasks        []PlanTask     `json:"tasks,omitzero"`        // in their order; absent if they were not asked for
	Dependencies []string       `json:"dependencies,omitzero"` // ids of plans; agents show [] also for none
	Metadata     a2a.Metadata   `json:"metadata,omitzero"`
	CreatedAt    a2a.Time       `json:"createdAt,omitzero"`
	UpdatedAt    a2a.Time       `json:"updatedAt,omitzero"`
}

// A PlanTask is a step of a plan.
type PlanTask struct {
	ID           string        `json:"id,omitempty"`
	PlanID       string        `json:"planId,omitempty"`
	ObjectiveID  string        `json:"objectiveId,omitempty"`
	Name         string        `json:"name"`
	Description  string        `json:"description,omitempty"`
	TaskIndex    int           `json:"taskIndex"`
	Dependencies []string      `json:"dependencies,omitzero"` // ids of plan tasks; agents show [] also for none
	A2ATaskID    string        `json:"a2aTaskId,omitempty"`   // absent until it was dispatched
	Status       opt.TaskState `json:"status,omitempty"`
	Metadata     a2a.Metadata  `json:"metadata,omitzero"`
}

// An ObjectivePage is a page of a list of objectives.
type ObjectivePage struct {
	Objectives    []Objective `json:"objectives"`
	TotalSize     int         `json:"totalSize"`                    // on all pages
	AtLeast       bool        `json:"totalSizeIsMinimum,omitempty"` // there may be more than TotalSize
	NextPageToken string      `json:"nextPageToken,omitempty"`      // "" on the last page; a page of a search may have one and no objectives
}

// An ObjectiveResult is the result of a method about one objective.
type ObjectiveResult struct {
	Objective Objective `json:"objective"`
}

// A NewFork asks for a new objective, from an event of another one. Absent members change nothing.
type NewFork struct {
	At      int          `json:"at,omitempty"` // the number of the event; 0 for the latest
	Name    string       `json:"name,omitempty"`
	Message string       `json:"message,omitempty"` // in place of the request: a planner makes plans for it, unless there are Plans
	Plans   []Plan       `json:"plans,omitempty"`   // in place of the plans
	Tasks   []TaskChange `json:"tasks,omitempty"`
	Repeat  bool         `json:"repeat,omitempty"` // also do tasks again that have begun and have no recorded end
}

// A TaskChange changes the text of a task for a fork.
type TaskChange struct {
	ID          string  `json:"id"` // of a task of the original
	Name        string  `json:"name,omitempty"`
	Description *string `json:"description,omitempty"`
}

// A PlanResult is the result of a method about one plan.
type PlanResult struct {
	Plan Plan `json:"plan"`
}

// A TaskResult is the result of linking a plan task.
type TaskResult struct {
	Task PlanTask `json:"task"`
}

// A MovedTask is a plan task that was moved, with its plan and its objective,
// which is without plans.
type MovedTask struct {
	Task      PlanTask  `json:"task"`
	Plan      Plan      `json:"plan"`
	Objective Objective `json:"objective"`
}

// ObjectiveOf returns o, with its plans and their tasks if they are asked for.
func ObjectiveOf(o *opt.Objective, plans, tasks bool) Objective {
	out := Objective{
		ID: o.ID, Name: o.Name, Description: o.Description, Status: o.Status,
		Metadata:  withReason(o.Metadata, o.Status == opt.ObjectiveBlocked, o.Status == opt.ObjectiveFailed || o.Status == opt.ObjectiveCanceled, o.Reason),
		CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
	}
	by := blockedBy(o)
	out.Metadata = out.Metadata.
		WithIf(o.Revision > 0, KeyRevision, o.Revision).
		WithIf(o.Paused && !o.Status.Ended(), opt.KeyPaused, true).
		WithIf(o.Stuck != nil, opt.KeyStuck, o.Stuck).
		WithIf(o.Rewound, opt.KeyRewound, true).
		WithIf(!o.Used.IsZero(), opt.KeyUsage, UsageOf(o.Used)).
		WithIf(by != nil, keyBlockedBy, by).
		WithIf(!o.QueuedAt.IsZero(), KeyQueuedAt, o.QueuedAt).
		WithIf(o.Stopping != "" && !o.Status.Ended(), KeyStopping, o.Stopping)
	if plans {
		out.Plans = Each(o.Plans, func(p *opt.Plan) Plan { return PlanOf(p, tasks) })
	}
	return out
}

// PlanOf returns p, with its tasks if they are asked for.
func PlanOf(p *opt.Plan, tasks bool) Plan {
	out := Plan{
		ID: p.ID, ObjectiveID: p.ObjectiveID, Name: p.Name, Description: p.Description, Status: p.Status,
		Dependencies: append([]string{}, p.Dependencies...),
		Metadata:     ordered(withReason(p.Metadata, p.Status == opt.PlanBlocked, p.Status == opt.PlanFailed, p.Reason), p.Dependencies),
		CreatedAt:    p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
	out.Metadata = out.Metadata.WithIf(p.Paused && !p.Status.Ended(), opt.KeyPaused, true).WithIf(!p.Used.IsZero(), opt.KeyUsage, UsageOf(p.Used))
	if tasks {
		out.Tasks = Each(p.Tasks, func(t *opt.Task) PlanTask { return PlanTaskOf(p, t) })
	}
	return out
}

// PlanTaskOf returns t, a task of p.
func PlanTaskOf(p *opt.Plan, t *opt.Task) PlanTask {
	out := PlanTask{
		ID: t.ID, PlanID: p.ID, ObjectiveID: p.ObjectiveID, Name: t.Name, Description: t.Description, TaskIndex: t.Index,
		Dependencies: append([]string{}, t.Dependencies...), Status: t.State,
	}
	reason := ""
	switch {
	case t.State == opt.TaskFailed || t.Reason == opt.HeldByQuota:
		reason = t.Reason
	case t.Waits != "":
		reason = opt.WaitsForWorker
	}
	out.Metadata = ordered(withReason(t.Metadata, false, t.State == opt.TaskFailed, reason), t.Dependencies).
		WithIf(!t.Used.IsZero(), opt.KeyUsage, UsageOf(t.Used)).WithIf(t.Taken != nil, opt.KeyTakenOver, t.Taken).
		WithIf(t.Waits != "", KeyStatusText, t.Waits)
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
	return m.WithIf(dependencies != nil && len(dependencies) == 0, keyAtOnce, true)
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

// Each returns the forms of the elements of a list, never nil.
func Each[T, F any](list []T, of func(T) F) []F {
	out := make([]F, 0, len(list))
	for _, v := range list {
		out = append(out, of(v))
	}
	return out
}
