package opt_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"longhaul/dev/e2e/harness"
	"longhaul/opt"
)

// An editor is a client that changes an objective at any time.
type editor struct {
	*schedule
	r    *rand.Rand
	name string
	n    int
}

func (e *editor) run() {
	edits := []func(*harness.Objective) error{
		e.addPlan, e.addPlan, e.addTasks, e.addTasks, e.addTasks, e.movePlan, e.movePlan, e.movePlan, e.moveTask, e.moveTask,
		e.moveObjective, e.moveObjective, e.replan, e.cancelTask, e.reply, e.reply, e.reply, e.linkTask, e.rename, e.reorder, e.reorder, e.note,
	}
	for range 3 + e.r.IntN(4) {
		var o *harness.Objective
		var err error
		if o, err = e.c.Objective(e.ctx, e.id); err == nil {
			err = edits[e.r.IntN(len(edits))](o)
		}
		if err != nil {
			e.Errorf("%s: %v\n%s", e.id, err, e.events())
			return
		}
	}
}

// taken returns err unless it is an expected refusal: the thing may have changed
// meanwhile, or not allow this change.
func taken(err error, also ...int) error {
	if harness.Code(err) == -32001 && harness.Reason(err) != "STALE_REVISION" || slices.Contains(also, harness.Code(err)) {
		return nil
	}
	return err
}

// somePlan returns one of the plans, nil if there are none.
func (e *editor) somePlan(o *harness.Objective) *harness.ObjectivePlan {
	if len(o.Plans) == 0 {
		return nil
	}
	return &o.Plans[e.r.IntN(len(o.Plans))]
}

