package journal

import (
	"errors"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// addPlans adds their plans to objectives, with their tasks.
func addPlans(c *db.Conn, list ...*opt.Objective) (err error) {
	for _, o := range list {
		if o.Plans, err = plans(c, "p.objective_id = $1", o.ID); err == nil {
			err = addTasks(c, o)
		}
		if err == nil {
			err = addUsed(c, o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// plans reads the plans that where selects, in order and without tasks.
func plans(c *db.Conn, where string, a ...any) (list []*opt.Plan, err error) {
	return db.All(c, `SELECT p.doc, p.status, p.reason, p.stopping, p.started, p.paused, p.run,
			p.name, p.description, p.metadata, p.dependencies, p.updated_at
		FROM plans p WHERE `+where+" ORDER BY p.position", a, scanPlan)
}

func scanPlan(row db.Scanner) (*opt.Plan, error) {
	var doc, metadata, dependencies db.Content
	var h opt.PlanHead
	var t opt.Text
	var updated int64
	err := row.Scan(&doc, &h.Status, &h.Reason, &h.Stopping, &h.Started, &h.Paused, &h.Run,
		(*db.Content)(&t.Name), (*db.Content)(&t.Description), &metadata, &dependencies, &updated)
	if err != nil {
		return nil, err
	}
	p := new(opt.Plan)
	if err := errors.Join(db.Decode(doc, p), db.Decode(metadata, &t.Metadata), db.Decode(dependencies, &t.Dependencies)); err != nil {
		return nil, err
	}
	p.Status, p.Reason, p.Stopping, p.Started, p.Paused, p.Run = h.Status, h.Reason, h.Stopping, h.Started, h.Paused, h.Run
	p.Name, p.Description, p.Metadata, p.Dependencies, p.UpdatedAt = t.Name, t.Description, t.Metadata, t.Dependencies, a2a.AtMillis(updated)
	return p, nil
}

// addTasks adds their tasks to the plans of an objective, each in its latest
// attempt. A plan's time of update is at least the time of its latest task.
func addTasks(c *db.Conn, o *opt.Objective) error {
	for _, p := range o.Plans {
		err := c.Each(`SELECT t.doc, t.name, t.metadata, t.dependencies, t.link, t.follow, t.state, t.status_at, t.reason, t.said, t.gate, t.budgets FROM tasks t
			WHERE t.objective_id = $1 AND t.plan_id = $2 ORDER BY t.idx, length(t.id), t.id`, db.Args{o.ID, p.ID},
			func(row db.Scanner) error {
				t, budgets, at, err := scanTask(row)
				if err != nil {
					return err
				}
				opt.SetBudgets(o, t, budgets)
				p.Used.Limit = p.Used.Limit.Highest(budgets.Plan)
				if p.UpdatedAt.Millis() < at {
					p.UpdatedAt = a2a.AtMillis(at)
				}
				addLatest(p, t)
				return nil
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// addLatest adds a task to a plan, in place of an earlier attempt at it that came before.
func addLatest(p *opt.Plan, t *opt.Task) {
	if last := len(p.Tasks) - 1; last >= 0 && p.Tasks[last].Index == t.Index {
		p.Tasks = p.Tasks[:last]
	}
	p.Tasks = append(p.Tasks, t)
}

// scanTask reads a task of a plan, the budgets that limit it, and when its state changed.
func scanTask(row db.Scanner) (t *opt.Task, budgets opt.Budgets, at int64, err error) {
	var doc, metadata, dependencies, statusDoc, gate, limits db.Content
	var now opt.Task
	err = row.Scan(&doc, (*db.Content)(&now.Name), &metadata, &dependencies, &now.Link, &now.Follow, &now.State, &at, &now.Reason, &statusDoc, &gate, &limits)
	if err != nil {
		return nil, budgets, 0, err
	}
	t = new(opt.Task)
	var status a2a.Message
	err = errors.Join(db.Decode(doc, t), db.Decode(metadata, &t.Metadata), db.Decode(dependencies, &t.Dependencies), db.Decode(statusDoc, &status), db.Decode(gate, &t.Gate), db.Decode(limits, &budgets))
	if err != nil {
		return nil, budgets, 0, err
	}
	t.Name, t.Link, t.Follow, t.State, t.Reason = now.Name, now.Link, now.Follow, now.State, now.Reason
	t.ByHand = now.Reason == opt.ByHand
	switch t.State {
	case opt.TaskFailed, opt.TaskRejected:
		t.Failure = status.Text()
	case opt.TaskWorking: // as a stream has it that begins with the first event
		t.Said, t.Percent = status.Text(), opt.PercentIn(&status)
	}
	return t, budgets, at, nil
}
