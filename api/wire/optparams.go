package wire

import (
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/read"
	"longhaul/api/work"
	"longhaul/opt"
	optwire "longhaul/opt/wire"
)

// ReadCreateObjective reads the params of objectives/create.
func ReadCreateObjective(r *Reader) work.CreateObjectiveParams {
	o := r.params()
	p := work.CreateObjectiveParams{Name: o.NeedText("name"), Description: o.Text("description"), Metadata: clientMetadata(o, "metadata")}
	checkText(o, p.Name, p.Description)
	return p
}

// ReadGetObjective reads the params of objectives/get.
func ReadGetObjective(r *Reader) read.GetObjectiveParams {
	o := r.params()
	return read.GetObjectiveParams{ID: o.NeedText("id"), Plans: o.Flag("includePlans", true), Tasks: o.Flag("includeTasks", true)}
}

// maxSearch is the longest text to search for, in bytes.
const maxSearch = 1024

// ReadListObjectives reads the params of objectives/list.
func ReadListObjectives(r *Reader) read.ListObjectivesParams {
	o := r.params()
	status := codec.OneOf(o, "status", opt.ObjectiveStatuses...)
	plans, tasks := o.Flag("includePlans", false), o.Flag("includeTasks", false)
	text, planner := o.Text("text"), o.Text("planner")
	for name, value := range map[string]string{"text": text, "planner": planner} {
		if len(value) > maxSearch {
			o.Wrong(name, fmt.Sprintf("is longer than %d bytes", maxSearch))
		}
	}
	return read.ListObjectivesParams{
		Filter: opt.ObjectiveSearch{
			ObjectiveFilter: opt.ObjectiveFilter{Status: status, Limit: pageSize(o, objectivePage), Plans: plans},
			Text:            text, ContextID: o.ContextID("contextId"), Planner: planner, Since: o.Time("createdAfter"), Until: o.Time("createdBefore"),
		},
		Tasks:     tasks,
		PageToken: o.Text("pageToken"),
	}
}

// ReadCreatePlan reads the params of plans/create.
func ReadCreatePlan(r *Reader) work.CreatePlanParams {
	o := r.params()
	p := work.CreatePlanParams{ObjectiveID: o.NeedText("objectiveId"), Seen: seenRevision(o)}
	o.NeedText("name")
	p.Plan = readPlan(o, nil)
	checkDescription(o, "description", p.Plan.Description)
	return p
}

// ReadGetPlan reads the params of plans/get.
func ReadGetPlan(r *Reader) read.GetPlanParams {
	o := r.params()
	return read.GetPlanParams{ID: o.NeedText("id"), Tasks: o.Flag("includeTasks", true)}
}

// ReadUpdateObjective reads the params of objectives/update.
func ReadUpdateObjective(r *Reader) work.UpdateObjectiveParams {
	o := r.params()
	return work.UpdateObjectiveParams{ID: o.NeedText("id"), Change: readChange(o), Status: codec.OneOf(o, "status", opt.ObjectiveStatuses...), Seen: seenRevision(o)}
}

// ReadReplan reads the params of objectives/replan.
func ReadReplan(r *Reader) work.ReplanParams {
	o := r.params()
	p := work.ReplanParams{ID: o.NeedText("id"), Reason: o.Text("reason"), Seen: seenRevision(o)}
	checkDescription(o, "reason", p.Reason)
	return p
}

// ReadUpdatePlan reads the params of plans/update.
func ReadUpdatePlan(r *Reader) work.UpdatePlanParams {
	o := r.params()
	p := work.UpdatePlanParams{ID: o.NeedText("id"), Change: readChange(o), Status: codec.OneOf(o, "status", opt.PlanStatuses...), Seen: seenRevision(o)}
	p.Change.Dependencies = readDependencies(o, "plan", nil)
	return p
}

// ReadAddTasks reads the params of plans/addTasks. The plan may have either of
// two names.
func ReadAddTasks(r *Reader) work.AddTasksParams {
	o := r.params()
	p := work.AddTasksParams{ID: o.Text("planId"), Seen: seenRevision(o)}
	if o.Has("id") || p.ID == "" {
		p.ID = o.NeedText("id")
	}
	switch raw := o.Find("tasks"); {
	case raw == nil:
		o.Missing("tasks")
	case raw[0] == '[' && len(o.List("tasks")) == 0:
		o.Wrong("tasks", "must contain at least one task")
	}
	p.Tasks = readTasks(o, false)
	return p
}

// ReadLinkTask reads the params of tasks/link.
func ReadLinkTask(r *Reader) work.LinkTaskParams {
	o := r.params()
	return work.LinkTaskParams{ID: o.NeedText("id"), Link: o.NeedID("a2aTaskId"), Seen: seenRevision(o)}
}

// ReadUpdateTaskStatus reads the params of tasks/updateStatus.
func ReadUpdateTaskStatus(r *Reader) work.UpdateTaskStatusParams {
	o := r.params()
	p := work.UpdateTaskStatusParams{ID: o.NeedText("id"), State: planTaskState(o, "status"), Message: o.Text("message"), Seen: seenRevision(o)}
	checkDescription(o, "message", p.Message)
	return p
}

// planTaskState returns the state called name, which is required, in the spelling
// of the extension or of 1.0.
func planTaskState(o codec.Object, name string) opt.TaskState {
	s := o.NeedText(name)
	state := opt.TaskState(s)
	if word, ok := strings.CutPrefix(s, "TASK_STATE_"); ok && word == strings.ToUpper(word) {
		state = opt.TaskState(strings.ReplaceAll(strings.ToLower(word), "_", "-"))
	}
	if s != "" && !state.Valid() {
		o.Wrong(name, codec.MustBeOneOf(opt.TaskStates))
	}
	return state
}

// change reads the changes other than the status.
func readChange(o codec.Object) opt.Change {
	c := opt.Change{Metadata: replacement(o)}
	if name, ok := o.TextIf("name"); ok {
		c.Name = &name
		if name == "" {
			o.Wrong("name", "must not be empty")
		}
		checkText(o, name, "")
	}
	if description, ok := o.TextIf("description"); ok {
		c.Description = &description
		checkText(o, "", description)
	}
	return c
}

// replacement returns the metadata that replaces a client's, or nil for no
// change. It is also nil if there are only keys of the server, which a client
// sends as options or returns unchanged. An empty object removes all metadata.
func replacement(o codec.Object) a2a.Metadata {
	if m, ok := o.Child("metadata"); ok && len(m.Members()) == 0 {
		return a2a.Metadata{}
	}
	return clientMetadata(o, "metadata")
}

// seenRevision returns the revision that a client has seen, 0 if it names none. It is in
// the metadata, as in an objective, or at the top level.
func seenRevision(o codec.Object) int64 {
	at, n := o, o.Integer(optwire.KeyRevision)
	if m, ok := o.Child("metadata"); ok && n == nil {
		at, n = m, m.Integer(optwire.KeyRevision)
	}
	switch {
	case n == nil:
		return 0
	case *n < 1:
		at.Wrong(optwire.KeyRevision, "must be above 0")
		return 0
	}
	return int64(*n)
}
