package wire

import (
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/api/work"
	"longhaul/opt"
)

// ReadCreateObjective reads the params of objectives/create.
func ReadCreateObjective(r *Reader) work.CreateObjectiveParams {
	o := r.params()
	p := work.CreateObjectiveParams{Name: o.needText("name"), Description: o.text("description"), Metadata: o.clientMetadata("metadata")}
	o.checkText(p.Name, p.Description)
	return p
}

// ReadGetObjective reads the params of objectives/get.
func ReadGetObjective(r *Reader) read.GetObjectiveParams {
	o := r.params()
	return read.GetObjectiveParams{ID: o.needText("id"), Plans: o.flag("includePlans", true), Tasks: o.flag("includeTasks", true)}
}

// maxSearch is the longest text to search for, in bytes.
const maxSearch = 1024

// ReadListObjectives reads the params of objectives/list.
func ReadListObjectives(r *Reader) read.ListObjectivesParams {
	o := r.params()
	status := oneOf(o.fields, "status", opt.ObjectiveStatuses...)
	plans, tasks := o.flag("includePlans", false), o.flag("includeTasks", false)
	text, planner := o.text("text"), o.text("planner")
	for name, value := range map[string]string{"text": text, "planner": planner} {
		if len(value) > maxSearch {
			o.wrong(name, fmt.Sprintf("is longer than %d bytes", maxSearch))
		}
	}
	return read.ListObjectivesParams{
		Filter: opt.ObjectiveSearch{
			ObjectiveFilter: opt.ObjectiveFilter{Status: status, Limit: o.pageSize(objectivePage), Plans: plans},
			Text:            text, ContextID: o.contextID("contextId"), Planner: planner, Since: o.time("createdAfter"), Until: o.time("createdBefore"),
		},
		Tasks:     tasks,
		PageToken: o.text("pageToken"),
	}
}

// ReadCreatePlan reads the params of plans/create.
func ReadCreatePlan(r *Reader) work.CreatePlanParams {
	o := r.params()
	p := work.CreatePlanParams{ObjectiveID: o.needText("objectiveId"), Seen: o.seen()}
	o.needText("name")
	p.Plan = o.plan(nil)
	o.checkDescription("description", p.Plan.Description)
	return p
}

// ReadGetPlan reads the params of plans/get.
func ReadGetPlan(r *Reader) read.GetPlanParams {
	o := r.params()
	return read.GetPlanParams{ID: o.needText("id"), Tasks: o.flag("includeTasks", true)}
}

// ReadUpdateObjective reads the params of objectives/update.
func ReadUpdateObjective(r *Reader) work.UpdateObjectiveParams {
	o := r.params()
	return work.UpdateObjectiveParams{ID: o.needText("id"), Change: o.change(), Status: oneOf(o.fields, "status", opt.ObjectiveStatuses...), Seen: o.seen()}
}

// ReadReplan reads the params of objectives/replan.
func ReadReplan(r *Reader) work.ReplanParams {
	o := r.params()
	p := work.ReplanParams{ID: o.needText("id"), Reason: o.text("reason"), Seen: o.seen()}
	o.checkDescription("reason", p.Reason)
	return p
}

// ReadUpdatePlan reads the params of plans/update.
func ReadUpdatePlan(r *Reader) work.UpdatePlanParams {
	o := r.params()
	p := work.UpdatePlanParams{ID: o.needText("id"), Change: o.change(), Status: oneOf(o.fields, "status", opt.PlanStatuses...), Seen: o.seen()}
	p.Change.Dependencies = o.dependencies("plan", nil)
	return p
}

// ReadAddTasks reads the params of plans/addTasks. The plan may have either of
// two names.
func ReadAddTasks(r *Reader) work.AddTasksParams {
	o := r.params()
	p := work.AddTasksParams{ID: o.text("planId"), Seen: o.seen()}
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

// ReadLinkTask reads the params of tasks/link.
func ReadLinkTask(r *Reader) work.LinkTaskParams {
	o := r.params()
	return work.LinkTaskParams{ID: o.needText("id"), Link: o.needID("a2aTaskId"), Seen: o.seen()}
}

// ReadUpdateTaskStatus reads the params of tasks/updateStatus.
func ReadUpdateTaskStatus(r *Reader) work.UpdateTaskStatusParams {
	o := r.params()
	p := work.UpdateTaskStatusParams{ID: o.needText("id"), State: o.planTaskState("status"), Message: o.text("message"), Seen: o.seen()}
	o.checkDescription("message", p.Message)
	return p
}

// planTaskState returns the state called name, which is required, in the spelling
// of the extension or of 1.0.
func (o params) planTaskState(name string) opt.TaskState {
	s := o.needText(name)
	state := opt.TaskState(s)
	if word, ok := strings.CutPrefix(s, "TASK_STATE_"); ok && word == strings.ToUpper(word) {
		state = opt.TaskState(strings.ReplaceAll(strings.ToLower(word), "_", "-"))
	}
	if s != "" && !state.Valid() {
		o.wrong(name, mustBeOneOf(opt.TaskStates))
	}
	return state
}

// change reads the changes other than the status.
func (o params) change() opt.Change {
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

// replacement returns the metadata that replaces a client's, or nil for no
// change. It is also nil if there are only keys of the server, which a client
// sends as options or returns unchanged. An empty object removes all metadata.
func (o params) replacement() a2a.Metadata {
	if m, ok := o.child("metadata"); ok && len(m.m) == 0 {
		return a2a.Metadata{}
	}
	return o.clientMetadata("metadata")
}

// seen returns the revision that a client has seen, 0 if it names none. It is in
// the metadata, as in an objective, or at the top level.
func (o params) seen() int64 {
	at, n := o.fields, o.integer(keyRevision)
	if m, ok := o.child("metadata"); ok && n == nil {
		at, n = m.fields, m.integer(keyRevision)
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
