package planner

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"longhaul/activities/human"
	"longhaul/opt"
)

// An acceptance is an approval of what a task or a plan has made, after the tasks that made it. Nothing
// else knows about acceptances: what waits for such a task waits for the approval.

// readAccept reads the member accept.
func readAccept(s *source, n *yaml.Node) *form {
	f := &form{line: n.Line}
	members := answering(s, f)
	members["criteria"] = func(n *yaml.Node) { f.criteria = s.text(n) }
	members["actions"] = func(n *yaml.Node) { f.actions = actionsIn(s, n) }
	readAcceptance(s, n, members)
	if f.criteria.raw == "" && len(f.checks) == 0 {
		s.fail(n, "accept needs criteria or checks")
	}
	checkRounds(s, n, f)
	return f
}

// readMessageAccept reads the member message-accept: messages bring the criteria.
func readMessageAccept(s *source, n *yaml.Node) *form {
	f := &form{line: n.Line}
	readAcceptance(s, n, answering(s, f))
	f.judge()
	return f
}

func readAcceptance(s *source, n *yaml.Node, members table) {
	s.uses = nil
	s.object(n, "accept", members)
	for _, r := range s.uses {
		s.wrong.add(s.file, r.line, "the checks of accept are about one result: {{results}} without a name")
	}
}

// acceptance returns the task of f, which has an object: others have a name.
func (f *form) acceptance(name text, object string) (*task, error) {
	one := *f
	one.checks = slices.Clone(f.checks)
	t := &task{step: step{line: f.line}, at: f.line, executor: human.Executor, form: &one}
	var err error
	for to, raw := range map[*text]string{
		&t.name: "Accept: " + name.raw, &one.approve: `Accept the result of "` + name.raw + `"?`, &one.object: object,
	} {
		if *to, err = parseText(raw, to == &one.object); err != nil {
			return nil, err
		}
	}
	one.description = f.criteria
	one.judge()
	return t, nil
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
		a, err := t.accept.acceptance(t.name, "{{results "+strconv.Quote(t.name.raw)+"}}")
		if err != nil {
			return err
		}
		a.uses, a.places = []ref{{t.line, t.name.raw}}, map[string]string{t.name.raw: opt.TaskPlace(made[i])}
		all = append(all, a)
	}
	p.tasks = all
	return nil
}

// acceptResult puts the acceptances of the result of p at its end, one after another.
func (p *plan) acceptResult() error {
	for _, f := range p.accepts {
		t, err := f.acceptance(p.name, "{{results}}")
		if err != nil {
			return err
		}
		for _, i := range lastOf("task", p.steps()) {
			t.dependencies = append(t.dependencies, opt.TaskPlace(i))
		}
		p.tasks = append(p.tasks, append(t.checkTasks(len(p.tasks)), t)...)
	}
	return nil
}
