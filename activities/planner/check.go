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

// checks is the part of a source that checks a playbook which was read.
type checks struct{ *source }

// check finds the mistakes in a playbook as a whole, and resolves its dependencies.
func (s checks) check(b *playbook) {
	at := func(line int, format string, args ...any) { s.wrong.add(s.file, line, format, args...) }
	switch {
	case b.name == "":
		at(b.line, "a playbook needs a name")
	case b.rules.empty() && len(b.schedules) == 0:
		at(b.line, "no request can match this playbook: give it match, skills, schedules or default: true")
	case len(b.plans) == 0:
		at(b.line, "a playbook needs plans")
	}
	var plans []*step
	for _, p := range b.plans {
		plans = append(plans, &p.step)
		s.checkPlan(p)
	}
	s.resolve("plan", b.line, plans)
	s.schedules(b)
}

func (s checks) checkPlan(p *plan) {
	if len(p.tasks) == 0 {
		s.wrong.add(s.file, p.line, "a plan needs tasks")
	}
	var tasks []*step
	for _, t := range p.tasks {
		tasks = append(tasks, &t.step)
	}
	s.resolveUses(p, s.resolve("task", p.line, tasks))
	for _, t := range p.tasks {
		if t.form == nil {
			continue
		}
		var step *opt.StepError
		switch _, err := t.form.gate(sample, t.places); {
		case errors.As(err, &step):
			s.wrong.add(s.file, t.form.wait[step.N-1].line, "%s", step.Problem)
		case err != nil:
			s.wrong.add(s.file, t.form.line, "%v", err)
		}
	}
}

// resolveUses finds the tasks that inputs name. index has the indexes of tasks by
// their names.
func (s checks) resolveUses(p *plan, index map[string]int) {
	for i, t := range p.tasks {
		t.places = map[string]string{}
		for _, r := range t.uses {
			n, ok := stepIndex("task", r.to, index, len(p.tasks))
			switch {
			case !ok:
				s.wrong.add(s.file, r.line, "there is no task %q here", r.to)
			case !p.before(i)[n]:
				s.wrong.add(s.file, r.line, "the task %q does not come before this one", r.to)
			case p.tasks[n].form != nil:
				s.wrong.add(s.file, r.line, "the task %q is for people and makes no text", r.to)
			default:
				t.places[r.to] = fmt.Sprintf("task-%d", n)
			}
		}
	}
}

// before returns the tasks that run before the i-th: those that it depends on, or else
// the one above it, and those before them.
func (p *plan) before(i int) map[int]bool {
	found := map[int]bool{}
	var visit func(int)
	visit = func(i int) {
		on := p.tasks[i].dependencies
		if on == nil && i > 0 {
			on = []string{opt.TaskPlace(i - 1)}
		}
		for _, d := range on {
			n, _ := strconv.Atoi(strings.TrimPrefix(d, "task-"))
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
func (s checks) resolve(kind string, line int, steps []*step) map[string]int {
	index := s.indexNames(kind, steps)
	for i, p := range steps {
		for _, r := range p.refs {
			n, ok := stepIndex(kind, r.to, index, len(steps))
			switch {
			case !ok:
				s.wrong.add(s.file, r.line, "there is no %s %q here", kind, r.to)
			case n == i:
				s.wrong.add(s.file, r.line, "a %s cannot depend on itself", kind)
			default:
				p.dependencies = append(p.dependencies, fmt.Sprintf("%s-%d", kind, n))
			}
		}
	}
	if problem := cycleOf(kind, steps); problem != "" {
		s.wrong.add(s.file, line, "%s", problem)
	}
	return index
}

// indexNames returns the index of each step by its name in the file.
func (s checks) indexNames(kind string, steps []*step) map[string]int {
	index := map[string]int{}
	for i, p := range steps {
		name := p.name.raw
		_, twice := index[name]
		switch {
		case name == "":
			s.wrong.add(s.file, p.line, "a %s needs a name", kind)
			continue
		case indexForm.MatchString(name):
			s.wrong.add(s.file, p.line, "%q cannot be a name: in dependencies it means an index", name)
		case twice:
			s.wrong.add(s.file, p.line, "another %s has the name %q", kind, name)
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
	var wrong *opt.SpecError
	if _, err := (&opt.Objective{Limits: opt.Limits{Tasks: len(steps)}}).NewPlan(spec, a2a.Time{}); errors.As(err, &wrong) {
		return wrong.Problem
	}
	return ""
}
