package opt

import (
	"cmp"
	"fmt"
	"slices"

	"longhaul/a2a"
)

// A TaskOrder says what a task waits for.
type TaskOrder struct {
	ID           string   `json:"id"`           // of the plan task; in an event, of its A2A task
	Dependencies []string `json:"dependencies"` // as in a [TaskSpec]; in an event, ids
}

// Reordered returns what changes in p if tasks that have not begun wait for others, as an event has it: nil for
// nothing. The error, a [SpecError], says why they cannot: they have begun or would form a cycle, or what people
// decide about would be another thing than before.
func Reordered(p *Plan, order []TaskOrder) (changed []TaskOrder, err error) {
	after := *p
	after.Tasks = slices.Clone(p.Tasks)
	var ids []string
	for _, t := range p.Tasks {
		ids = append(ids, t.ID)
	}
	var named []string
	for i, o := range order {
		field := fmt.Sprintf("tasks[%d].", i)
		t := p.Task(o.ID)
		switch {
		case t == nil:
			return nil, &SpecError{field + "id", fmt.Sprintf("the plan has no task %q", o.ID)}
		case slices.Contains(named, t.ID):
			return nil, &SpecError{field + "id", "is named twice"}
		case t.State != TaskPending:
			return nil, &SpecError{field + "id", fmt.Sprintf("%q keeps its order: it is %s", t.Name, t.State)}
		}
		deps, err := references{"task", ids, ids, ids}.resolve(field+"dependencies", t.ID, append([]string{}, o.Dependencies...))
		if err != nil {
			return nil, err
		}
		again := *t
		again.Dependencies = deps
		named, after.Tasks[t.Index] = append(named, t.ID), &again
		if t.Dependencies == nil || !sameTasks(t.Dependencies, deps) {
			changed = append(changed, TaskOrder{t.A2AID(), deps})
		}
	}
	if err := cycle("tasks", after.Tasks, after.Before, nameOfTask); err != nil {
		return nil, err
	}
	return changed, reordering{named, p, &after, ancestors(p), ancestors(&after)}.check()
}

// sameTasks reports whether two lists, neither of which names one twice, have the same ids.
func sameTasks(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(id string) bool { return !slices.Contains(b, id) })
}

// ancestors returns the ids of those that come before each task of p, directly or not.
func ancestors(p *Plan) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, t := range inOrder(p) {
		before := map[string]bool{}
		for _, b := range p.Before(t) {
			before[b.ID] = true
			for id := range out[b.ID] {
				before[id] = true
			}
		}
		out[t.ID] = before
	}
	return out
}

// A reordering is a plan before and after some of its tasks have got another order, with the ancestors of all.
type reordering struct {
	named      []string // ids of those tasks, as the request has them
	old, after *Plan
	was, now   map[string]map[string]bool
}

// refuse returns an error about a task: at its place in the request, if that names it.
func (r reordering) refuse(t *Task, format string, a ...any) error {
	field := "tasks"
	if i := slices.Index(r.named, t.ID); i >= 0 {
		field = fmt.Sprintf("tasks[%d].dependencies", i)
	}
	return &SpecError{field, fmt.Sprintf("%q ", t.Name) + fmt.Sprintf(format, a...)}
}

// check refuses an order in which a task would begin before what it needs, or in which people would be asked too
// late or about less.
func (r reordering) check() error {
	for _, t := range r.old.Tasks {
		if err := r.checkApprovals(t); err != nil {
			return err
		}
	}
	for _, t := range r.after.Tasks {
		if err := cmp.Or(r.checkUses(t), r.checkShown(t), r.checkResults(t)); err != nil {
			return err
		}
	}
	return nil
}

// checkApprovals checks that a task stays before and after those of people.
func (r reordering) checkApprovals(t *Task) error {
	for _, g := range slices.DeleteFunc(slices.Clone(r.old.Tasks), func(g *Task) bool { return !asks(g) }) {
		switch {
		case r.was[t.ID][g.ID] && !r.now[t.ID][g.ID]:
			return r.refuse(t, "has to stay after %q, where people are asked", g.Name)
		case r.was[g.ID][t.ID] && !r.now[g.ID][t.ID]:
			return r.refuse(g, "asks people, and has to stay after %q", t.Name)
		}
	}
	return nil
}

// asks reports whether people are asked at t.
func asks(t *Task) bool { return t.Ask != nil || t.Gate != nil }

