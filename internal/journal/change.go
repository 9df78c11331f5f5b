package journal

import (
	"fmt"

	"longhaul/opt"
)

// changeObjective changes what a client may change of an objective: its
// document says what it is called, and its revision.
func (r *recording) changeObjective(e *entry) error {
	var doc []byte
	if _, err := r.c.get("SELECT doc FROM objectives WHERE id = $1", args{r.objectiveID}, &doc); err != nil {
		return err
	}
	var o opt.Objective
	if err := decode(doc, &o); err != nil {
		return err
	}
	if err := o.Apply(e.Event); err != nil {
		return err
	}
	changed, err := encode(o)
	if err != nil {
		return err
	}
	_, err = r.c.exec("UPDATE objectives SET doc = $2, name = $3, updated_at = $4 WHERE id = $1", r.objectiveID, changed, o.Name, e.At.Millis())
	if err == nil {
		_, err = r.c.exec("UPDATE tasks SET name = $3 WHERE objective_id = $1 AND plan_id = '' AND idx = $2", r.objectiveID, r.o.attempt, o.Name)
	}
	return err
}

// beginAgain begins a new attempt at the objective, with a root task of its own.
func (r *recording) beginAgain(e *entry) error {
	var o opt.Objective
	if _, err := r.c.get("SELECT name, message_id, digest FROM objectives WHERE id = $1", args{r.objectiveID}, &o.Name, &o.MessageID, &o.Digest); err != nil {
		return err
	}
	r.o.attempt, o.ID = e.Attempt, r.objectiveID
	_, err := r.c.exec(`UPDATE objectives SET status = 'submitted', reason = '', stopping = '', failure = '', started = 0, attempt = $2, updated_at = $3
		WHERE id = $1`, r.objectiveID, e.Attempt, e.At.Millis())
	if err == nil {
		err = r.keepCompleted()
	}
	if err != nil {
		return err
	}
	return r.insertRoot(o, opt.TaskSubmitted, e.At)
}

// keepCompleted notes of the plans that are completed that they were so before the
// attempt that begins.
func (r *recording) keepCompleted() error {
	found, err := plans(r.c, "p.objective_id = $1 AND p.status = $2", r.objectiveID, string(opt.PlanCompleted))
	for _, p := range found {
		var doc string
		p.Kept = true
		if doc, err = encode(p); err == nil {
			_, err = r.c.exec("UPDATE plans SET doc = $2 WHERE id = $1", p.ID, doc)
		}
		if err != nil {
			break
		}
	}
	return err
}

// changePlan changes a plan by what only its workflow, or its objective when it
// begins again, decides.
func (r *recording) changePlan(e *entry) error {
	p, err := r.plan(e.PlanID)
	if err != nil {
		return err
	}
	before := len(p.Tasks)
	if err := p.Apply(e.Event); err != nil {
		return err
	}
	for i, t := range p.Tasks {
		if i >= before || e.Kind == opt.PlanAgain && t.Run == e.Attempt {
			if err := r.addTask(p.ID, e.At, t); err != nil {
				return err
			}
		}
	}
	header := *p
	header.Tasks, header.Report = nil, nil
	doc, err := encode(header)
	if err != nil {
		return err
	}
	_, err = r.c.exec("UPDATE plans SET doc = $2, status = $3, reason = $4, started = $5, stopping = $6, updated_at = $7 WHERE id = $1",
		p.ID, doc, string(p.Status), p.Reason, number(p.Started), p.Stopping, e.At.Millis())
	return err
}

// plan reads a plan of the objective, with its tasks.
func (r *recording) plan(id string) (*opt.Plan, error) {
	found, err := plans(r.c, "p.id = $1 AND p.objective_id = $2", id, r.objectiveID)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("plan %s is not there: %w", id, ErrEarly)
	}
	return found[0], addTasks(r.c, r.objectiveID, found)
}

func (r *recording) linkTask(e *entry) error {
	var doc []byte
	found, err := r.c.get("SELECT doc FROM tasks WHERE id = $1 AND objective_id = $2", args{e.TaskID, r.objectiveID}, &doc)
	if err == nil && !found {
		err = fmt.Errorf("task %s is not there: %w", e.TaskID, ErrEarly)
	}
	var t opt.Task
	if err == nil {
		err = decode(doc, &t)
	}
	if err != nil {
		return err
	}
	t.Link, t.Follow = e.Link, e.Follow
	linked, err := encode(t)
	if err != nil {
		return err
	}
	_, err = r.c.exec("UPDATE tasks SET doc = $2 WHERE id = $1", e.TaskID, linked)
	return err
}
