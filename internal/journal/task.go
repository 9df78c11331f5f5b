package journal

import (
	"context"
	"fmt"

	"longhaul/a2a"
	"longhaul/opt"
)

const insertTask = `INSERT INTO tasks
	(id, objective_id, plan_id, idx, tenant, context_id, state, shown, active, status_at, status_seq, status_id, attempt,
		reason, name, message_id, digest, said, gate, dependencies, metadata, doc)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, '', 0, '', $11, $12, $13, '', '', $14, $15, $16)
	ON CONFLICT (id) DO NOTHING`

// addRoot adds the root task of the attempt that e opens.
func (r *recording) addRoot(e *entry) error {
	o := e.Objective
	state := opt.TaskState(e.To)
	if state == "" {
		state = opt.TaskSubmitted
	}
	return r.insertRoot(*o, state, e.At)
}

// insertRoot adds the root task of the present attempt at o.
func (r *recording) insertRoot(o opt.Objective, state opt.TaskState, at a2a.Time) error {
	_, err := r.c.exec(insertTask, opt.RootID(o.ID, r.o.attempt), o.ID, "", r.o.attempt, r.o.tenant, r.o.contextID,
		string(state), string(state.A2A()), 0, at.Millis(), o.Name, o.MessageID, o.Digest, "", "", "")
	return err
}

// addTask adds a task of a plan.
func (r *recording) addTask(planID string, at a2a.Time, t *opt.Task) error {
	doc, err := encode(t)
	if err != nil {
		return err
	}
	dependencies, metadata := "", ""
	if len(t.Dependencies) > 0 {
		dependencies, err = encode(t.Dependencies)
	}
	if err == nil && len(t.Metadata) > 0 {
		metadata, err = encode(t.Metadata)
	}
	if err != nil {
		return err
	}
	_, err = r.c.exec(insertTask, t.A2AID(), r.objectiveID, planID, t.Index, r.o.tenant, r.o.contextID,
		string(t.State), string(t.State.A2A()), number(active(t.State)), at.Millis(), t.Name, "", "", dependencies, metadata, doc)
	return err
}

// active reports whether a plan task in state s is where the work stands.
func active(s opt.TaskState) bool { return s != opt.TaskPending && !s.Ended() }

// A taskRow is what recording knows of a task.
type taskRow struct {
	planID    string
	state     opt.TaskState
	statusAt  int64
	statusSeq int64
	statusID  string
	attempt   int
}

func (r *recording) task(id string) (t taskRow, err error) {
	found, err := r.c.get(`SELECT plan_id, state, status_at, status_seq, status_id, attempt FROM tasks WHERE id = $1 AND objective_id = $2`,
		args{id, r.objectiveID}, &t.planID, &t.state, &t.statusAt, &t.statusSeq, &t.statusID, &t.attempt)
	if err == nil && !found {
		err = fmt.Errorf("task %s is not there: %w", id, ErrEarly)
	}
	return t, err
}

// moveTask moves a plan task or a root task. The status message that is
// replaced becomes history, at the place where it was said.
func (r *recording) moveTask(e *entry) error {
	t, err := r.task(e.TaskID)
	if err != nil {
		return err
	}
	to := opt.TaskState(e.To)
	gate := e.gate
	if to.Ended() {
		gate = ""
	}
	statusID, statusSeq := "", r.seq()
	if e.Status != nil {
		statusID = e.Status.MessageID
	}
	if statusID == t.statusID {
		statusSeq = t.statusSeq
	} else if t.statusID != "" {
		if err := r.keepStatus(e.TaskID); err != nil {
			return err
		}
	}
	at := t.statusAt
	if to != t.state {
		at = max(at, e.At.Millis())
	}
	_, err = r.c.exec(`UPDATE tasks SET state = $2, shown = $3, active = $4, status_at = $5, status_seq = $6, status_id = $7,
			attempt = $8, reason = $9, said = $10, gate = $11
		WHERE id = $1`,
		e.TaskID, e.To, string(to.A2A()), number(t.planID != "" && active(to)), at, statusSeq, statusID,
		max(t.attempt, e.Attempt), e.Reason, e.status, gate)
	return err
}

// tryTask notes that another attempt at a task has begun. That of a task that does
// not work any more, or has been told of already, is left out.
func (r *recording) tryTask(e *entry) (bool, error) {
	t, err := r.task(e.TaskID)
	if err != nil || t.state != opt.TaskWorking || e.Attempt <= t.attempt {
		return false, err
	}
	_, err = r.c.exec("UPDATE tasks SET attempt = $2 WHERE id = $1", e.TaskID, e.Attempt)
	return true, err
}

