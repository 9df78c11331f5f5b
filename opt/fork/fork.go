package fork

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Change has the differences between a fork and its original. Its zero value changes nothing.
type Change struct {
	Message []a2a.Part     // in place of those of the request. Without Plans, a planner makes plans for it
	Plans   []opt.PlanSpec // in place of the plans
	Tasks   []TaskChange   // of the plans of the original
	Repeat  bool           // also do tasks again that have begun and have no recorded end
}

// A TaskChange changes the text of a task such as clients write: one without an executor, which a
// playbook has chosen for its own text.
type TaskChange struct {
	ID          string // of a task of the original
	Name        string // "" to leave it
	Description *string
}

// A BegunError names tasks that had begun and have no recorded end: a fork would repeat what
// they do outside.
type BegunError struct{ Tasks []string }

func (e *BegunError) Error() string {
	return "these tasks had begun, and have no recorded end: " + strings.Join(e.Tasks, ", ")
}

// Fork returns the opening of o, which has an id, a principal and limits, as a fork. It has the
// request and the notes of s, and tasks that are done already. It keeps the name of s unless it has
// one, which tasks see. Those who shaped the original have shaped it, too. An invalid change is an
// [opt.SpecError].
func (s *Point) Fork(o opt.Objective, c Change) (opt.Opening, error) {
	plans := s.plans()
	if begun := s.begun(plans); len(begun) > 0 && !c.Repeat {
		return opt.Opening{}, &BegunError{begun}
	}
	s.inherit(&o)
	name := "msg-" + strings.TrimPrefix(o.ID, "obj-")
	out := opt.Opening{Message: s.request(c, name), Plans: c.Plans}
	if out.Message != nil {
		o.MessageID = name
	}
	switch {
	case c.Message != nil || c.Plans != nil:
	case len(plans) == 0:
		out.Plans = s.Given
	default:
		out.Plans = specs(plans)
	}
	for i := range c.Plans { // the budget of a playbook stays; that of one of its plans goes with the plan
		for _, p := range plans {
			out.Plans[i].Budget = cmp.Or(out.Plans[i].Budget, p.Budget)
		}
	}
	if err := change(out.Plans, plans, c); err != nil {
		return opt.Opening{}, err
	}
	s.remember(out.Plans, plans)
	for n, l := range s.Notes {
		l.ObjectiveID, l.TaskID, l.Message.TaskID, l.Message.ContextID = o.ID, o.ID, "", ""
		l.Message.MessageID, l.Key = fmt.Sprint(name, "-", n+1), ""
		out.Notes = append(out.Notes, l)
	}
	out.Objective, out.Idle = o, out.Message == nil && len(out.Plans) == 0
	return out, s.takeOver(&out, plans)
}

// inherit gives o the text of the original, and those who shaped it.
func (s *Point) inherit(o *opt.Objective) {
	from := &s.Objective
	o.Name, o.Description, o.Metadata = cmp.Or(o.Name, from.Name), from.Description, maps.Clone(from.Metadata)
	maps.DeleteFunc(o.Metadata, func(key string, _ json.RawMessage) bool {
		return !opt.MaySet(key) && key != opt.KeyPlanner && key != opt.KeyReason
	})
	for _, principal := range append([]string{from.Principal}, from.Shapers...) {
		if principal != o.Principal && !slices.Contains(o.Shapers, principal) {
			o.Shapers = append(o.Shapers, principal)
		}
	}
}

// request returns the request of a fork, under an id of its own: a message belongs to one task.
func (s *Point) request(c Change, id string) *a2a.Message {
	m := a2a.Message{Role: a2a.RoleUser}
	switch {
	case s.Request != nil:
		m = *s.Request
	case c.Message == nil:
		return nil
	}
	if c.Message != nil {
		m.Parts = c.Message
	}
	m.MessageID, m.ContextID, m.TaskID = id, "", ""
	return &m
}

// plans lists the plans that were not replaced, or skipped by a client.
func (s *Point) plans() []*opt.Plan {
	return slices.DeleteFunc(slices.Clone(s.Objective.Plans), func(p *opt.Plan) bool {
		return p.Status == opt.PlanSkipped && (p.Reason == opt.Replanned || p.Reason == "")
	})
}

// begun lists the tasks of plans that had begun work and have no recorded end.
func (s *Point) begun(plans []*opt.Plan) (ids []string) {
	for _, p := range plans {
		for _, t := range p.Tasks {
			under := t.State != opt.TaskPending && !t.Awaits() || t.Link != ""
			if under && !t.State.Ended() && t.Ask == nil && s.ended[t.A2AID()] == nil {
				ids = append(ids, t.A2AID())
			}
		}
	}
	return ids
}

// finished returns a task with its outcome, if it has one that can be taken over: it is completed, or
// had begun and was completed later, and no person was asked.
func (s *Point) finished(t *opt.Task) (*opt.Task, bool) {
	if later := s.ended[t.A2AID()]; later != nil && !t.State.Ended() && t.State != opt.TaskPending {
		t = later
	}
	return t, t.State == opt.TaskCompleted && t.Ask == nil && t.Gates == 0
}

