package journal

import (
	"context"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/shown"
)

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
func (j taskReader) Links(ctx context.Context, tenant, objectiveID string) ([]string, error) {
	return db.List(ctx, j.db, "SELECT link FROM tasks"+j.db.Dialect.IndexedBy("tasks_linked")+" WHERE objective_id = $1 AND tenant = $2 AND follow = 1 AND ended = 0 ORDER BY id",
		db.Args{objectiveID, tenant}, db.ScanID)
}

// Task returns one state of a task; the view has the seq of that state. The tasks
// of other tenants are unknown.
func (j taskReader) Task(ctx context.Context, tenant, id string, want shown.TaskWant) (v shown.TaskView, err error) {
	key := taskKey{tenant, id, want}
	if kept, ok := j.tasks.get(key); ok {
		var now moment
		err := j.db.Read(ctx, func(c *db.Conn) (err error) {
			now, err = momentOf(c, kept.view.ObjectiveID)
			return err
		})
		if err != nil {
			return shown.TaskView{}, err
		}
		if now == kept.at {
			return detached(kept.view), nil
		}
		j.tasks.drop(key)
	}
	var row viewRow
	err = j.db.Snapshot(ctx, func(c *db.Conn) error {
		if row, err = db.One(viewRows(c, "tasks t", where("t.id = ? AND t.tenant = ?", id, tenant), want))("task", id); err == nil {
			row.Used, err = usedBy(c, row.TaskView)
		}
		return err
	})
	if err == nil {
		j.tasks.put(key, cachedTask{row.at, row.TaskView})
	}
	return row.TaskView, err
}

// Peek returns the state of a task and the seq of the last event of its
// objective, at low cost. The tasks of other tenants are unknown.
func (j taskReader) Peek(ctx context.Context, tenant, id string) (state opt.TaskState, seq int64, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) error {
		return c.Find("task", id, "SELECT t.state, o.seq FROM tasks t JOIN objectives o ON o.id = t.objective_id WHERE t.id = $1 AND t.tenant = $2",
			db.Args{id, tenant}, &state, &seq)
	})
	return state, seq, err
}

// Tasks lists tasks, latest state change first. total counts all that f selects. Its cost
// grows with the number of open tasks, or of tasks in the context or since f.Since.
// A task that is added while a client pages is listed once or not at all, and no
// other is missed because of it.
func (j taskReader) Tasks(ctx context.Context, tenant string, f shown.TaskFilter) (views []shown.TaskView, total int, err error) {
	from, selected := taskCondition(j.db.Dialect, tenant, f)
	err = j.db.Snapshot(ctx, func(c *db.Conn) (err error) {
		if f.ContextID == "" && f.Since.IsZero() {
			total, err = taskSubject.count(c, tenant, string(f.State), f.State.Terminal())
		} else {
			_, err = c.Get("SELECT COUNT(*) FROM "+from+selected.tail, selected.a, &total)
		}
		if err != nil {
			return err
		}
		views, err = tasks(c, from, selected.page(taskOrder, f.After, f.Limit), f.Want)
		return err
	})
	return views, total, err
}

// taskCondition returns the table and the condition for the tasks that f selects. It
// names the index: the database cannot know that few tasks have the same context
// and many the same state.
func taskCondition(d db.Dialect, tenant string, f shown.TaskFilter) (from string, selected filter) {
	index, selected := "tasks_by_time", where("t.tenant = ?", tenant)
	if f.State != "" {
		index, selected = "tasks_by_state", selected.and("t.shown = ?", string(f.State))
	}
	if f.ContextID != "" {
		index, selected = "tasks_by_context", selected.and("t.context_id = ?", f.ContextID)
	}
	if !f.Since.IsZero() {
		selected = selected.and("t.status_at >= ?", f.Since.Millis())
	}
	return "tasks t" + d.IndexedBy(index), selected
}

// tasks reads the tasks that a filter selects from a table, with the parts that are wanted.
func tasks(c *db.Conn, from string, f filter, want shown.TaskWant) ([]shown.TaskView, error) {
	rows, err := viewRows(c, from, f, want)
	views := make([]shown.TaskView, 0, len(rows))
	for _, row := range rows {
		views = append(views, row.TaskView)
	}
	return views, err
}

// viewRows is tasks, with what else their rows have.
func viewRows(c *db.Conn, from string, f filter, want shown.TaskWant) ([]viewRow, error) {
	rows, err := db.All(c, `SELECT t.id, t.objective_id, t.plan_id, t.idx, t.context_id, t.state, t.status_at, t.status_id, t.attempt,
			t.name, t.message_id, t.digest, t.said, t.gate, t.decided, t.dependencies, t.metadata,
			o.seq, o.attempt, o.paused, o.queued_at, o.principal, o.name, o.message_id, o.digest, o.stopping, o.stuck, o.epochs, COALESCE(p.stopping, ''), (SELECT n FROM purges)
		FROM `+from+` JOIN objectives o ON o.id = t.objective_id LEFT JOIN plans p ON p.id = t.plan_id`+f.tail, f.a, scanView)
	for i := range rows {
		if err == nil {
			err = rows[i].complete(c, want)
		}
	}
	return rows, err
}
