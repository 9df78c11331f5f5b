package journal

import (
	"context"
	"errors"
	"fmt"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
)

const insertTask = `INSERT INTO tasks
	(id, objective_id, plan_id, idx, tenant, context_id, name, message_id, digest, dependencies, metadata, doc, link, follow,
		state, shown, active, ended, reason, attempt, fence, status_at, status_seq, status_id, said, gate)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, 0, 0, $20, 0, '', '', '')
	ON CONFLICT (id) DO NOTHING`

// A taskTable is the part of a recording that writes tasks.
type taskTable struct{ *recording }

// addRoot adds the root task of the current attempt, which a message has begun.
func (r taskTable) addRoot(messageID, digest string, at a2a.Time) error {
	state := opt.TaskSubmitted
	_, err := r.c.Exec(insertTask, opt.RootID(r.objectiveID, r.o.attempt), r.objectiveID, "", r.o.attempt, r.o.tenant, r.o.contextID,
		"", messageID, digest, "", "", "", "", 0, string(state), string(state.A2A()), 0, 0, "", at.Millis())
	return err
}

// add adds the tasks in e to its plan.
func (r taskTable) add(e *entry) error {
	for _, t := range e.tasks {
		_, err := r.c.Exec(insertTask, t.A2AID(), r.objectiveID, e.PlanID, t.Index, r.o.tenant, r.o.contextID,
			db.Content(t.Name), "", "", t.dependencies, t.metadata, t.doc, t.Link, boolNumber(t.Follow),
			string(t.State), string(t.State.A2A()), boolNumber(isActive(t.State)), boolNumber(t.State.Ended()), t.Reason, e.At.Millis())
		if err != nil {
			return err
		}
	}
	return nil
}

// link notes which task stands in for another.
func (r taskTable) link(e *entry) error {
	n, err := r.c.Exec("UPDATE tasks SET link = $3, follow = $4 WHERE id = $1 AND objective_id = $2", e.TaskID, r.objectiveID, e.Link, boolNumber(e.Follow))
	if err == nil && n == 0 {
		err = fmt.Errorf("task %s is not there: %w", e.TaskID, ErrEarly)
	}
	return err
}

// isActive reports whether a plan task in state s is being worked on.
func isActive(s opt.TaskState) bool { return s != opt.TaskPending && !s.Ended() }

// A taskRow is the data of a task that recording needs.
type taskRow struct {
	planID    string
	ended     bool
	statusAt  int64
	statusSeq int64
	statusID  string
	fence     int64
}

func (r taskTable) read(id string) (t taskRow, err error) {
	found, err := r.c.Get(`SELECT plan_id, ended, status_at, status_seq, status_id, fence FROM tasks WHERE id = $1 AND objective_id = $2`,
		db.Args{id, r.objectiveID}, &t.planID, &t.ended, &t.statusAt, &t.statusSeq, &t.statusID, &t.fence)
	if err == nil && !found {
		err = fmt.Errorf("task %s is not there: %w", id, ErrEarly)
	}
	return t, err
}

// isLate reports whether e, from an attempt at t, comes too late: the task has
// ended, or a later attempt has recorded something. An event that comes from no
// attempt has no fence.
func (t taskRow) isLate(e *entry) bool { return t.ended || e.Fence() != 0 && e.Fence() < t.fence }

// move moves a plan task or a root task. The replaced status message becomes
// part of the history, at its own seq.
func (r taskTable) move(e *entry) error {
	t, err := r.read(e.TaskID)
	if err != nil {
		return err
	}
	if err := errors.Join(r.deliveries().move(e), r.notices().move(e)); err != nil {
		return err
	}
	to := opt.TaskState(e.To)
	statusID, statusSeq := "", r.seq()
	if e.Status != nil {
		statusID = e.Status.MessageID
	}
	if statusID == t.statusID {
		statusSeq = t.statusSeq
	} else if t.statusID != "" {
		if err := r.messages().insertStatus(e.TaskID); err != nil {
			return err
		}
	}
	at := t.statusAt
	if e.From != e.To {
		at = max(at, e.At.Millis()) // a clock may go back
	}
	_, err = r.c.Exec(`UPDATE tasks SET state = $2, shown = $3, active = $4, ended = $5, reason = $6, attempt = $7, fence = $8,
			status_at = $9, status_seq = $10, status_id = $11, said = $12, gate = $13
		WHERE id = $1`,
		e.TaskID, e.To, string(to.A2A()), boolNumber(t.planID != "" && isActive(to)), boolNumber(to.Ended()), e.Reason, e.Attempt, max(t.fence, e.Fence()),
		at, statusSeq, statusID, e.status, e.gate)
	return err
}

// extendGate adds an exchange to the gate at which a task waits. A gate that an operator has
// closed with the workflow stays closed.
func (r taskTable) extendGate(e *entry) error {
	if _, err := r.read(e.TaskID); err != nil {
		return err
	}
	var doc db.Content
	var g *opt.Gate
	_, err := r.c.Get("SELECT gate FROM tasks WHERE id = $1", db.Args{e.TaskID}, &doc)
	if err = errors.Join(err, decode(doc, &g)); err != nil || g == nil || g.ID != e.Gate.ID {
		return err
	}
	var d documents
	g = g.Extended(*e.Gate)
	gate, said := d.encode(true, g), d.encode(true, g.Message(r.o.contextID, e.TaskID))
	if err := errors.Join(d...); err != nil {
		return err
	}
	_, err = r.c.Exec("UPDATE tasks SET gate = $2, said = $3 WHERE id = $1", e.TaskID, gate, said)
	return err
}