// specs returns plans as a request for the same.
func specs(plans []*opt.Plan) (out []opt.PlanSpec) {
	places := map[string]string{}
	for i, p := range plans {
		places[p.ID] = fmt.Sprintf("plan-%d", i)
		for _, t := range p.Tasks {
			places[t.ID] = opt.TaskPlace(t.Index)
		}
	}
	refs := func(ids []string) []string { // a plan that was replaced is none that others wait for
		if ids == nil {
			return nil
		}
		out := []string{}
		for _, id := range ids {
			if place := places[id]; place != "" {
				out = append(out, place)
			}
		}
		return out
	}
	for _, p := range plans {
		spec := opt.PlanSpec{Name: p.Name, Description: p.Description, Dependencies: refs(p.Dependencies), Metadata: p.Metadata, Budget: p.Budget, Own: p.Own}
		for _, t := range p.Tasks {
			spec.Tasks = append(spec.Tasks, opt.TaskSpec{
				Name: t.Name, Description: t.Description, Dependencies: refs(t.Dependencies), Metadata: t.Metadata, Executor: t.Executor, Input: t.Input,
				Ask: t.Ask, Attempts: t.Attempts, Timeout: t.Timeout, Retry: t.Retry, Uses: refs(t.Uses), Check: t.Check, Notes: t.Notes,
			})
		}
		out = append(out, spec)
	}
	return out
}

// change changes specs of plans.
func change(specs []opt.PlanSpec, plans []*opt.Plan, c Change) error {
	for n, by := range c.Tasks {
		var spec *opt.TaskSpec
		if c.Plans == nil && c.Message == nil {
			spec = find(specs, plans, by.ID)
		}
		if spec == nil {
			return &opt.SpecError{Field: fmt.Sprintf("tasks[%d].id", n), Problem: "is none of a task in the plans of the fork"}
		}
		if spec.Executor != "" || spec.Input != nil || spec.Ask != nil {
			return &opt.SpecError{Field: fmt.Sprintf("tasks[%d].id", n), Problem: "is that of a task for an executor that a playbook has chosen, or for people: change the message"}
		}
		if by.Name != "" {
			spec.Name = by.Name
		}
		if by.Description != nil {
			spec.Description = *by.Description
		}
	}
	return nil
}

// remember gives tasks the decisions at the gates of those that are the same in the same places of
// plans: who changes what a gate is about has no decision to show.
func (s *Point) remember(specs []opt.PlanSpec, plans []*opt.Plan) {
	for i := range min(len(specs), len(plans)) {
		tasks := plans[i].Tasks
		for k := range min(len(specs[i].Tasks), len(tasks)) {
			to, t := &specs[i].Tasks[k], tasks[k]
			if digestOf(to.Name, to.Description, to.Executor, to.Input, to.Ask) == digestOf(t.Name, t.Description, t.Executor, t.Input, t.Ask) {
				to.Earlier = s.decided.before(t)
			}
		}
	}
}

func find(specs []opt.PlanSpec, plans []*opt.Plan, id string) *opt.TaskSpec {
	for i, p := range plans {
		if t := p.Task(id); t != nil && i < len(specs) {
			return &specs[i].Tasks[t.Index]
		}
	}
	return nil
}

// takeOver completes the tasks of an opening whose inputs have the digest of those of a finished task,
// by which all before them are completed, too.
func (s *Point) takeOver(out *opt.Opening, plans []*opt.Plan) error {
	type work struct {
		task *opt.Task
		plan int
		used bool
	}
	known := map[string][]*work{}
	from := s.Objective
	from.Plans = plans
	newWalk(&from, s.Request, func(p *opt.Plan, t *opt.Task, digest string) bool {
		done, ok := s.finished(t)
		if ok {
			*t = *done // those after it get what it has made
			known[digest] = append(known[digest], &work{task: t, plan: slices.Index(plans, p)})
		}
		return ok
	}).all()

	o := out.Objective
	var err error
	if o.Plans, err = o.NewPlans(out.Plans, o.CreatedAt); err != nil {
		return err
	}
	newWalk(&o, out.Message, func(p *opt.Plan, t *opt.Task, digest string) bool {
		i := slices.Index(o.Plans, p)
		same := func(w *work) bool { return !w.used && w.plan == i && w.task.Index == t.Index }
		at := slices.IndexFunc(known[digest], same)
		if at < 0 {
			at = slices.IndexFunc(known[digest], func(w *work) bool { return !w.used })
		}
		if at < 0 {
			return false
		}
		w := known[digest][at]
		w.used = true
		t.Artifacts = renamed(w.task, t.ID)
		out.Plans[i].Tasks[t.Index].Taken = &opt.Taken{TaskID: doer(w.task), Digest: digest, ByHand: w.task.ByHand, Artifacts: t.Artifacts}
		return true
	}).all()
	return nil
}

// doer returns the id of the A2A task that has done the work of t.
func doer(t *opt.Task) string {
	if t.Taken != nil {
		return t.Taken.TaskID
	}
	return t.A2AID()
}

// renamed returns the artifacts of a task under the ids that those of the task with an id have.
func renamed(t *opt.Task, id string) (out []a2a.Artifact) {
	for _, a := range t.Artifacts {
		if local, own := strings.CutPrefix(a.ArtifactID, opt.ArtifactID(t.ID, "")); own {
			a.ArtifactID = opt.ArtifactID(id, local)
		}
		out = append(out, a)
	}
	return out
}

// Parts lists the parts of the contents that an opening has from its original.
func Parts(o opt.Opening) (out []a2a.Part) {
	if o.Message != nil {
		out = append(out, o.Message.Parts...)
	}
	for _, l := range o.Notes {
		out = append(out, l.Message.Parts...)
	}
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			for _, m := range t.Notes {
				out = append(out, m.Parts...)
			}
			if t.Taken == nil {
				continue
			}
			for _, a := range t.Taken.Artifacts {
				out = append(out, a.Parts...)
			}
		}
	}
	return out
}
