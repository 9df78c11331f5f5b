package wire

import (
	"strings"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/work"
	"longhaul/opt"
	"longhaul/opt/fork"
	optwire "longhaul/opt/wire"
)

// readNewPlan reads the members of a plan to add.
func readNewPlan(o codec.Object) opt.PlanSpec {
	o.NeedText("name")
	spec := readPlan(o, nil)
	checkDescription(o, "description", spec.Description)
	return spec
}

// ReadUpdatePlan reads the params of plans/update.
func ReadUpdatePlan(r *Reader) work.UpdatePlanParams {
	p := Read[work.UpdatePlanParams](r)
	p.Change.Dependencies = readDependencies(r.params(), "plan", nil)
	for _, t := range r.params().Objects("tasks") {
		if !t.Has("dependencies") {
			t.Missing("dependencies")
		}
		p.Tasks = append(p.Tasks, opt.TaskOrder{ID: t.NeedID("id"), Dependencies: readDependencies(t, "task", nil)})
	}
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

// readTaskChanges reads the changes of tasks of a fork.
func readTaskChanges(o codec.Object, name string) (out []fork.TaskChange) {
	for _, t := range o.Objects(name) {
		by := fork.TaskChange{ID: t.NeedID("id"), Name: t.Text("name")}
		checkName(t, "name", by.Name)
		if text, ok := t.TextIf("description"); ok {
			checkDescription(t, "description", text)
			by.Description = &text
		}
		out = append(out, by)
	}
	return out
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

// replacement returns the metadata that replaces a client's, or nil for no
// change. It is also nil if there are only keys of the server, which a client
// sends as options or returns unchanged. An empty object removes all metadata.
func replacement(o codec.Object, name string) a2a.Metadata {
	if m, ok := o.Child(name); ok && len(m.Members()) == 0 {
		return a2a.Metadata{}
	}
	return clientMetadata(o, name)
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
