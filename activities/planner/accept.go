package planner

import (
	"errors"
	"slices"
	"strconv"

	"longhaul/activities/human"
	"longhaul/opt"
)

// An acceptance is an approval of what a task or a plan has made, after the tasks that made it. Nothing
// else knows about acceptances: what waits for such a task waits for the approval.

// results is an object: all that a task builds on.
const results = "{{results}}"

// acceptance returns the task at which an object is accepted as f says.
func (f *form) acceptance(name, title, object text) *task {
	one := *f
	one.checks, one.approve, one.description, one.object = slices.Clone(f.checks), title, f.criteria, object
	one.judge()
	return &task{step: step{line: f.line, name: name}, at: f.line, executor: human.Executor, form: &one}
}

// acceptanceOf is acceptance of what p, a task or a plan, has made.
func (f *form) acceptanceOf(p step, object string) (*task, error) {
	name, err := parseText("Accept: "+p.name.raw, false)
	title, err2 := parseText(`Accept the result of "`+p.name.raw+`"?`, false)
	parsed, err3 := parseText(object, true)
	return f.acceptance(name, title, parsed), errors.Join(err, err2, err3)
}

// acceptTasks puts the acceptances of tasks right after them.
func (p *plan) acceptTasks() error {
	made, done, n := make([]int, len(p.tasks)), make([]int, len(p.tasks)), 0
	for i, t := range p.tasks {
		made[i] = n
		if t.accept != nil {
			n++
		}
		done[i] = n
		n++
	}
	p.move(made, done)
	var all []*task
	for i, t := range p.tasks {
		all = append(all, t)
		if t.accept == nil {
			continue
		}
		a, err := t.accept.acceptanceOf(t.step, "{{results "+strconv.Quote(t.name.raw)+"}}")
		if err != nil {
			return err
		}
		a.uses, a.places = []ref{{line: t.line, to: t.name.raw}}, map[string]string{t.name.raw: opt.TaskPlace(made[i])}
		all = append(all, a)
	}
	p.tasks = all
	return nil
}

// acceptResult puts the acceptances of the result of p at its end, one after another.
func (p *plan) acceptResult() error {
	for _, f := range p.accepts {
		t, err := f.acceptanceOf(p.step, results)
		if err != nil {
			return err
		}
		for _, i := range p.last() {
			t.dependencies = append(t.dependencies, opt.TaskPlace(i))
		}
		p.tasks = append(p.tasks, append(t.checkTasks(len(p.tasks)), t)...)
	}
	return nil
}