// someTask returns one of the tasks, nil if there are none.
func (e *editor) someTask(o *harness.Objective) *harness.TaskOfPlan {
	var all []*harness.TaskOfPlan
	for _, p := range o.Plans {
		for i := range p.Tasks {
			all = append(all, &p.Tasks[i])
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[e.r.IntN(len(all))]
}

// refusedAs checks that an invalid change was refused.
func refusedAs(err error, what string) error {
	switch harness.Code(err) {
	case -32602, -32001:
		return nil
	}
	return fmt.Errorf("%s was taken: %v", what, err)
}

func (e *editor) addPlan(o *harness.Objective) error {
	p := randomPlan(e.r)
	for _, other := range o.Plans {
		if e.r.IntN(4) == 0 {
			p.Dependencies = append(p.Dependencies, other.ID)
		}
	}
	if e.r.IntN(6) == 0 {
		p.Dependencies = append(p.Dependencies, opt.PlanID(o.ID, 99))
		_, err := e.c.CreatePlan(e.ctx, o.ID, p)
		return refusedAs(err, "a plan that depends on none")
	}
	_, err := e.c.CreatePlan(e.ctx, o.ID, p)
	if len(o.Plans) > defaults.Plans-2*editors {
		return taken(err, -32602)
	}
	return taken(err)
}

func (e *editor) addTasks(o *harness.Objective) error {
	p := e.somePlan(o)
	if p == nil {
		return nil
	}
	tasks := randomTasks(e.r, len(p.Tasks), 1+e.r.IntN(3))
	if e.r.IntN(5) == 0 { // a cycle of any length, by ids
		first := opt.TaskID(p.ID, len(p.Tasks))
		last := &tasks[len(tasks)-1]
		for i := range tasks[1:] {
			tasks[i+1].Dependencies = []string{opt.TaskID(p.ID, len(p.Tasks)+i)}
		}
		tasks[0].Dependencies = []string{opt.TaskID(p.ID, len(p.Tasks)+len(tasks)-1)}
		_, err := e.try("plans/addTasks", params{"id": p.ID, "tasks": tasks})
		if err == nil { // other tasks were added first, and the ids are theirs
			return e.acyclic(first, last.Name)
		}
		return refusedAs(err, "a circle")
	}
	_, err := e.try("plans/addTasks", params{"id": p.ID, "tasks": tasks})
	return taken(err, -32602) // indexes refer to other tasks if those were added first
}

// acyclic returns an error for an accepted cycle, unless other tasks were added
// first: then its references mean those.
func (e *editor) acyclic(first, name string) error {
	o, err := e.c.Objective(e.ctx, e.id)
	if err != nil {
		return err
	}
	for _, p := range o.Plans {
		before := func(id string) []string {
			i := slices.IndexFunc(p.Tasks, func(t harness.TaskOfPlan) bool { return t.ID == id })
			return p.Tasks[i].Dependencies
		}
		if slices.ContainsFunc(p.Tasks, func(t harness.TaskOfPlan) bool { return cyclic([]string{t.ID}, before) }) {
			return fmt.Errorf("a cycle was accepted, from %s to %s", first, name)
		}
	}
	return nil
}

func (e *editor) movePlan(o *harness.Objective) error {
	p := e.somePlan(o)
	if p == nil {
		return nil
	}
	to := []string{"pending", "working", "working", "working", "blocked", "blocked", "completed", "failed", "skipped", "skipped"}[e.r.IntN(10)]
	_, err := e.try("plans/update", params{"id": p.ID, "status": to})
	return taken(err)
}

func (e *editor) moveTask(o *harness.Objective) error {
	t := e.someTask(o)
	if t == nil {
		return nil
	}
	states := []string{"pending", "submitted", "working", "working", "input-required", "auth-required", "completed", "completed", "completed", "failed", "canceled", "rejected"}
	_, err := e.try("tasks/updateStatus", params{"id": t.ID, "status": states[e.r.IntN(len(states))]})
	return taken(err)
}

func (e *editor) moveObjective(o *harness.Objective) error {
	to := []string{"working", "working", "working", "blocked", "blocked", "blocked", "planning", "submitted"}[e.r.IntN(8)]
	if e.r.IntN(8) == 0 {
		to = []string{"completed", "failed", "canceled"}[e.r.IntN(3)]
	}
	_, err := e.try("objectives/update", params{"id": o.ID, "status": to})
	return taken(err)
}

func (e *editor) replan(o *harness.Objective) error {
	if e.r.IntN(2) == 0 {
		return nil
	}
	_, err := e.try("objectives/replan", params{"id": o.ID, "reason": "Something else."})
	return taken(err)
}

func (e *editor) cancelTask(o *harness.Objective) error {
	t := e.someTask(o)
	if t == nil {
		return nil
	}
	_, err := e.c.Cancel(e.ctx, t.ID)
	return taken(err, -32002)
}

// reply answers the gate that the root task shows, there or at the task itself.
func (e *editor) reply(o *harness.Objective) error {
	task, err := e.c.Get(e.ctx, o.ID)
	if err != nil || task.Gate == nil {
		return err
	}
	to := []string{o.ID, task.Gate.TaskID}[e.r.IntN(2)]
	e.n++
	m := harness.Reply(fmt.Sprintf("%s-%d", e.name, e.n), to, task.Gate.ID, []string{"accept", "reject"}[e.r.IntN(2)])
	if task.Gate.Kind == string(opt.Clarification) {
		m.Data = map[string]any{"interruptId": task.Gate.ID, "answers": []any{map[string]any{"id": "q1", "answer": "that one"}}}
	}
	_, err = e.c.Send(e.ctx, m)
	return taken(err, -32004)
}

func (e *editor) linkTask(o *harness.Objective) error {
	t := e.someTask(o)
	if t == nil {
		return nil
	}
	_, err := e.try("tasks/link", params{"id": t.ID, "a2aTaskId": "elsewhere"})
	return taken(err)
}

// rename changes a name, sometimes with a revision.
func (e *editor) rename(o *harness.Objective) error {
	p := params{"id": o.ID, "name": "say renamed"}
	if e.r.IntN(2) == 0 {
		p["longhaul/v1/revision"] = o.Revision()
	}
	method := "objectives/update"
	if plan := e.somePlan(o); plan != nil && e.r.IntN(2) == 0 {
		method, p["id"] = "plans/update", plan.ID
	}
	_, err := e.try(method, p)
	if harness.Reason(err) == "STALE_REVISION" && p["longhaul/v1/revision"] != nil {
		return nil
	}
	return taken(err)
}

// reorder makes a plan depend on others, with or without a cycle.
func (e *editor) reorder(o *harness.Objective) error {
	p := e.somePlan(o)
	if p == nil {
		return nil
	}
	on := []string{}
	for _, other := range o.Plans {
		if e.r.IntN(3) == 0 {
			on = append(on, other.ID)
		}
	}
	_, err := e.try("plans/update", params{"id": p.ID, "dependencies": on})
	return taken(err, -32602)
}

// note sends a message to the root task that is no reply.
func (e *editor) note(o *harness.Objective) error {
	e.n++
	_, err := e.c.Send(e.ctx, harness.Message{ID: fmt.Sprintf("%s-%d", e.name, e.n), TaskID: o.ID, Data: map[string]any{"note": e.n}})
	return taken(err, -32004, -32602) // refused if the task waits for an answer
}