// AsksPeople reports whether people are asked at a task of p that has not ended.
func AsksPeople(p *Plan) bool {
	return slices.ContainsFunc(p.Tasks, func(t *Task) bool { return asks(t) && !t.State.Ended() })
}

// AwaitsPeople reports whether people are asked before p, as far as o has the tasks of its plans, in one that is not done.
func AwaitsPeople(o *Objective, p *Plan) bool {
	return slices.ContainsFunc(plansBefore(o, p.ID), func(id string) bool {
		b := o.Plan(id)
		return !b.Done() && slices.ContainsFunc(b.Tasks, asks)
	})
}

// LostQuestion reports whether a client has ended p before a plan that p comes after, and in which people are asked, was
// replaced: no one answers there. Plans that came in its place wait for no question of it.
func LostQuestion(o *Objective, p *Plan) bool {
	return p.Status.Ended() && p.Reason == "" && slices.ContainsFunc(plansBefore(o, p.ID), func(id string) bool {
		b := o.Plan(id)
		return replaced(b) && slices.ContainsFunc(b.Tasks, asks) && p.UpdatedAt.Millis() <= b.UpdatedAt.Millis()
	})
}

// replaced reports whether other plans were made in place of p.
func replaced(p *Plan) bool { return p.Status == PlanSkipped && p.Reason == Replanned }

// decided reports whether no one has to answer in p any more, also in another attempt.
func decided(p *Plan) bool {
	return p.Status == PlanCompleted || replaced(p) || !slices.ContainsFunc(p.Tasks, asks)
}

// checkOrder refuses an order of plans in which others than before come before a plan that asks people, or in which
// one that comes after that would no longer, or gets results that are not made after the answer.
func checkOrder(was, now *Objective) error {
	for _, p := range was.Plans {
		before, after := plansBefore(was, p.ID), plansBefore(now, p.ID)
		if p.Status == PlanCompleted || replaced(p) || sameTasks(before, after) {
			continue
		}
		for _, id := range append(before, p.ID) {
			late := func(b string) bool { return !slices.Contains(before, b) && !slices.Contains(plansBefore(now, b), id) }
			q, kept := was.Plan(id), slices.Contains(after, id)
			if !decided(q) && (!kept || slices.ContainsFunc(after, func(b string) bool { return b != id && late(b) })) {
				return &SpecError{"dependencies", fmt.Sprintf("people are asked in the plan %q: what comes before it, and before what comes after it, stays so", q.Name)}
			}
		}
	}
	return nil
}

// plansBefore returns the ids of the plans that come before another one, directly or not.
func plansBefore(o *Objective, id string) (ids []string) {
	for n := -1; n < len(ids); n++ {
		if n >= 0 {
			id = ids[n]
		}
		for _, b := range o.Before(o.Plan(id)) {
			if !slices.Contains(ids, b.ID) {
				ids = append(ids, b.ID)
			}
		}
	}
	return ids
}

// checkUses refuses that t, if the request names it, does not wait for a task whose result its input names.
func (r reordering) checkUses(t *Task) error {
	for _, use := range t.Uses {
		waits := slices.ContainsFunc(t.Dependencies, func(d string) bool { return d == use || r.now[d][use] })
		if !waits && slices.Contains(r.named, t.ID) {
			return r.refuse(t, "has to wait for %q, whose result its input names", r.old.Task(use).Name)
		}
	}
	return nil
}

// checkShown refuses that t, a check, is about other results than before, and that t, an approval, no longer shows
// results that tasks after it get from elsewhere as well.
func (r reordering) checkShown(t *Task) error {
	was := r.old.Task(t.ID)
	if t.Check && !sameTasks(idsOf(r.old.Before(was)), idsOf(r.after.Before(t))) {
		return r.refuse(t, "checks the results before it, and keeps its order")
	}
	if !isApproval(t) {
		return nil
	}
	shown := slices.Concat(idsOf(reach(r.after, t, passesOn)), t.Uses)
	for _, b := range reach(r.old, was, passesOn) {
		if slices.Contains(shown, b.ID) {
			continue
		}
		elsewhere := func(u *Task) bool { return r.now[u.ID][t.ID] && gets(r.after, u, b.ID) }
		if u := slices.IndexFunc(r.after.Tasks, elsewhere); u >= 0 {
			return r.refuse(t, "has to show the results of %q, which %q gets", b.Name, r.after.Tasks[u].Name)
		}
	}
	return nil
}

