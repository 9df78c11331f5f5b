package wire

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"longhaul/a2a"
	"longhaul/api/message"
	"longhaul/opt"
)

const (
	optPrefix = "opt/v1/"
	ownPrefix = "longhaul/v1/"
)

// hints reads the hints in the metadata called name. A key of the extension that
// has the wrong type is an error, since using one activates the extension.
func (o object) hints(name string) message.Hints {
	m, ok := o.child(name)
	if !ok {
		return message.Hints{}
	}
	h := message.Hints{
		TaskID:          m.id(opt.KeyTaskID),
		PreferObjective: m.flag(opt.KeyPreferObjective, false),
		SuggestedName:   m.text(opt.KeySuggestedName),
	}
	m.flag(opt.KeyAutoStart, false)
	oneOf(m.fields, opt.KeyHistoryScope, opt.ScopeTask, opt.ScopePlan, opt.ScopeObjective)
	m.checkName(opt.KeySuggestedName, h.SuggestedName)
	if plan, ok := m.child(opt.KeyPlan); ok {
		spec := plan.plan(nil)
		h.Plan = &spec
	}
	if objective, ok := m.child(opt.KeyObjective); ok {
		h.Objective = &message.ObjectiveHint{
			ID: objective.id("id"), Name: objective.text("name"), Description: objective.text("description"),
			Metadata: objective.clientMetadata("metadata"), Plans: objective.plans(),
		}
		objective.checkText(h.Objective.Name, h.Objective.Description)
	}
	return h
}

// clientMetadata returns the metadata called name without the keys that only the
// server sets.
func (o object) clientMetadata(name string) a2a.Metadata {
	var out a2a.Metadata
	for key, value := range o.metadata(name) {
		if isServerKey(key) {
			continue
		}
		if out == nil {
			out = a2a.Metadata{}
		}
		out[key] = value
	}
	if m, ok := o.child(name); ok {
		m.flag(opt.KeyAutoStart, false)
		m.flag(opt.KeyOptional, false)
	}
	return out
}

func isServerKey(key string) bool {
	switch {
	case key == opt.KeyAutoStart, key == opt.KeyOptional:
		return false
	case key == opt.KeyInterrupt:
		return true
	}
	return strings.HasPrefix(key, optPrefix) || strings.HasPrefix(key, ownPrefix)
}

// plans reads the plans of an objective. A dependency may name another by its id
// in the request.
func (o object) plans() []opt.PlanSpec {
	list := o.objects("plans", o.list("plans"))
	ids := indexes(list)
	var specs []opt.PlanSpec
	for _, p := range list {
		specs = append(specs, p.plan(ids))
	}
	return specs
}

// plan reads a plan or the request for one. Its dependencies may be keys of
// siblings, which are indexes in the same request.
func (o object) plan(siblings map[string]int) opt.PlanSpec {
	spec := opt.PlanSpec{
		Name:         o.text("name"),
		Description:  o.text("description"),
		Dependencies: o.dependencies("plan", siblings),
		Metadata:     o.clientMetadata("metadata"),
	}
	o.checkName("name", spec.Name)
	spec.Tasks = o.tasks(true)
	return spec
}

// tasks reads the tasks of a plan. If they are all tasks of the plan, a
// dependency may name another by its id in the request.
func (o object) tasks(all bool) []opt.TaskSpec {
	list := o.objects("tasks", o.list("tasks"))
	var ids map[string]int
	if all {
		ids = indexes(list)
	}
	var specs []opt.TaskSpec
	for _, t := range list {
		specs = append(specs, opt.TaskSpec{
			Name:         t.text("name"),
			Description:  t.text("description"),
			Dependencies: t.dependencies("task", ids),
			Metadata:     t.clientMetadata("metadata"),
		})
		t.checkName("name", specs[len(specs)-1].Name)
	}
	return specs
}

// indexes returns the index of each object by the id that it has in the request.
func indexes(list []object) map[string]int {
	ids := map[string]int{}
	for i, o := range list {
		id := o.text("id")
		if n, found := ids[id]; found && id != "" {
			o.wrong("id", fmt.Sprintf("is that of the element at index %d, too", n))
		}
		ids[id] = i
	}
	return ids
}

// dependencies reads the dependencies of a plan or a task, where the keys of ids
// mean indexes. They are nil if o declares none.
func (o object) dependencies(kind string, ids map[string]int) []string {
	if o.find("dependencies") == nil {
		return nil
	}
	refs := append([]string{}, o.texts("dependencies")...)
	for i, ref := range refs {
		if n, ok := ids[ref]; ok && ref != "" {
			refs[i] = fmt.Sprintf("%s-%d", kind, n)
		}
	}
	return refs
}

func (o object) checkText(name, description string) {
	o.checkName("name", name)
	o.checkDescription("description", description)
}

// checkName reports a text under key that cannot be a name, which is one line of
// visible characters. An empty text counts as missing.
func (o object) checkName(key, name string) {
	at := strings.IndexFunc(name, isFormatCharacter)
	switch {
	case at >= 0:
		c, _ := utf8.DecodeRuneInString(name[at:])
		o.wrong(key, fmt.Sprintf("must be one line without control or format characters, and has %U", c))
	case isBlank(name):
		o.wrong(key, "must not be blank")
	case len([]rune(name)) > opt.MaxName:
		o.wrong(key, fmt.Sprintf("has more than %d characters", opt.MaxName))
	}
}

// isFormatCharacter reports whether c is a control character, an invisible format character or
// a line separator.
func isFormatCharacter(c rune) bool {
	return unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// isBlank reports whether a text is not empty and has no visible character.
func isBlank(text string) bool {
	invisible := func(c rune) bool { return unicode.IsSpace(c) || isFormatCharacter(c) }
	return text != "" && strings.TrimFunc(text, invisible) == ""
}

// checkDescription reports a text under key that cannot be a description.
func (o object) checkDescription(key, text string) {
	switch {
	case strings.ContainsRune(text, 0):
		o.wrong(key, "must not contain NUL characters")
	case len(text) > opt.MaxDescription:
		o.wrong(key, fmt.Sprintf("has more than %d bytes", opt.MaxDescription))
	}
}
