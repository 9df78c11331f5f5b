package opt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"longhaul/a2a"
)

// Limits on the text of names and descriptions.
const (
	MaxName        = 256
	MaxDescription = 16 << 10
)

// A SpecError says which member of a request is wrong and why.
type SpecError struct{ Field, Problem string }

func (e *SpecError) Error() string { return e.Field + ": " + e.Problem }

var indexForm = regexp.MustCompile(`^(task|plan)-(\d+)$`)

// NewPlan makes the n-th plan of an objective from spec. siblings are the
// plans that are there already, those made for the same request included;
// batch, which holds their ids and may hold ids of plans still to be made,
// resolves "plan-0".
func NewPlan(objectiveID string, n int, spec PlanSpec, siblings []*Plan, batch []string, at a2a.Time) (*Plan, error) {
	if err := checkText("", spec.Name, spec.Description); err != nil {
		return nil, err
	}
	p := &Plan{
		ID:          PlanID(objectiveID, n),
		ObjectiveID: objectiveID,
		Name:        spec.Name,
		Description: spec.Description,
		Status:      PlanPending,
		Metadata:    spec.Metadata,
		CreatedAt:   at,
		UpdatedAt:   at,
	}
	known := slices.Clone(batch)
	for _, s := range siblings {
		known = append(known, s.ID)
	}
	var err error
	if p.Dependencies, err = resolve("dependencies", "plan", p.ID, spec.Dependencies, batch, known); err != nil {
		return nil, err
	}
	if cycle(append(slices.Clone(siblings), p), func(p *Plan) (string, []string) { return p.ID, p.Dependencies }) {
		return nil, &SpecError{"dependencies", "the plans go round in a circle"}
	}
	if p.Tasks, err = p.NewTasks(spec.Tasks); err != nil {
		return nil, err
	}
	return p, nil
}

// NewTasks makes tasks that follow on those p already has, without adding them.
func (p *Plan) NewTasks(specs []TaskSpec) ([]*Task, error) {
	if total := len(p.Tasks) + len(specs); total > MaxTasks {
		return nil, &SpecError{"tasks", fmt.Sprintf("a plan has at most %d tasks, this would be %d", MaxTasks, total)}
	}
	var ids []string
	for _, t := range p.Tasks {
		ids = append(ids, t.ID)
	}
	for i := range specs {
		ids = append(ids, TaskID(p.ID, len(p.Tasks)+i))
	}
	unordered := p.Unordered() || slices.ContainsFunc(specs, func(s TaskSpec) bool { return len(s.Dependencies) > 0 })
	tasks := make([]*Task, 0, len(specs))
	for i, s := range specs {
		field := fmt.Sprintf("tasks[%d].", i)
		if err := checkText(field, s.Name, s.Description); err != nil {
			return nil, err
		}
		index := len(p.Tasks) + i
		deps, err := resolve(field+"dependencies", "task", ids[index], s.Dependencies, ids, ids)
		if err != nil {
			return nil, err
		}
		before := ids[:index]
		if unordered {
			before = ids // what a task uses it needs like what it depends on
		}
		uses, err := resolve(field+"uses", "task", ids[index], s.Uses, ids, before)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, &Task{
			ID: ids[index], Index: index, Name: s.Name, Description: s.Description, Dependencies: deps,
			State: TaskPending, Metadata: s.Metadata, Executor: s.Executor, Input: s.Input, Ask: s.Ask,
			Attempts: s.Attempts, Timeout: s.Timeout, Retry: s.Retry, Uses: uses,
		})
	}
	if cycle(slices.Concat(p.Tasks, tasks), func(t *Task) (string, []string) { return t.ID, t.needs() }) {
		return nil, &SpecError{"tasks", "the dependencies go round in a circle"}
	}
	return tasks, nil
}

func checkText(field, name, description string) error {
	switch {
	case name == "":
		return &SpecError{field + "name", "must not be empty"}
	case len([]rune(name)) > MaxName:
		return &SpecError{field + "name", fmt.Sprintf("has more than %d characters", MaxName)}
	case len(description) > MaxDescription:
		return &SpecError{field + "description", fmt.Sprintf("has more than %d bytes", MaxDescription)}
	}
	return nil
}

// resolve turns references into ids: "task-2" into ids[2], an id into itself.
func resolve(field, kind, self string, refs, ids, known []string) ([]string, error) {
	var out []string
	for i, ref := range refs {
		at := fmt.Sprintf("%s[%d]", field, i)
		id := ref
		if m := indexForm.FindStringSubmatch(ref); m != nil && m[1] == kind {
			n, err := strconv.Atoi(m[2])
			if err != nil || n >= len(ids) {
				return nil, &SpecError{at, fmt.Sprintf("there is no %s at index %s", kind, m[2])}
			}
			id = ids[n]
		}
		switch {
		case id == self:
			return nil, &SpecError{at, "a " + kind + " cannot depend on itself"}
		case !slices.Contains(known, id):
			return nil, &SpecError{at, fmt.Sprintf("there is no %s %q here", kind, ref)}
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// cycle reports whether the dependencies of any node lead back to it. of
// returns the id of a node and the ids of those it depends on; ids of no node
// lead nowhere.
func cycle[T any](nodes []T, of func(T) (id string, dependencies []string)) bool {
	left := map[string]bool{}
	for _, n := range nodes {
		id, _ := of(n)
		left[id] = true
	}
	for before := -1; before != len(left); {
		before = len(left)
		for _, n := range nodes {
			id, dependencies := of(n)
			if !slices.ContainsFunc(dependencies, func(d string) bool { return left[d] }) {
				delete(left, id)
			}
		}
	}
	return len(left) > 0
}
