package client

import (
	"context"
	"crypto/rand"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/wire"
)

// The objects of the extension.
type (
	Objective = wire.Objective
	Plan      = wire.Plan
	PlanTask  = wire.PlanTask
	MovedTask = wire.MovedTask

	TaskChange = wire.TaskChange
)

// NewObjective asks for an objective.
type NewObjective struct {
	// Key makes the call safe to repeat: a second call with the same key and content
	// returns the first objective, and CreateObjective repeats it while the agent cannot be
	// reached. Store the key before the call, and a program that crashed meanwhile creates
	// no second objective. Keys are the caller's own. "": the call is made once.
	Key string `json:"-"`

	Name        string       `json:"name"`
	Description string       `json:"description,omitempty"`
	Metadata    a2a.Metadata `json:"metadata,omitempty"`
}

// NewPlan asks for a plan. Key is like that of NewObjective.
type NewPlan struct {
	Key          string        `json:"-"`
	ObjectiveID  string        `json:"objectiveId"`
	Name         string        `json:"name"`
	Description  string        `json:"description,omitempty"`
	Tasks        []NewPlanTask `json:"tasks,omitempty"`
	Dependencies []string      `json:"dependencies,omitzero"` // ids of plans of the same objective; nil: it follows the last one; empty: it follows none
	Metadata     a2a.Metadata  `json:"metadata,omitempty"`
}

// NewPlanTask asks for a task of a plan. In Dependencies, "task-0" is the first
// task of the same request. Nil: it follows the task before it; empty: it begins at once.
type NewPlanTask struct {
	Name         string   `json:"name"`
	Description  string   `json:"description,omitempty"`
	Dependencies []string `json:"dependencies,omitzero"`
}

type idParams struct {
	ID string `json:"id"`
}

// CreateObjective creates an objective, which does not start by itself: see [Client.Start].
// It is repeated only if o has a Key, since a repeat without one would create a second
// objective.
func (c *Client) CreateObjective(ctx context.Context, o NewObjective) (*Objective, error) {
	var r wire.ObjectiveResult
	return result(&r.Objective, c.caller.change(ctx, o.Key, "objectives/create", o, &r))
}

// A Fork asks for a new objective. Key is like that of NewObjective.
type Fork struct {
	Key string `json:"-"`
	wire.NewFork
}

// Fork starts a new objective from an event of another one, with the work that was finished there. It
// is repeated only if f has a Key.
func (c *Client) Fork(ctx context.Context, id string, f Fork) (*Objective, error) {
	var r wire.ObjectiveResult
	return result(&r.Objective, c.caller.change(ctx, f.Key, "objectives/fork", forkParams{id, f.NewFork}, &r))
}

// GetObjective returns an objective with its plans and their tasks.
func (c *Client) GetObjective(ctx context.Context, id string) (*Objective, error) {
	var r wire.ObjectiveResult
	return result(&r.Objective, c.caller.call(ctx, "objectives/get", idParams{id}, &r))
}

// ObjectiveOptions select objectives. Zero members select everything.
type ObjectiveOptions struct {
	Status    opt.ObjectiveStatus `json:"status,omitempty"`
	Text      string              `json:"text,omitempty"` // in the name, the description or the id
	ContextID string              `json:"contextId,omitempty"`
	Planner   string              `json:"planner,omitempty"`     // that made the plans, such as "playbook research"
	Since     a2a.Time            `json:"createdAfter,omitzero"` // created then or later
	Until     a2a.Time            `json:"createdBefore,omitzero"`
	PageSize  int                 `json:"pageSize,omitzero"` // zero: the agent's default
	PageToken string              `json:"pageToken,omitempty"`
	Plans     bool                `json:"includePlans,omitempty"`
	Tasks     bool                `json:"includeTasks,omitempty"`
}

// ListObjectives returns a page of objectives, the newest first.
func (c *Client) ListObjectives(ctx context.Context, o ObjectiveOptions) (*Page[Objective], error) {
	return listOf[Objective](ctx, c.caller, request{method: "objectives/list", content: o}, "objectives")
}

// Start makes the agent work on an objective that waits to be started, and returns it. The
// task to wait for has the id of the objective. Starting an objective that works already
// changes nothing, so the call is repeated while the agent cannot be reached; one that has
// ended is refused with the Reason [ReasonMove].
func (c *Client) Start(ctx context.Context, objectiveID string) (*Objective, error) {
	return c.UpdateObjective(ctx, objectiveID, ObjectiveChange{Key: NewKey(), Status: opt.ObjectiveWorking})
}

