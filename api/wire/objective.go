package wire

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// keyRevision is the key in an objective's metadata of a number that grows with
// every change of its plans.
const keyRevision = "longhaul/v1/revision"

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
		Metadata:  whyMetadata(o.Metadata, o.Status == opt.ObjectiveBlocked, o.Status == opt.ObjectiveFailed, o.Reason),
		CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
	}
	if o.Revision > 0 {
		out.Metadata = out.Metadata.With(keyRevision, o.Revision)
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
		Metadata:     whyMetadata(p.Metadata, p.Status == opt.PlanBlocked, p.Status == opt.PlanFailed, p.Reason),
		CreatedAt:    p.CreatedAt, UpdatedAt: p.UpdatedAt,
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
		Metadata: whyMetadata(t.Metadata, false, t.State == opt.TaskFailed, t.Reason),
	}
	if t.State != opt.TaskPending {
		out.A2ATaskID = t.ID
	}
	return out
}

// whyMetadata returns metadata with the reason under the extension's keys.
func whyMetadata(m a2a.Metadata, blocked, failed bool, reason string) a2a.Metadata {
	switch {
	case reason != "" && blocked:
		return m.With(opt.KeyBlockedReason, reason)
	case reason != "" && failed:
		return m.With(opt.KeyFailureReason, reason)
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

// ObjectiveMetadata returns o with all its plans, as it stands under
// opt.KeyObjective in a task's metadata.
func ObjectiveMetadata(o *opt.Objective) any { return newObjective(o, true, true) }

// ShownObjective is an objective and how much of it to show.
type ShownObjective struct {
	*opt.Objective
	Plans, Tasks bool
}

// Objective returns the result of a method about one objective. It is the same in
// both versions, like everything of the extension.
func (Version) Objective(o ShownObjective) any {
	return struct {
		Objective objective `json:"objective"`
	}{newObjective(o.Objective, o.Plans, o.Tasks)}
}

// scalars are the members that the extension's first text has at the top of the
// result of a create, where the later ones have the object.
type scalars struct {
	ID          string   `json:"id"`
	ObjectiveID string   `json:"objectiveId,omitempty"`
	Name        string   `json:"name"`
	Status      string   `json:"status"`
	CreatedAt   a2a.Time `json:"createdAt"`
	UpdatedAt   a2a.Time `json:"updatedAt"`
}

// NewObjective returns the result of creating o.
func (Version) NewObjective(o *opt.Objective) any {
	return struct {
		Objective objective `json:"objective"`
		scalars
	}{newObjective(o, true, true), scalars{o.ID, "", o.Name, string(o.Status), o.CreatedAt, o.UpdatedAt}}
}

// ShownPlan is a plan and how much of it to show.
type ShownPlan struct {
	*opt.Plan
	Tasks bool
}

// Plan returns the result of a method about one plan.
func (Version) Plan(p ShownPlan) any {
	return struct {
		Plan plan `json:"plan"`
	}{newPlan(p.Plan, p.Tasks)}
}

// NewPlan returns the result of creating p.
func (Version) NewPlan(p *opt.Plan) any {
	return struct {
		Plan plan `json:"plan"`
		scalars
	}{newPlan(p, true), scalars{p.ID, p.ObjectiveID, p.Name, string(p.Status), p.CreatedAt, p.UpdatedAt}}
}

// ObjectivePage is a page of objectives and how much of each to show.
type ObjectivePage struct {
	Objectives   []*opt.Objective
	Next         string // token of the page after, "" for none
	Total        int    // on all pages
	Plans, Tasks bool
}

// ObjectivePage returns a page as it stands on the wire. Unlike a page of tasks
// the last one has no token.
func (Version) ObjectivePage(p ObjectivePage) any {
	list := make([]objective, 0, len(p.Objectives))
	for _, o := range p.Objectives {
		list = append(list, newObjective(o, p.Plans, p.Tasks))
	}
	return struct {
		Objectives    []objective `json:"objectives"`
		TotalSize     int         `json:"totalSize"`
		NextPageToken string      `json:"nextPageToken,omitempty"`
	}{list, p.Total, p.Next}
}