// addTry notes a new try at a task, unless the event comes too late.
func (r taskTable) addTry(e *entry) (bool, error) {
	t, err := r.read(e.TaskID)
	if err != nil || t.isLate(e) {
		return false, err
	}
	return true, r.showAttempt(e)
}

// showAttempt notes the latest attempt at a task.
func (r taskTable) showAttempt(e *entry) error {
	_, err := r.c.Exec("UPDATE tasks SET attempt = $2, fence = $3 WHERE id = $1", e.TaskID, e.Attempt, e.Fence())
	return err
}

// A taskReader is the part of a Journal that shows tasks.
type taskReader struct {
	db    *db.Engine
	tasks *taskCache
}

func newTaskReader(e *db.Engine) taskReader {
	return taskReader{e, &taskCache{tasks: map[taskKey]cachedTask{}}}
}

// Links returns the A2A tasks that open tasks of an objective follow. The
// objectives of other tenants have none.
func (j taskReader) Links(ctx context.Context, tenant, objectiveID string) (links []string, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) error {
		links, err = db.All(c, "SELECT link FROM tasks"+c.Dialect.IndexedBy("tasks_linked")+" WHERE objective_id = $1 AND tenant = $2 AND follow = 1 AND ended = 0 ORDER BY id",
			db.Args{objectiveID, tenant}, db.ScanID)
		return err
	})
	return links, err
}

// Task returns one state of a task; the view has the seq of that state. The tasks
// of other tenants are unknown.
func (j taskReader) Task(ctx context.Context, tenant, id string, want opt.TaskWant) (v opt.TaskView, err error) {
	key := taskKey{tenant, id, want}
	if kept, ok := j.tasks.get(key); ok {
		var now moment
		err := j.db.Read(ctx, func(c *db.Conn) (err error) {
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
	err = j.db.Snapshot(ctx, func(c *db.Conn) error {
		found, err := tasks(c, "tasks t", " WHERE t.id = $1 AND t.tenant = $2", db.Args{id, tenant}, want)
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
// objective, at low cost. The tasks of other tenants are unknown.
func (j taskReader) Peek(ctx context.Context, tenant, id string) (state opt.TaskState, seq int64, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) error {
		found, err := c.Get("SELECT t.state, o.seq FROM tasks t JOIN objectives o ON o.id = t.objective_id WHERE t.id = $1 AND t.tenant = $2",
			db.Args{id, tenant}, &state, &seq)
		if err == nil && !found {
			err = unknown("task", id)
		}
		return err
	})
	return state, seq, err
}

// Tasks lists tasks, latest state change first. total counts all that f selects. Its cost
// grows with the number of open tasks, or of tasks in the context or since f.Since.
// A task that is added while a client pages is listed once or not at all, and no
// other is missed because of it.
func (j taskReader) Tasks(ctx context.Context, tenant string, f opt.TaskFilter) (views []opt.TaskView, total int, err error) {
	from, where, a := taskCondition(j.db.Dialect, tenant, f)
	err = j.db.Snapshot(ctx, func(c *db.Conn) (err error) {
		if f.ContextID == "" && f.Since.IsZero() {
			total, err = taskSubject.count(c, tenant, string(f.State), f.State.Terminal())
		} else {
			_, err = c.Get("SELECT COUNT(*) FROM "+from+where, a, &total)
		}
		if err != nil {
			return err
		}
		page, a := pageAfter(where, a, [2]string{"t.status_at", "t.id"}, f.After, f.Limit)
		views, err = tasks(c, from, page, a, f.Want)
		return err
	})
	return views, total, err
}

// taskCondition returns the table and the condition for the tasks that f selects. It
// names the index: the database cannot know that few tasks have the same context
// and many the same state.
func taskCondition(d db.Dialect, tenant string, f opt.TaskFilter) (from, where string, a db.Args) {
	index := "tasks_by_time"
	where, a = " WHERE t.tenant = $1", db.Args{tenant}
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
	return "tasks t" + d.IndexedBy(index), where, a
}

// selectViews returns the query for tasks from the table, which scanView reads.
func selectViews(from, rest string) string {
	return `SELECT t.id, t.objective_id, t.plan_id, t.idx, t.context_id, t.state, t.status_at, t.status_id, t.attempt,
			t.name, t.message_id, t.digest, t.said, t.gate, t.decided, t.dependencies, t.metadata,
			o.seq, o.attempt, o.paused, o.queued_at, o.principal, o.name, o.message_id, o.digest, o.stopping, o.stuck, o.epochs, COALESCE(p.stopping, '')
		FROM ` + from + ` JOIN objectives o ON o.id = t.objective_id LEFT JOIN plans p ON p.id = t.plan_id` + rest
}

// tasks reads the tasks that rest selects, with the parts that are wanted.
func tasks(c *db.Conn, from, rest string, a db.Args, want opt.TaskWant) ([]opt.TaskView, error) {
	rows, err := db.All(c, selectViews(from, rest), a, scanView)
	views := make([]opt.TaskView, 0, len(rows))
	for i := range rows {
		if err == nil {
			err = rows[i].complete(c, want)
		}
		views = append(views, rows[i].TaskView)
	}
	return views, err
}
