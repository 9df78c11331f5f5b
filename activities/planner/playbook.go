package planner

import (
	"encoding/json"
	"fmt"

	"longhaul/a2a"
	"longhaul/activities/human"
	"longhaul/opt"
)

// A playbook is one file: which requests it is for, and the plans for them.
type playbook struct {
	file   string
	line   int
	name   string
	rules  rules
	skills []Skill
	plans  []*plan

	schedules []schedule
}

// A step is what plans and tasks have in common.
type step struct {
	line              int
	name, description text
	refs              []ref    // dependencies as in the file
	dependencies      []string // as in opt: "task-0", "plan-0"
	optional          bool
}

// A ref is a dependency on a step of the same list.
type ref struct {
	line int
	to   string
}

type plan struct {
	step
	tasks []*task
}

type task struct {
	step
	executor string
	at       int               // line of the executor, else of the task
	input    any               // nil for none
	uses     []ref             // tasks that the input names, as in the file
	places   map[string]string // the same as in opt: "task-0" by name
	form     *form
	attempts int
	timeout  int // seconds
	retry    opt.Retry
	check    bool // see [checkForm]
}

// A form is a [human.Form] of texts.
type form struct {
	line                 int
	approve, description text
	object               text // only calls of results; zero for none
	actions              []opt.Action
	responders           *opt.Responders // nil for everyone
	questions            []question
	wait                 []waitStep
	checks               []checkForm
	rounds               int
	groups               []opt.CheckGroup // of the tasks of checks, when they are in the plan
}

// A waitStep is what happens while a human task waits.
type waitStep struct {
	line int
	opt.Step
}

type question struct {
	id       string
	question text
	schema   json.RawMessage // nil for any answer
}

func (b *playbook) tasks() []*task {
	var out []*task
	for _, p := range b.plans {
		out = append(out, p.tasks...)
	}
	return out
}

// specs returns the plans of b for a request.
func (b *playbook) specs(f facts) ([]opt.PlanSpec, error) {
	var out []opt.PlanSpec
	for i, p := range b.plans {
		name, description, err := p.texts(f, fmt.Sprintf("Plan %d", i+1))
		if err != nil {
			return nil, err
		}
		spec := opt.PlanSpec{Name: name, Description: description, Dependencies: p.dependencies, Metadata: p.metadata()}
		for j, t := range p.tasks {
			ts, err := t.spec(f, fmt.Sprintf("Task %d", j+1))
			if err != nil {
				return nil, err
			}
			spec.Tasks = append(spec.Tasks, ts)
		}
		out = append(out, spec)
	}
	return out, nil
}

func (t *task) spec(f facts, unnamed string) (opt.TaskSpec, error) {
	name, description, err := t.texts(f, unnamed)
	if err != nil {
		return opt.TaskSpec{}, err
	}
	spec := opt.TaskSpec{
		Name: name, Description: description, Dependencies: t.dependencies, Metadata: t.metadata(),
		Executor: t.executor, Attempts: t.attempts, Timeout: t.timeout, Retry: t.retry,
		Uses: t.usedTasks(), Check: t.check,
	}
	if t.form != nil {
		spec.Executor = human.Executor
		spec.Ask, err = t.form.gate(f, t.places)
		return spec, err
	}
	if t.input == nil {
		return spec, nil
	}
	input, err := fillValue(t.input, f, t.places)
	if err != nil {
		return opt.TaskSpec{}, err
	}
	spec.Input, err = json.Marshal(input)
	return spec, err
}

// usedTasks lists the tasks that the input names, as in opt.
func (t *task) usedTasks() []string {
	var out []string
	for _, r := range t.uses {
		out = append(out, t.places[r.to])
	}
	return out
}

// texts returns the name and the description of s for a request, cut to the
// length they may have. An empty name becomes unnamed.
func (s *step) texts(f facts, unnamed string) (name, description string, err error) {
	if name, err = s.name.render(f); err != nil {
		return "", "", err
	}
	if name = shorten(oneLine(name), opt.MaxName); name == "" {
		name = unnamed
	}
	description, err = s.description.render(f)
	return name, clipText(description), err
}

func (s *step) metadata() a2a.Metadata {
	if !s.optional {
		return nil
	}
	return a2a.Metadata{}.With(opt.KeyOptional, true)
}

// gate returns the gate that f describes for a request. places has the tasks that
// it names, as in opt.
func (f *form) gate(facts facts, places map[string]string) (*opt.Gate, error) {
	h := human.Form{Actions: f.actions, Responders: f.responders}
	for _, w := range f.wait {
		h.Ladder = append(h.Ladder, w.Step)
	}
	var err error
	if h.Approve, h.Results.Title, err = f.approve.pieces(facts, places); err != nil {
		return nil, err
	}
	if h.Description, h.Results.Description, err = f.description.pieces(facts, places); err != nil {
		return nil, err
	}
	if h.Results.Object, err = f.object.objects(facts, places); err != nil {
		return nil, err
	}
	if len(f.groups) > 0 {
		h.Results.Checks = &opt.Checks{Groups: f.groups, Rounds: f.rounds}
	}
	for _, q := range f.questions {
		asked := human.QuestionForm{ID: q.id, Schema: q.schema}
		if asked.Question, err = q.question.render(facts); err != nil {
			return nil, err
		}
		h.Questions = append(h.Questions, asked)
	}
	return h.Gate()
}
