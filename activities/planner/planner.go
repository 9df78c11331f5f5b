// Package planner makes plans from playbooks: YAML files in which an operator
// describes kinds of requests and the plans for each. Use it if the steps of the
// work are known beforehand. It uses no model and no network, so the same request
// gets the same plans each time.
//
// playbooks/demo.yaml is an example. A request that no playbook matches becomes
// one plan with one task, which carries the request's text, or is rejected with the
// list of skills: see [Fallback].
package planner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/refuse"
	"longhaul/internal/opfile"
	"longhaul/opt"
	"longhaul/opt/timetable"
)

// Playbooks are the playbooks of an agent, in the order in which they are tried.
// They do not change, and many goroutines may use them at once. The zero value
// has none.
type Playbooks struct {
	list     []*playbook
	fallback *Fallback // nil: the default executor takes every request
}

var _ activities.Planner = (*Playbooks)(nil)

// A Skill is what a playbook adds to the agent card.
type Skill struct {
	ID, Name, Description string
	Tags, Examples        []string
}

// With returns playbooks that have the fallback f. Without one, the default
// executor takes every request.
func (p *Playbooks) With(f Fallback) *Playbooks { return &Playbooks{p.list, &f} }

// WithFront returns playbooks that hand over to an agent what none of them takes, whichever skill
// it asks for. With ids the agent gets each message with the id that the client gave it, also one that
// it knows.
func (p *Playbooks) WithFront(agent string, ids bool) *Playbooks {
	return p.withLast(&playbook{file: "--front", name: "front", plans: frontPlans(text{raw: agent}, ids)})
}

// WithExecutor is WithFront for an executor that does the whole work of a message.
func (p *Playbooks) WithExecutor(kind string) *Playbooks {
	return p.withLast(&playbook{file: "the program", name: kind, plans: wholePlans(&task{executor: kind})})
}

// withLast returns playbooks of which b takes every message that no other takes, and rejects none.
func (p *Playbooks) withLast(b *playbook) *Playbooks {
	b.rules = rules{fallback: true, anySkill: true}
	nothing := Fallback{Takes: Nothing}
	return &Playbooks{append(slices.Clone(p.list), b), &nothing}
}

// None reports whether every request is rejected, since there are neither playbooks nor a
// fallback that takes any.
func (p *Playbooks) None() bool {
	return len(p.list) == 0 && p.fallback != nil && !p.fallback.hasPlanner() && len(p.fallback.Skills) == 0
}

// Skills lists what the playbooks offer, in their order, and then the fallback. Do not change the slices
// in them.
func (p *Playbooks) Skills() []Skill {
	var out []Skill
	for _, b := range p.list {
		out = append(out, b.skills...)
	}
	if p.fallback != nil {
		out = append(out, p.fallback.Skills...)
	}
	return out
}

// offers lists the skills, and the playbooks that have none: a message may ask for those by name.
func (p *Playbooks) offers() []Skill {
	out := p.Skills()
	for _, b := range p.list {
		if len(b.skills) > 0 || b.rules.fallback {
			continue
		}
		about := "a playbook"
		if len(b.rules.keywords) > 0 {
			about += " for messages with " + strings.Join(b.rules.keywords, ", ")
		}
		out = append(out, Skill{ID: b.name, Description: about})
	}
	return out
}

// CheckSkill returns the error of a message that asks for a skill or a playbook, nil if there is one with that id.
func (p *Playbooks) CheckSkill(id string) error {
	var names []string
	for _, s := range p.offers() {
		names = append(names, s.ID)
	}
	for _, b := range p.list {
		names = append(names, b.name)
	}
	slices.Sort(names)
	if slices.Contains(names, id) {
		return nil
	}
	return opfile.Unknown("playbook", id, slices.Compact(names))
}

// Plan implements [activities.Planner]. The same request gets the same plans, unless no
// playbook matches it and the fallback has a planner.
func (p *Playbooks) Plan(ctx context.Context, r activities.Request) (activities.Planned, error) {
	f := newFacts(r.Name, r.Description, r.Message)
	b, reason := p.choose(r.Message, f.request())
	why := ""
	if b == nil {
		why = p.fallback.refusal(r.Message, f.request(), p.offers())
	}
	switch {
	case b == nil && why == "" && p.fallback.hasPlanner():
		made, err := p.fallback.plan(ctx, r)
		if err != nil {
			return made, err
		}
		made.Plans, err = b.requestable().accepted(r.Message, made.Plans)
		return made, b.noPlan(err)
	case r.Keep:
		return activities.Planned{Reason: "No playbook has better plans than the existing ones."}, nil
	case why != "" && r.Replan:
		return activities.Planned{}, fmt.Errorf("%w: %s", activities.ErrNoPlan, why)
	case why != "":
		refusal := opt.PlanSpec{Name: "Skills", Tasks: []opt.TaskSpec{{Name: "Find a skill", Description: why, Executor: refuse.Kind}}}
		return activities.Planned{Plans: []opt.PlanSpec{refusal}, Planner: b.planner(), Reason: "no skill takes the request"}, nil
	}
	specs, err := b.plan(f, r.Message)
	return activities.Planned{Plans: specs, Planner: b.planner(), Reason: reason}, err
}

// planner names b as the maker of plans.
func (b *playbook) planner() string {
	if b == nil {
		return "rules"
	}
	return "playbook " + b.name
}

