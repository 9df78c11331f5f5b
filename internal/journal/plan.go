package journal

import (
	"context"
	"errors"
	"fmt"

	"longhaul/a2a"
	"longhaul/opt"
)

// addPlan adds a plan after those that are there, and its tasks. Of a plan that
// is there already it adds the tasks that are not.
func (r *recording) addPlan(e *entry) error {
	p := e.Plan
	_, err := r.c.exec(`INSERT INTO plans
		(id, objective_id, tenant, position, status, updated_at, started, reason, stopping, doc)
		VALUES ($1, $2, $3, (SELECT COUNT(*) FROM plans WHERE objective_id = $2), $4, $5, $6, $7, $8, $9)
		ON CONFLICT (id) DO NOTHING`,
		p.ID, r.objectiveID, r.o.tenant, string(p.Status), p.UpdatedAt.Millis(), number(p.Started), p.Reason, p.Stopping, e.thing)
	if err != nil {
		return err
	}
	for _, t := range p.Tasks {
		if err := r.addTask(p.ID, e.At, t); err != nil {
			return err
		}
	}
	_, err = r.c.exec("UPDATE objectives SET updated_at = $2 WHERE id = $1", r.objectiveID, e.At.Millis())
	return err
}

func (r *recording) movePlan(e *entry) error {
	var n int64
	var err error
	if e.Kind == opt.PlanStopping {
		n, err = r.c.exec("UPDATE plans SET stopping = $3 WHERE id = $1 AND objective_id = $2", e.PlanID, r.objectiveID, e.Reason)
	} else {
		n, err = r.c.exec(`UPDATE plans SET status = $3, reason = $4, updated_at = $5,
				started = CASE WHEN $3 = 'working' AND $4 <> 'by-hand' THEN 1 ELSE started END
			WHERE id = $1 AND objective_id = $2`, e.PlanID, r.objectiveID, e.To, e.Reason, e.At.Millis())
	}
	if err == nil && n == 0 {
		err = fmt.Errorf("plan %s is not there: %w", e.PlanID, ErrEarly)
	}
	return err
}

// Plan returns a plan with its tasks in order, as they are in one moment. A
// tenant's plan is unknown to others.
func (j *Journal) Plan(ctx context.Context, tenant, id string) (p *opt.Plan, err error) {
	err = j.snapshot(ctx, func(c *conn) error {
		found, err := plans(c, "p.id = $1 AND p.tenant = $2", id, tenant)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return unknown("plan", id)
		}
		p = found[0]
		return addTasks(c, p.ObjectiveID, found)
	})
	return p, err
}

// addPlans adds the plans of o, with their tasks.
func addPlans(c *conn, o *opt.Objective) error {
	found, err := plans(c, "p.objective_id = $1", o.ID)
	if err != nil {
		return err
	}
	o.Plans = found
	return addTasks(c, o.ID, found)
}

// plans reads the plans that where selects, in order and without tasks.
func plans(c *conn, where string, a ...any) (list []*opt.Plan, err error) {
	err = c.each("SELECT p.doc, p.status, p.updated_at, p.started, p.reason, p.stopping FROM plans p WHERE "+where+" ORDER BY p.position", a,
		func(row scanner) error {
			var doc []byte
			var updated int64
			var now opt.Plan
			if err := row.Scan(&doc, &now.Status, &updated, &now.Started, &now.Reason, &now.Stopping); err != nil {
				return err
			}
			p := new(opt.Plan)
			if err := decode(doc, p); err != nil {
				return err
			}
			p.Status, p.Started, p.Reason, p.Stopping, p.UpdatedAt = now.Status, now.Started, now.Reason, now.Stopping, a2a.AtMillis(updated)
			list = append(list, p)
			return nil
		})
	return list, err
}

// addTasks adds their tasks to plans of one objective. A plan was updated when
// one of its tasks was.
func addTasks(c *conn, objectiveID string, to []*opt.Plan) error {
	for _, p := range to {
		err := c.each(`SELECT t.doc, t.state, t.status_at, t.reason, t.said, t.gate FROM tasks t
			WHERE t.objective_id = $1 AND t.plan_id = $2 ORDER BY t.idx, length(t.id), t.id`, args{objectiveID, p.ID},
			func(row scanner) error {
				t, at, err := scanTask(row)
				if p.UpdatedAt.Millis() < at {
					p.UpdatedAt = a2a.AtMillis(at)
				}
				if last := len(p.Tasks) - 1; err == nil && last >= 0 && p.Tasks[last].Index == t.Index {
					p.Tasks = p.Tasks[:last] // an earlier attempt at the same task
				}
				p.Tasks = append(p.Tasks, t)
				return err
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// scanTask reads a task of a plan, and when its state changed.
func scanTask(row scanner) (t *opt.Task, at int64, err error) {
	var doc, said, gate []byte
	var now opt.Task
	if err := row.Scan(&doc, &now.State, &at, &now.Reason, &said, &gate); err != nil {
		return nil, 0, err
	}
	t = new(opt.Task)
	var status a2a.Message
	if err := errors.Join(decode(doc, t), decode(said, &status), decode(gate, &now.Gate)); err != nil {
		return nil, 0, err
	}
	t.ByHand = now.Reason == opt.ByHand
	if t.State, t.Reason, t.Gate = now.State, now.Reason, now.Gate; t.State == opt.TaskFailed || t.State == opt.TaskRejected {
		t.Failure = status.Text()
	}
	return t, at, nil
}