// Task returns a task as it is in one moment, of which the view says the seq.
// A tenant's task is unknown to others.
func (j *Journal) Task(ctx context.Context, tenant, id string, want opt.TaskWant) (v opt.TaskView, err error) {
	key := taskKey{tenant, id, want}
	if kept, ok := j.tasks.get(key); ok {
		var now moment
		err := j.read(ctx, func(c *conn) (err error) {
			now, err = momentOf(c, kept.view.ObjectiveID)
			return err
		})
		if err != nil {
			return opt.TaskView{}, err
		}
		if now == kept.at {
			return detached(kept.view), nil
		}
		j.tasks.drop(key)
	}
	var at moment
	err = j.snapshot(ctx, func(c *conn) error {
		found, err := tasks(c, "tasks t", " WHERE t.id = $1 AND t.tenant = $2", args{id, tenant}, want)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return unknown("task", id)
		}
		v = found[0]
		at, err = momentOf(c, v.ObjectiveID)
		return err
	})
	if err == nil {
		j.tasks.put(key, cachedTask{at, v})
	}
	return v, err
}

// Peek returns the state of a task and the seq of the last event of its
// objective, and costs little. A tenant's task is unknown to others.
func (j *Journal) Peek(ctx context.Context, tenant, id string) (state opt.TaskState, seq int64, err error) {
	err = j.read(ctx, func(c *conn) error {
		found, err := c.get("SELECT t.state, o.seq FROM tasks t JOIN objectives o ON o.id = t.objective_id WHERE t.id = $1 AND t.tenant = $2",
			args{id, tenant}, &state, &seq)
		if err == nil && !found {
			err = unknown("task", id)
		}
		return err
	})
	return state, seq, err
}

// Tasks lists tasks, those whose state changed last first. total counts all that
// f selects. A task that is added while a client pages appears once or not at
// all, and takes no other's place.
func (j *Journal) Tasks(ctx context.Context, tenant string, f opt.TaskFilter) (views []opt.TaskView, total int, err error) {
	from, where, a := whichTasks(tenant, f)
	err = j.snapshot(ctx, func(c *conn) error {
		if _, err := c.get("SELECT COUNT(*) FROM "+from+where, a, &total); err != nil {
			return err
		}
		page, a := after(where, a, "t.status_at", "t.id", f.After, f.Limit)
		var err error
		views, err = tasks(c, from, page, a, f.Want)
		return err
	})
	return views, total, err
}

// whichTasks returns the table and the condition for the tasks that f selects.
// It says which index to use: a context is small and a state is not, which the
// database cannot know.
func whichTasks(tenant string, f opt.TaskFilter) (from, where string, a args) {
	index := "tasks_by_time"
	where, a = " WHERE t.tenant = $1", args{tenant}
	add := func(condition string, value any) {
		a = append(a, value)
		where += fmt.Sprintf(" AND %s $%d", condition, len(a))
	}
	if f.State != "" {
		index = "tasks_by_state"
		add("t.shown =", string(f.State))
	}
	if f.ContextID != "" {
		index = "tasks_by_context"
		add("t.context_id =", f.ContextID)
	}
	if !f.Since.IsZero() {
		add("t.status_at >=", f.Since.Millis())
	}
	return "tasks t" + using(index), where, a
}

// selectViews returns the query for tasks from the table, which scanView reads.
func selectViews(from, rest string) string {
	return `SELECT t.id, t.objective_id, t.plan_id, t.idx, t.context_id, t.state, t.status_at, t.status_id, t.attempt,
			t.name, t.message_id, t.digest, t.said, t.gate, t.dependencies, t.metadata,
			o.seq, o.attempt, o.queued_at, o.principal, o.name, o.message_id, o.digest, o.stopping, COALESCE(p.stopping, '')
		FROM ` + from + ` JOIN objectives o ON o.id = t.objective_id LEFT JOIN plans p ON p.id = t.plan_id` + rest
}

// tasks reads the tasks that rest selects, and as much of each as is wanted.
func tasks(c *conn, from, rest string, a args, want opt.TaskWant) ([]opt.TaskView, error) {
	var rows []viewRow
	err := c.each(selectViews(from, rest), a, func(row scanner) error {
		v, err := scanView(row)
		rows = append(rows, v)
		return err
	})
	views := make([]opt.TaskView, 0, len(rows))
	for i := range rows {
		if err == nil {
			err = rows[i].complete(c, want)
		}
		views = append(views, rows[i].TaskView)
	}
	return views, err
}