// checkResults refuses results that reach t past the approvals before it: those that it has not got so far, of tasks
// that do not come after these approvals. Of the task right after an approval a client controls no input at all.
func (r reordering) checkResults(t *Task) error {
	was := r.old.Task(t.ID)
	released := passedOn(r.old, was)
	for _, g := range released {
		if !slices.Contains(idsOf(passedOn(r.after, t)), g.ID) {
			return r.refuse(t, "has to stay right after the approval %q", g.Name)
		}
	}
	for _, b := range r.after.Before(t) {
		if gets(r.old, was, b.ID) {
			continue
		}
		if isApproval(t) && !(t.Ask.Form != nil && slices.Contains(t.Ask.Form.Object, AllResults)) {
			return r.refuse(t, "is an approval that does not show the results of %q", b.Name)
		}
		for _, g := range r.old.Tasks {
			if isApproval(g) && g.ID != b.ID && r.was[t.ID][g.ID] && (slices.Contains(released, g) || !r.now[b.ID][g.ID]) {
				return r.refuse(t, "comes after the approval %q, which is not about the results of %q", g.Name, b.Name)
			}
		}
	}
	return nil
}

func isApproval(t *Task) bool { return t.Ask != nil && t.Ask.Kind == Approval }

// passesOn reports whether those that come after t may get the results before it.
func passesOn(t *Task) bool { return t.Ask != nil || t.Check }

// gets reports whether t comes right after the task with an id, or its input names the result of that.
func gets(p *Plan, t *Task, id string) bool {
	return slices.Contains(t.Uses, id) || slices.Contains(idsOf(p.Before(t)), id)
}

func idsOf(tasks []*Task) (ids []string) {
	for _, t := range tasks {
		ids = append(ids, t.ID)
	}
	return ids
}

// passedOn lists the approvals right before t, and those right before others that ask people there, in whose place
// no other work can stand.
func passedOn(p *Plan, t *Task) []*Task {
	questions := func(b *Task) bool { return b.Ask != nil && !isApproval(b) }
	return slices.DeleteFunc(reach(p, t, questions), func(b *Task) bool { return !isApproval(b) })
}

// reach lists the tasks right before t, and those right before the ones among them that let through, each once: the
// number of paths through a plan is exponential.
func reach(p *Plan, t *Task, through func(*Task) bool) (out []*Task) {
	var visit func(*Task)
	visit = func(t *Task) {
		for _, b := range p.Before(t) {
			if !slices.Contains(out, b) {
				if out = append(out, b); through(b) {
					visit(b)
				}
			}
		}
	}
	visit(t)
	return out
}

// Reopened returns the tasks of p that make an object again which t, at a gate,
// sends back: its sources, with the reply and the message as they get them, and the
// tasks between them and t. They are pending, with their own numbers. p is not
// changed.
func Reopened(p *Plan, t *Task, sources []string, reply Reply, message a2a.Message) []*Task {
	run := p.NextRun(0)
	after := map[string]bool{} // ids of the sources and of the tasks after them
	var out []*Task
	for _, b := range inOrder(p) {
		source := slices.Contains(sources, b.ID)
		after[b.ID] = source || slices.ContainsFunc(p.Before(b), func(c *Task) bool { return after[c.ID] })
		if !after[b.ID] || b == t || !leads(p, b, t) {
			continue
		}
		again := *b
		again.reset(run)
		if source {
			again.Refined, again.Notes = append(slices.Clone(b.Refined), reply), append(slices.Clone(b.Notes), message)
		}
		out = append(out, &again)
	}
	slices.SortFunc(out, func(a, b *Task) int { return a.Index - b.Index })
	return out
}

// inOrder lists the tasks of p so that each comes after those before it.
func inOrder(p *Plan) []*Task {
	var out []*Task
	seen := map[*Task]bool{}
	var visit func([]*Task)
	visit = func(tasks []*Task) {
		for _, t := range tasks {
			if !seen[t] {
				seen[t] = true
				visit(p.Before(t))
				out = append(out, t)
			}
		}
	}
	visit(p.Tasks)
	return out
}

// leads reports whether t of p comes after b, directly or not.
func leads(p *Plan, b, t *Task) bool {
	seen := map[*Task]bool{}
	var visit func(*Task) bool
	visit = func(t *Task) bool {
		return slices.ContainsFunc(p.Before(t), func(c *Task) bool {
			if seen[c] {
				return false
			}
			seen[c] = true
			return c == b || visit(c)
		})
	}
	return visit(t)
}
