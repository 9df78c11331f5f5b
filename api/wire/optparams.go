package wire

import (
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// CreateObjectiveParams are the params of objectives/create.
type CreateObjectiveParams struct {
	Name, Description string
	Metadata          a2a.Metadata
}

// ReadCreateObjective reads the params of objectives/create.
func ReadCreateObjective(r *Reader) CreateObjectiveParams {
	o := r.params()
	p := CreateObjectiveParams{Name: o.needText("name"), Description: o.text("description"), Metadata: o.clientMetadata("metadata")}
	o.checkText(p.Name, p.Description)
	return p
}

// GetObjectiveParams are the params of objectives/get.
type GetObjectiveParams struct {
	ID           string
	Plans, Tasks bool
}

// ReadGetObjective reads the params of objectives/get.
func ReadGetObjective(r *Reader) GetObjectiveParams {
	o := r.params()
	return GetObjectiveParams{o.needText("id"), o.flag("includePlans", true), o.flag("includeTasks", true)}
}

// ListObjectivesParams are the params of objectives/list.
type ListObjectivesParams struct {
	Filter    opt.ObjectiveFilter // without its cursor
	Tasks     bool
	PageToken string
}

// ReadListObjectives reads the params of objectives/list.
func ReadListObjectives(r *Reader) ListObjectivesParams {
	o := r.params()
	status := statusIn[opt.ObjectiveStatus](o, "an objective")
	plans, tasks := o.flag("includePlans", false), o.flag("includeTasks", false)
	return ListObjectivesParams{
		Filter:    opt.ObjectiveFilter{Status: status, Limit: o.pageSize(objectivePage), Plans: plans},
		Tasks:     tasks,
		PageToken: o.text("pageToken"),
	}
}

// CreatePlanParams are the params of plans/create.
type CreatePlanParams struct {
	ObjectiveID string
	Plan        opt.PlanSpec
	Seen        int64 // the revision that the client saw, 0 for any
}

// ReadCreatePlan reads the params of plans/create.
func ReadCreatePlan(r *Reader) CreatePlanParams {
	o := r.params()
	p := CreatePlanParams{ObjectiveID: o.needText("objectiveId"), Seen: o.seen()}
	o.needText("name")
	p.Plan = o.plan(nil)
	o.checkText(p.Plan.Name, p.Plan.Description)
	return p
}

// GetPlanParams are the params of plans/get.
type GetPlanParams struct {
	ID    string
	Tasks bool
}

// ReadGetPlan reads the params of plans/get.
func ReadGetPlan(r *Reader) GetPlanParams {
	o := r.params()
	return GetPlanParams{o.needText("id"), o.flag("includeTasks", true)}
}

// UpdateObjectiveParams are the params of objectives/update.
type UpdateObjectiveParams struct {
	ID     string
	Change opt.Change
	Status opt.ObjectiveStatus // "" to stay
	Seen   int64               // the revision that the client saw, 0 for any
}

// ReadUpdateObjective reads the params of objectives/update.
func ReadUpdateObjective(r *Reader) UpdateObjectiveParams {
	o := r.params()
	return UpdateObjectiveParams{o.needText("id"), o.change(), statusIn[opt.ObjectiveStatus](o, "an objective"), o.seen()}
}

// ReplanParams are the params of objectives/replan.
type ReplanParams struct {
	ID, Reason string
	Seen       int64
}

// ReadReplan reads the params of objectives/replan.
func ReadReplan(r *Reader) ReplanParams {
	o := r.params()
	p := ReplanParams{o.needText("id"), o.text("reason"), o.seen()}
	o.checkLength("reason", p.Reason)
	return p
}

// UpdatePlanParams are the params of plans/update.
type UpdatePlanParams struct {
	ID     string
	Change opt.Change     // Dependencies are ids as they were sent
	Status opt.PlanStatus // "" to stay
	Seen   int64
}

// ReadUpdatePlan reads the params of plans/update.
func ReadUpdatePlan(r *Reader) UpdatePlanParams {
	o := r.params()
	p := UpdatePlanParams{o.needText("id"), o.change(), statusIn[opt.PlanStatus](o, "a plan"), o.seen()}
	if o.find("dependencies") != nil {
		p.Change.Dependencies = append([]string{}, o.texts("dependencies")...)
	}
	return p
}

// AddTasksParams are the params of plans/addTasks.
type AddTasksParams struct {
	ID    string // of the plan
	Tasks []opt.TaskSpec
	Seen  int64
}

// ReadAddTasks reads the params of plans/addTasks. The plan may stand under
// either of two names.
func ReadAddTasks(r *Reader) AddTasksParams {
	o := r.params()
	p := AddTasksParams{ID: o.text("planId"), Seen: o.seen()}
	if o.find("id") != nil || p.ID == "" {
		p.ID = o.needText("id")
	}
	switch raw := o.find("tasks"); {
	case raw == nil:
		o.missing("tasks")
	case raw[0] == '[' && len(o.list("tasks")) == 0:
		o.wrong("tasks", "must contain at least one task")
	}
	p.Tasks = o.tasks(false)
	return p
}

// LinkTaskParams are the params of tasks/link.
type LinkTaskParams struct {
	ID   string // of the plan task
	Link string // the A2A task that stands in for it
	Seen int64
}

// ReadLinkTask reads the params of tasks/link.
func ReadLinkTask(r *Reader) LinkTaskParams {
	o := r.params()
	return LinkTaskParams{o.needText("id"), o.needID("a2aTaskId"), o.seen()}
}

// UpdateTaskStatusParams are the params of tasks/updateStatus.
type UpdateTaskStatusParams struct {
	ID      string // of the plan task
	State   opt.TaskState
	Message string // for people
	Seen    int64
}

// ReadUpdateTaskStatus reads the params of tasks/updateStatus.
func ReadUpdateTaskStatus(r *Reader) UpdateTaskStatusParams {
	o := r.params()
	p := UpdateTaskStatusParams{o.needText("id"), o.planTaskState("status"), o.text("message"), o.seen()}
	o.checkLength("message", p.Message)
	return p
}

// planTaskState returns the state called name, which is required, in the words of
// the extension or as 1.0 spells those of a task.
func (o object) planTaskState(name string) opt.TaskState {
	s := o.needText(name)
	state := opt.TaskState(s)
	if word, ok := strings.CutPrefix(s, "TASK_STATE_"); ok && word == strings.ToUpper(word) {
		state = opt.TaskState(strings.ReplaceAll(strings.ToLower(word), "_", "-"))
	}
	if s != "" && !state.Valid() {
		o.wrong(name, "is not a state of a task")
	}
	return state
}

// statusIn returns the status in the request, "" if there is none.
func statusIn[S interface {
	~string
	Valid() bool
}](o object, of string) S {
	s := S(o.text("status"))
	if s != "" && !s.Valid() {
		o.wrong("status", "is not a status of "+of)
		return ""
	}
	return s
}

// change reads what is to be changed beside the status.
func (o object) change() opt.Change {
	c := opt.Change{Metadata: o.replacement()}
	if name, ok := o.textIf("name"); ok {
		c.Name = &name
		if name == "" {
			o.wrong("name", "must not be empty")
		}
		o.checkText(name, "")
	}
	if description, ok := o.textIf("description"); ok {
		c.Description = &description
		o.checkText("", description)
	}
	return c
}

// replacement returns the metadata that is to stand in place of a client's. It is
// nil where nothing is to change, which is also if there are but keys of the
// server's: they ask for something, or were sent back as they came. An empty
// object takes all away.
func (o object) replacement() a2a.Metadata {
	if m, ok := o.object("metadata"); ok && len(m.m) == 0 {
		return a2a.Metadata{}
	}
	return o.clientMetadata("metadata")
}

// seen returns the revision that a client says it has seen, 0 if it does not say.
// It stands in the metadata, as in that of an objective, or at the top.
func (o object) seen() int64 {
	at, n := o, o.integer(keyRevision)
	if m, ok := o.object("metadata"); ok && n == nil {
		at, n = m, m.integer(keyRevision)
	}
	switch {
	case n == nil:
		return 0
	case *n < 1:
		at.wrong(keyRevision, "must be above 0")
		return 0
	}
	return int64(*n)
}