// result returns v, which a call has read, unless the call failed.
func result[T any](v *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// NewKey returns a random, unique key for a call.
func NewKey() string { return "key-" + strings.ToLower(rand.Text()) }

// CreatePlan adds a plan to an objective. Like CreateObjective it is repeated only if p
// has a Key.
func (c *Client) CreatePlan(ctx context.Context, p NewPlan) (*Plan, error) {
	var r wire.PlanResult
	return result(&r.Plan, c.caller.change(ctx, p.Key, "plans/create", p, &r))
}

// GetPlan returns a plan with its tasks.
func (c *Client) GetPlan(ctx context.Context, id string) (*Plan, error) {
	var r wire.PlanResult
	return result(&r.Plan, c.caller.call(ctx, "plans/get", idParams{id}, &r))
}

// An ObjectiveChange says what to change of an objective. Zero members change
// nothing. Key is like that of NewObjective.
type ObjectiveChange struct {
	Key         string              `json:"-"`
	Name        string              `json:"name,omitempty"`
	Description *string             `json:"description,omitempty"`
	Status      opt.ObjectiveStatus `json:"status,omitempty"`
	Metadata    a2a.Metadata        `json:"metadata,omitzero"` // replaces the client's metadata; an empty one removes it
	Seen        int64               `json:"longhaul/v1/revision,omitempty"`
}

// UpdateObjective changes an objective. If Seen is not zero and the objective has
// another revision, the error has the Reason [ReasonStale]. It is repeated only if
// the change has a Key: the agent then recognizes it, also if another client has made a
// change meanwhile.
func (c *Client) UpdateObjective(ctx context.Context, id string, change ObjectiveChange) (*Objective, error) {
	var r wire.ObjectiveResult
	return result(&r.Objective, c.caller.change(ctx, change.Key, "objectives/update", objectiveChange{id, change}, &r))
}

// Replan asks for plans in place of those that have not ended.
func (c *Client) Replan(ctx context.Context, id, reason string) (*Objective, error) {
	var r wire.ObjectiveResult
	return result(&r.Objective, c.caller.change(ctx, "", "objectives/replan", replanParams{id, reason}, &r))
}

// A PlanChange says what to change of a plan. Zero members change nothing. Key is like
// that of NewObjective.
type PlanChange struct {
	Key          string         `json:"-"`
	Name         string         `json:"name,omitempty"`
	Description  *string        `json:"description,omitempty"`
	Status       opt.PlanStatus `json:"status,omitempty"`
	Dependencies []string       `json:"dependencies,omitzero"` // ids of plans, replaces its dependencies; only before the plan begins
	Metadata     a2a.Metadata   `json:"metadata,omitzero"`     // replaces the client's metadata; an empty one removes it
	Tasks        []TaskOrder    `json:"tasks,omitempty"`       // what tasks that have not begun wait for, all at once; with no other member
	Seen         int64          `json:"longhaul/v1/revision,omitempty"`
}

// A TaskOrder is what a task of a plan waits for: the ids of tasks of the plan, or "task-0" for its first one.
type TaskOrder = opt.TaskOrder

// UpdatePlan changes a plan, like UpdateObjective. Seen is the revision of its
// objective.
func (c *Client) UpdatePlan(ctx context.Context, id string, change PlanChange) (*Plan, error) {
	var r wire.PlanResult
	return result(&r.Plan, c.caller.change(ctx, change.Key, "plans/update", planChange{id, change}, &r))
}

// AddTasks adds tasks to a plan. In their Dependencies, "task-0" is the first task
// that the plan has already.
func (c *Client) AddTasks(ctx context.Context, planID string, tasks ...NewPlanTask) (*Plan, error) {
	var r wire.PlanResult
	return result(&r.Plan, c.caller.change(ctx, "", "plans/addTasks", addTasksParams{planID, tasks}, &r))
}

// LinkTask makes another A2A task stand in for a plan task that has not begun.
func (c *Client) LinkTask(ctx context.Context, id, a2aTaskID string) (*PlanTask, error) {
	var r wire.TaskResult
	return result(&r.Task, c.caller.change(ctx, "", "tasks/link", linkParams{id, a2aTaskID}, &r))
}

// UpdateTaskStatus moves a plan task by hand; text is the message of its status,
// "" for none. The states of its plan and its objective follow.
func (c *Client) UpdateTaskStatus(ctx context.Context, id string, status opt.TaskState, text string) (*MovedTask, error) {
	var r MovedTask
	return result(&r, c.caller.change(ctx, "", "tasks/updateStatus", statusParams{id, status, text}, &r))
}

// The params of the calls above.
type (
	objectiveChange struct {
		ID string `json:"id"`
		ObjectiveChange
	}
	replanParams struct {
		ID     string `json:"id"`
		Reason string `json:"reason,omitempty"`
	}
	forkParams struct {
		ID string `json:"id"`
		wire.NewFork
	}
	planChange struct {
		ID string `json:"id"`
		PlanChange
	}
	addTasksParams struct {
		ID    string        `json:"id"`
		Tasks []NewPlanTask `json:"tasks"`
	}
	linkParams struct {
		ID        string `json:"id"`
		A2ATaskID string `json:"a2aTaskId"`
	}
	statusParams struct {
		ID      string        `json:"id"`
		Status  opt.TaskState `json:"status"`
		Message string        `json:"message,omitempty"`
	}
)
