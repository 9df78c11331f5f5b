package wire

import (
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
	status := opt.ObjectiveStatus(o.text("status"))
	if status != "" && !status.Valid() {
		o.wrong("status", "is not a status of an objective")
	}
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
}

// ReadCreatePlan reads the params of plans/create.
func ReadCreatePlan(r *Reader) CreatePlanParams {
	o := r.params()
	p := CreatePlanParams{ObjectiveID: o.needText("objectiveId")}
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
