package planner

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// checks finds the mistakes in a playbook that was read.
type checks struct {
	file  string
	wrong problems
}

func (c *checks) fail(line int, format string, args ...any) {
	c.wrong.add(c.file, line, format, args...)
}

// checkPlaybook returns the mistakes in b as a whole, and resolves its dependencies.
func checkPlaybook(b *playbook) problems {
	c := &checks{file: b.file}
	switch {
	case b.name == "":
		c.fail(b.line, "a playbook needs a name")
	case b.rules.empty() && len(b.schedules) == 0:
		c.fail(b.line, "no request can match this playbook: give it match, skills, schedules or default: true")
	case len(b.plans) == 0:
		c.fail(b.line, "a playbook needs plans")
	}
	var plans []*step
	for _, p := range b.plans {
		plans = append(plans, &p.step)
	}
	c.resolve("plan", b.line, plans)
	if b.accept != nil {
		b.acceptResults()
	}
	for _, p := range b.plans {
		c.plan(p)
	}
	c.schedules(b)
	return c.wrong
}

func (c *checks) plan(p *plan) {
	if len(p.tasks) == 0 {
		c.fail(p.line, "a plan needs tasks")
	}
	var tasks []*step
	for _, t := range p.tasks {
		tasks = append(tasks, &t.step)
	}
	c.resolveUses(p, c.resolve("task", p.line, tasks))
	for _, t := range p.tasks {
		if t.accept != nil && (t.form != nil || t.optional) {
			c.fail(t.line, "a human task, and an optional one, has no accept")
		}
	}
	if err := p.acceptTasks(); err != nil {
		c.fail(p.line, "%v", err)
	}
	p.addChecks()
	if err := p.acceptResult(); err != nil {
		c.fail(p.line, "%v", err)
	}
	for _, t := range p.tasks {
		c.form(t)
	}
}

// form checks the form of a task for people; others have none.
func (c *checks) form(t *task) {
	if t.form == nil {
		return
	}
	if t.standing && t.form.object.raw == "" {
		c.fail(t.form.line, "standing decisions are about the object of an approval")
	}
	var step *opt.StepError
	switch _, err := t.form.gate(sample, t.places); {
	case errors.As(err, &step):
		c.fail(t.form.wait[step.N-1].line, "%s", step.Problem)
	case err != nil:
		c.fail(t.form.line, "%v", err)
	}
}

// resolveUses finds the tasks that inputs name. index has the indexes of tasks by
// their names.
func (c *checks) resolveUses(p *plan, index map[string]int) {
	for i, t := range p.tasks {
		t.places = map[string]string{}
		for _, r := range t.uses {
			n, ok := stepIndex("task", r.to, index, len(p.tasks))
			switch {
			case !ok:
				c.fail(r.line, "there is no task %q here", r.to)
			case !p.before(i)[n]:
				c.fail(r.line, "the task %q does not come before this one", r.to)
			default:
				t.places[r.to] = fmt.Sprintf("task-%d", n)
				if problem := p.tasks[n].lacks(r); problem != "" {
					c.fail(r.line, "the task %q %s", r.to, problem)
				}
			}
		}
	}
}

// lacks says why there is nothing of t that a text inserts by r, "" if there is something.
func (t *task) lacks(r ref) string {
	ids := t.form.questionIDs()
	if r.question != "" {
		switch {
		case slices.Contains(ids, r.question):
			return ""
		case len(ids) == 0:
			return "asks no questions"
		}
		return fmt.Sprintf("has no question %q: it has %s", r.question, strings.Join(ids, ", "))
	}
	switch {
	case t.form == nil:
		return ""
	case len(ids) == 0:
		return "is for people and makes no text"
	case r.object:
		return fmt.Sprintf("is for people and makes no object of a decision: name {{%s %q %q}}, what they answer, in approve or description", answerFunc, r.to, ids[0])
	}
	return fmt.Sprintf("is for people and makes no text: {{%s %q %q}} is what they answer", answerFunc, r.to, ids[0])
}

// before returns the tasks that run before the i-th.
func (p *plan) before(i int) map[int]bool {
	found := map[int]bool{}
	var visit func(int)
	visit = func(i int) {
		for _, n := range p.waitsFor(i) {
			if !found[n] {
				found[n] = true
				visit(n)
			}
		}
	}
	visit(i)
	return found
}

var indexForm = regexp.MustCompile(`^(task|plan)-(\d+)$`)

// stepIndex returns the index of the step that a reference names, by its name or as
// "task-0".
func stepIndex(kind, to string, index map[string]int, steps int) (n int, ok bool) {
	n, ok = index[to]
	if m := indexForm.FindStringSubmatch(to); m != nil && m[1] == kind {
		var err error
		n, err = strconv.Atoi(m[2])
		ok = err == nil && n < steps
	}
	return n, ok
}

// resolve turns the dependencies of steps into indexes, as in opt, and returns
// the indexes of steps by their names. line is the line of their list.
func (c *checks) resolve(kind string, line int, steps []*step) map[string]int {
	index := c.indexNames(kind, steps)
	for i, p := range steps {
		for _, r := range p.refs {
			n, ok := stepIndex(kind, r.to, index, len(steps))
			switch {
			case !ok:
				c.fail(r.line, "there is no %s %q here", kind, r.to)
			case n == i:
				c.fail(r.line, "a %s cannot depend on itself", kind)
			default:
				p.dependencies = append(p.dependencies, fmt.Sprintf("%s-%d", kind, n))
			}
		}
	}
	if problem := cycleOf(kind, steps); problem != "" {
		c.fail(line, "%s", problem)
	}
	return index
}

// indexNames returns the index of each step by its name in the file.
func (c *checks) indexNames(kind string, steps []*step) map[string]int {
	index := map[string]int{}
	for i, p := range steps {
		name := p.name.raw
		_, twice := index[name]
		switch {
		case name == "":
			c.fail(p.line, "a %s needs a name", kind)
			continue
		case indexForm.MatchString(name):
			c.fail(p.line, "%q cannot be a name: in dependencies it means an index", name)
		case twice:
			c.fail(p.line, "another %s has the name %q", kind, name)
		}
		index[name] = i
	}
	return index
}

// cycleOf says how steps wait for each other; "" if they do not.
func cycleOf(kind string, steps []*step) string {
	spec := opt.PlanSpec{Name: "check"}
	for i, p := range steps {
		t := opt.TaskSpec{Name: fmt.Sprintf("%s-%d", kind, i), Dependencies: slices.Clone(p.dependencies)}
		for j, d := range t.Dependencies {
			t.Dependencies[j] = strings.Replace(d, "plan-", "task-", 1)
		}
		spec.Tasks = append(spec.Tasks, t)
	}
	_, err := (&opt.Objective{Limits: opt.Limits{Tasks: len(steps)}}).NewPlan(spec, a2a.Time{})
	if wrong, ok := errors.AsType[*opt.SpecError](err); ok {
		return wrong.Problem
	}
	return ""
}

// forWorkers reports whether t has members of a task that a worker does.
func (t *task) forWorkers() bool {
	return t.input != nil || t.attempts != 0 || t.timeout != 0 || t.retry.Wait != 0 || t.retry.Except != nil
}