// Match returns the plans for m, the name of the playbook that has them, and
// why it was chosen. The name is empty if none matches: then the plan is one
// task that carries the text of m. An [AcceptError] refuses m.
func (p *Playbooks) Match(m a2a.Message) (name string, specs []opt.PlanSpec, reason string, err error) {
	suggested, _ := m.Metadata.String(opt.KeySuggestedName)
	f := newFacts(suggested, "", &m)
	b, reason := p.choose(&m, f.request())
	specs, err = b.plan(f, &m)
	if b != nil {
		name = b.name
	}
	return name, specs, reason, err
}

// Refusal returns why a worker will reject m, "" if a playbook or the fallback takes it.
func (p *Playbooks) Refusal(m a2a.Message) string {
	suggested, _ := m.Metadata.String(opt.KeySuggestedName)
	f := newFacts(suggested, "", &m)
	if b, _ := p.choose(&m, f.request()); b != nil {
		return ""
	}
	return p.fallback.refusal(&m, f.request(), p.offers())
}

// plan makes the plans of b for a request and its message, nil for none. b is nil for a request that no
// playbook matches.
func (b *playbook) plan(f facts, m *a2a.Message) ([]opt.PlanSpec, error) {
	specs, err := []opt.PlanSpec{fallback(f)}, error(nil)
	if b != nil {
		specs, err = b.specs(f)
	}
	if err == nil {
		specs, err = b.requestable().accepted(m, specs)
	}
	return specs, b.noPlan(err)
}

// noPlan makes the reason why b has no plans final.
func (b *playbook) noPlan(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: %w", b.planner(), activities.ErrNoPlan, err)
}

// fallback returns the plan for a request that no playbook matches: a task for each
// step that it names, or one for all of it.
func fallback(f facts) opt.PlanSpec {
	const name = "Work"
	if steps := (Rules{}).Steps(f.request()); len(steps) > 0 {
		plan := opt.PlanSpec{Name: name}
		for _, step := range steps {
			plan.Tasks = append(plan.Tasks, opt.TaskSpec{Name: shorten(oneLine(step), nameLength), Description: clipText(step)})
		}
		return plan
	}
	task := opt.TaskSpec{Name: name, Description: clipText(f.request())}
	for _, label := range []string{f.Name, f.request()} {
		if label = oneLine(label); label != "" {
			task.Name = shorten(label, nameLength)
			break
		}
	}
	return opt.PlanSpec{Name: name, Tasks: []opt.TaskSpec{task}}
}

// CheckLimits reports the playbooks and plans that have more plans or tasks than
// limits allow, by file and line.
func (p *Playbooks) CheckLimits(limits opt.Limits) error {
	limits = limits.OrDefault()
	var wrong problems
	for _, b := range p.list {
		if n := len(b.plans); n > limits.Plans {
			wrong.add(b.file, b.line, "a playbook has at most %d plans (--max-plans), this one %d", limits.Plans, n)
		}
		for _, plan := range b.plans {
			if n := len(plan.tasks); n > limits.Tasks {
				wrong.add(b.file, plan.line, "a plan has at most %d tasks (--max-plan-tasks), this one %d", limits.Tasks, n)
			}
		}
	}
	return wrong.err()
}

// CheckExecutors reports the tasks whose executor is not one of known, by file and line.
// fallback is the default executor, of tasks that name none; "" for none.
func (p *Playbooks) CheckExecutors(fallback string, known ...string) error {
	return p.CheckEachExecutor(func(executor string) error {
		switch executor = cmp.Or(executor, fallback); {
		case slices.Contains(known, executor):
			return nil
		case executor == "":
			return fmt.Errorf("the task names no executor, and there is no default; known are %s", strings.Join(known, ", "))
		}
		return opfile.Unknown("executor", executor, known)
	})
}

// CheckEachExecutor reports the errors of check, by file and line. It gets the executor of each
// task that is not for people, "" for one that names none.
func (p *Playbooks) CheckEachExecutor(check func(executor string) error) error {
	var wrong problems
	for _, b := range p.list {
		for _, t := range b.tasks() {
			if t.form != nil {
				continue
			}
			if err := check(t.executor); err != nil {
				wrong.add(b.file, t.at, "%v", err)
			}
		}
	}
	return wrong.err()
}

// CheckInputs reports the tasks of an executor whose input names something that its files do not
// have, by file and line. Names that are made for each request are not known here.
func (p *Playbooks) CheckInputs(executor, fallback string, named []activities.Named) error {
	var wrong problems
	for _, b := range p.list {
		for _, t := range b.tasks() {
			if t.form != nil || cmp.Or(t.executor, fallback) != executor {
				continue
			}
			for _, n := range named {
				if line, err := t.checkName(n); err != nil {
					wrong.add(b.file, line, "%v", err)
				}
			}
		}
	}
	return wrong.err()
}

// checkName returns the mistake in a member of the input of t, with its line.
func (t *task) checkName(n activities.Named) (line int, err error) {
	members, _ := t.input.(map[string]any)
	value, found := members[n.Member]
	name, isText := value.(text)
	switch {
	case !found && !n.Optional:
		return t.at, fmt.Errorf("the input needs a member %q: known are %s", n.Member, strings.Join(n.Names, ", "))
	case !isText || name.tmpl != nil || slices.Contains(n.Names, name.raw): // the executor refuses other forms
		return 0, nil
	}
	return name.line, opfile.Unknown(n.Member, name.raw, n.Names)
}

// Schedules returns the schedules that the playbooks declare. Their messages ask for
// their playbook.
func (p *Playbooks) Schedules() []timetable.Schedule {
	var out []timetable.Schedule
	for _, b := range p.list {
		for _, s := range b.schedules {
			out = append(out, s.Schedule)
		}
	}
	return out
}
