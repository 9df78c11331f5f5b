package opt

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"longhaul/a2a"
)

var indexForm = regexp.MustCompile(`^(task|plan)-(\d+)$`)

// NewPlans makes the plans of one request from specs, numbered after the plans of o,
// and does not add them. "plan-1" in their dependencies is the second of them.
// Fields in its errors begin with "plans[n]", or are "plans" for all of them.
func (o *Objective) NewPlans(specs []PlanSpec, at a2a.Time) ([]*Plan, error) {
	if err := o.room(len(specs)); err != nil {
		return nil, err
	}
	ids := make([]string, len(specs))
	for i := range specs {
		ids[i] = PlanID(o.ID, len(o.Plans)+i+1)
	}
	plans := make([]*Plan, 0, len(specs))
	for i, spec := range specs {
		p, err := o.newPlan(ids[i], spec, ids, at)
		if err != nil {
			var wrong *SpecError
			if errors.As(err, &wrong) {
				return nil, &SpecError{fmt.Sprintf("plans[%d].%s", i, wrong.Field), wrong.Problem}
			}
			return nil, err
		}
		plans = append(plans, p)
	}
	all := slices.Concat(o.Plans, plans)
	if err := cycle("plans", all, (&Objective{Plans: all, Loose: o.Loose}).Before, nameOfPlan); err != nil {
		return nil, err
	}
	return plans, nil
}

// NewPlan makes one plan from spec, numbered after the plans of o, and does not add
// it.
func (o *Objective) NewPlan(spec PlanSpec, at a2a.Time) (*Plan, error) {
	if err := o.room(1); err != nil {
		return nil, err
	}
	return o.newPlan(PlanID(o.ID, len(o.Plans)+1), spec, nil, at)
}

// room returns an error if n more plans would exceed the limit of o. Plans that were
// skipped or replaced do not count.
func (o *Objective) room(n int) error {
	most := o.Limits.OrDefault().Plans
	for _, p := range o.Plans {
		if p.Status != PlanSkipped && p.Stopping != Replanned {
			n++
		}
	}
	if n > most {
		return &SpecError{"plans", fmt.Sprintf("an objective has at most %d plans (maxPlansPerObjective), this would be %d", most, n)}
	}
	return nil
}

// newPlan makes a plan. batch holds the ids of all plans of the same request.
func (o *Objective) newPlan(id string, spec PlanSpec, batch []string, at a2a.Time) (*Plan, error) {
	if err := checkText("", spec.Name, spec.Description); err != nil {
		return nil, err
	}
	p := &Plan{
		ID: id, ObjectiveID: o.ID, Name: spec.Name, Description: spec.Description, Status: PlanPending, Metadata: spec.Metadata,
		CreatedAt: at, UpdatedAt: at, Limits: o.Limits, Loose: o.Loose, Budget: spec.Budget, Own: spec.Own,
	}
	var there []string
	for _, s := range o.Plans {
		there = append(there, s.ID)
	}
	var err error
	if p.Dependencies, err = (references{"plan", batch, slices.Concat(batch, there), there}).resolve("dependencies", p.ID, spec.Dependencies); err != nil {
		return nil, err
	}
	p.Tasks, err = p.NewTasks(spec.Tasks)
	return p, err
}

// Reordered returns the ids of the plans that p would depend on after a change of
// its dependencies, or an error if they are invalid or p has begun. As far as o has the tasks of its plans,
// it is an error if people would be asked too late, or about less than what runs.
func (o *Objective) Reordered(p *Plan, dependencies []string) ([]string, error) {
	if hasBegun(p) {
		return nil, &MoveError{string(p.Status), "other dependencies"}
	}
	var known []string
	for _, q := range o.Plans {
		known = append(known, q.ID)
	}
	ids, err := references{"plan", nil, known, known}.resolve("dependencies", p.ID, dependencies)
	if err != nil {
		return nil, err
	}
	ids = append([]string{}, ids...)
	changed := *p
	changed.Dependencies = ids
	all := slices.Clone(o.Plans)
	all[slices.Index(all, p)] = &changed
	after := &Objective{Plans: all, Loose: o.Loose}
	if err := cycle("dependencies", all, after.Before, nameOfPlan); err != nil {
		return nil, err
	}
	return ids, checkOrder(o, after)
}

