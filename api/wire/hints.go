package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/message"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// readHints reads the hints in the metadata called name. A key of the extension that
// has the wrong type is an error, since using one activates the extension.
func readHints(o codec.Object, name string) message.Hints {
	m, ok := o.Child(name)
	if !ok {
		return message.Hints{}
	}
	h := message.Hints{
		TaskID:          m.ID(opt.KeyTaskID),
		PreferObjective: m.Flag(opt.KeyPreferObjective, false),
		SuggestedName:   m.Text(opt.KeySuggestedName),
	}
	m.Flag(opt.KeyAutoStart, false)
	codec.OneOf(m, opt.KeyHistoryScope, shown.ScopeTask, shown.ScopePlan, shown.ScopeObjective)
	checkName(m, opt.KeySuggestedName, h.SuggestedName)
	if plan, ok := m.Child(opt.KeyPlan); ok {
		h.Plan = new(readPlan(plan, nil))
	}
	if objective, ok := m.Child(opt.KeyObjective); ok {
		h.Objective = &message.ObjectiveHint{
			ID: objective.ID("id"), Name: objective.Text("name"), Description: objective.Text("description"),
			Metadata: clientMetadata(objective, "metadata"), Plans: readPlans(objective),
		}
		checkName(objective, "name", h.Objective.Name)
		checkDescription(objective, "description", h.Objective.Description)
	}
	return h
}

// clientMetadata returns the metadata called name without the keys that only the
// server sets.
func clientMetadata(o codec.Object, name string) a2a.Metadata {
	out := o.Metadata(name)
	maps.DeleteFunc(out, func(key string, _ json.RawMessage) bool { return key == opt.KeyInterrupt || !opt.MaySet(key) })
	if len(out) == 0 {
		out = nil
	}
	if m, ok := o.Child(name); ok {
		m.Flag(opt.KeyAutoStart, false)
		m.Flag(opt.KeyOptional, false)
	}
	return out
}

// readPlans reads the plans of an objective. A dependency may name another by its id
// in the request.
func readPlans(o codec.Object) []opt.PlanSpec {
	list := o.Objects("plans")
	ids := indexes(list)
	var specs []opt.PlanSpec
	for _, p := range list {
		specs = append(specs, readPlan(p, ids))
	}
	return specs
}

// readPlan reads a plan or the request for one. Its dependencies may be keys of
// siblings, which are indexes in the same request.
func readPlan(o codec.Object, siblings map[string]int) opt.PlanSpec {
	spec := opt.PlanSpec{
		Name:         o.Text("name"),
		Description:  o.Text("description"),
		Dependencies: readDependencies(o, "plan", siblings),
		Metadata:     clientMetadata(o, "metadata"),
	}
	checkName(o, "name", spec.Name)
	spec.Tasks = readTasks(o, true)
	return spec
}

// readTasks reads the tasks of a plan. If they are all tasks of the plan, a
// dependency may name another by its id in the request.
func readTasks(o codec.Object, all bool) []opt.TaskSpec {
	list := o.Objects("tasks")
	var ids map[string]int
	if all {
		ids = indexes(list)
	}
	var specs []opt.TaskSpec
	for _, t := range list {
		specs = append(specs, opt.TaskSpec{
			Name:         t.Text("name"),
			Description:  t.Text("description"),
			Dependencies: readDependencies(t, "task", ids),
			Metadata:     clientMetadata(t, "metadata"),
		})
		checkName(t, "name", specs[len(specs)-1].Name)
	}
	return specs
}

// indexes returns the index of each object by the id that it has in the request.
func indexes(list []codec.Object) map[string]int {
	ids := map[string]int{}
	for i, o := range list {
		id := o.Text("id")
		if n, found := ids[id]; found && id != "" {
			o.Wrong("id", fmt.Sprintf("is that of the element at index %d, too", n))
		}
		ids[id] = i
	}
	return ids
}

// readDependencies reads the dependencies of a plan or a task, where the keys of ids
// mean indexes. They are nil if o declares none.
func readDependencies(o codec.Object, kind string, ids map[string]int) []string {
	if !o.Has("dependencies") {
		return nil
	}
	refs := append([]string{}, o.Texts("dependencies")...)
	for i, ref := range refs {
		if n, ok := ids[ref]; ok && ref != "" {
			refs[i] = fmt.Sprintf("%s-%d", kind, n)
		}
	}
	return refs
}

// checkName reports a text under key that cannot be a name, which is one line of
// visible characters. An empty text counts as missing.
func checkName(o codec.Object, key, name string) {
	at := strings.IndexFunc(name, codec.IsFormatCharacter)
	switch {
	case at >= 0:
		c, _ := utf8.DecodeRuneInString(name[at:])
		o.Wrong(key, fmt.Sprintf("must be one line without control or format characters, and has %U", c))
	case codec.IsBlank(name):
		o.Wrong(key, "must not be blank")
	case len([]rune(name)) > opt.MaxName:
		o.Wrong(key, fmt.Sprintf("has more than %d characters", opt.MaxName))
	}
}

// checkDescription reports a text under key that cannot be a description.
func checkDescription(o codec.Object, key, text string) {
	switch {
	case strings.ContainsRune(text, 0):
		o.Wrong(key, "must not contain NUL characters")
	case len(text) > opt.MaxDescription:
		o.Wrong(key, fmt.Sprintf("has more than %d bytes", opt.MaxDescription))
	}
}