// NewTasks makes tasks from specs, numbered after the tasks of p, and does not add
// them.
func (p *Plan) NewTasks(specs []TaskSpec) ([]*Task, error) {
	if most, total := p.Limits.OrDefault().Tasks, len(p.Tasks)+len(specs); total > most {
		return nil, &SpecError{"tasks", fmt.Sprintf("a plan has at most %d tasks (maxTasksPerPlan), this would be %d", most, total)}
	}
	var there []string
	for _, t := range p.Tasks {
		there = append(there, t.ID)
	}
	ids := slices.Clone(there)
	for i := range specs {
		ids = append(ids, TaskID(p.ID, len(p.Tasks)+i))
	}
	unordered := p.Unordered() || slices.ContainsFunc(specs, func(s TaskSpec) bool { return s.Dependencies != nil })
	tasks := make([]*Task, 0, len(specs))
	for i, s := range specs {
		field := fmt.Sprintf("tasks[%d].", i)
		if err := checkText(field, s.Name, s.Description); err != nil {
			return nil, err
		}
		index := len(p.Tasks) + i
		deps, err := references{"task", ids, ids, there}.resolve(field+"dependencies", ids[index], s.Dependencies)
		if err != nil {
			return nil, err
		}
		before := ids[:index]
		if unordered {
			before = ids // without list order, a task also waits for the tasks it uses
		}
		uses, err := references{"task", ids, before, there}.resolve(field+"uses", ids[index], s.Uses)
		if err != nil {
			return nil, err
		}
		// Run is set in the first place: in a retried plan the id of the A2A task is one of this
		// attempt. Without it, a task added before an operator ended the plan, and not recorded,
		// would have the key of this one.
		tasks = append(tasks, &Task{
			ID: ids[index], Index: index, Name: s.Name, Description: s.Description, Dependencies: deps,
			State: TaskPending, Metadata: s.Metadata, Executor: s.Executor, Input: s.Input, Ask: s.Ask,
			Attempts: s.Attempts, Timeout: s.Timeout, Retry: s.Retry, Uses: uses, Check: s.Check, Notes: s.Notes, Standing: s.Standing, Earlier: s.Earlier, Run: p.Run,
		})
		if s.Taken != nil {
			tasks[i].takeOver(*s.Taken)
		}
	}
	all := slices.Concat(p.Tasks, tasks)
	if err := cycle("tasks", all, (&Plan{Tasks: all, Loose: p.Loose}).Before, nameOfTask); err != nil {
		return nil, err
	}
	return tasks, nil
}

// references are the names by which plans or tasks can refer to each other.
type references struct {
	kind  string   // plan or task
	ids   []string // by index in the same list
	known []string // ids of those that can be named
	there []string // ids of those that are known to clients
}

// resolve turns what self refers to into ids: "task-2" into ids[2], an id into
// itself. They are nil if refs are.
func (r references) resolve(field, self string, refs []string) ([]string, error) {
	kind, ids, known := r.kind, r.ids, r.known
	if refs == nil {
		return nil, nil
	}
	out := []string{}
	for i, ref := range refs {
		at := fmt.Sprintf("%s[%d]", field, i)
		id := ref
		if m := indexForm.FindStringSubmatch(ref); m != nil && m[1] == kind {
			n, err := strconv.Atoi(m[2])
			if err != nil || n >= len(ids) {
				return nil, &SpecError{at, r.missing(self, ref)}
			}
			id = ids[n]
		}
		switch {
		case id == self:
			return nil, &SpecError{at, "a " + kind + " cannot depend on itself"}
		case !slices.Contains(known, id):
			return nil, &SpecError{at, r.missing(self, ref)}
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// mostNamed bounds the ids that an error lists.
const mostNamed = 10

// missing is the problem of an unknown ref; it lists what self may depend on.
func (r references) missing(self, ref string) string {
	forms, there := "an id", slices.DeleteFunc(slices.Clone(r.there), func(id string) bool { return id == self })
	if len(there) > mostNamed {
		there = append(there[:mostNamed], "…")
	}
	if last := len(r.ids) - 1; last > 0 {
		forms, there = "an index or an id", append([]string{fmt.Sprintf("%s-0 to %s-%d", r.kind, r.kind, last)}, there...)
	}
	if len(there) == 0 {
		return fmt.Sprintf("there is no %s %q, and no other %s exists", r.kind, ref, r.kind)
	}
	return fmt.Sprintf("there is no %s %q: a dependency is %s, one of: %s", r.kind, ref, forms, strings.Join(there, ", "))
}

// cycle returns an error if nodes, the plans or tasks of a list, wait for each other. It
// names the members of one cycle, each with the one that it waits for. before returns those that a
// node waits for; name returns its name, and whether it declares dependencies.
func cycle[T comparable](field string, nodes []T, before func(T) []T, name func(T) (string, bool)) error {
	waits, left := map[T][]T{}, map[T]bool{}
	for _, n := range nodes {
		waits[n], left[n] = before(n), true
	}
	for size := -1; size != len(left); {
		size = len(left)
		for _, n := range nodes {
			if !slices.ContainsFunc(waits[n], func(b T) bool { return left[b] }) {
				delete(left, n)
			}
		}
	}
	at := slices.IndexFunc(nodes, func(n T) bool { return left[n] })
	if at < 0 {
		return nil
	}
	var path []T
	n := nodes[at]
	for ; !slices.Contains(path, n); n = waits[n][slices.IndexFunc(waits[n], func(b T) bool { return left[b] })] {
		path = append(path, n)
	}
	return &SpecError{field, "the dependencies form a cycle: " + inWords(append(path[slices.Index(path, n):], n), nodes, name)}
}

// inWords says why each node of a path waits for the next.
func inWords[T comparable](path, nodes []T, name func(T) (string, bool)) string {
	var words []string
	advice := ""
	for i, b := range path[1:] {
		one, declares := name(path[i])
		other, _ := name(b)
		if declares || slices.Index(nodes, b) != slices.Index(nodes, path[i])-1 {
			words = append(words, fmt.Sprintf("%q waits for %q", one, other))
			continue
		}
		words = append(words, fmt.Sprintf("%q follows %q in the list", one, other))
		advice = "; to follow the list no longer, declare dependencies, [] for none"
	}
	if len(words) > mostNamed {
		words = append(words[:mostNamed], "…")
	}
	return strings.Join(words, ", ") + advice
}

func nameOfPlan(p *Plan) (name string, declares bool) { return p.Name, p.Dependencies != nil }

func nameOfTask(t *Task) (name string, declares bool) { return t.Name, t.Dependencies != nil }
