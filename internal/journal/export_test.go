package journal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"longhaul/internal/journal/db"
	"longhaul/internal/journal/record"
	"longhaul/opt"
)

// Tables are those whose rows recording changes.
var tables = []string{"objectives", "plans", "tasks", "messages", "artifacts", "events", "answers", "sources", "places", "keys", "blobs", "leftovers", "push_configs", "deliveries", "attempts", "decisions", "notices"}

// Dump returns every row of every table, as text.
func (j *Journal) Dump(ctx context.Context) (string, error) {
	var lines []string
	err := j.db.Snapshot(ctx, func(c *db.Conn) error {
		for _, table := range tables {
			rows, err := c.Raw.QueryContext(ctx, "SELECT * FROM "+table)
			if err != nil {
				return err
			}
			columns, _ := rows.Columns()
			for rows.Next() {
				values := make([]any, len(columns))
				for i := range values {
					values[i] = new(any)
				}
				if err := rows.Scan(values...); err != nil {
					return err
				}
				line := table
				for i, v := range values {
					line += fmt.Sprintf(" %s=%v", columns[i], *v.(*any))
				}
				lines = append(lines, line)
			}
			if err := rows.Err(); err != nil {
				return err
			}
		}
		return nil
	})
	slices.Sort(lines)
	return strings.Join(lines, "\n"), err
}

// Schema returns the mark of the file, the migrations and all tables and indexes, as
// text.
func (j *Journal) Schema(ctx context.Context) (text string, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) error {
		return c.Each(`SELECT (SELECT application_id FROM pragma_application_id) || ' ' || (SELECT group_concat(version) FROM migrations) || ' ' || name || ' ' || COALESCE(sql, '')
			FROM sqlite_schema ORDER BY name`, nil, func(row db.Scanner) error {
			var line string
			err := row.Scan(&line)
			text += line + "\n"
			return err
		})
	})
	return text, err
}

// Check returns the errors that the database finds in its file, or "ok".
func (j *Journal) Check(ctx context.Context) (result string, err error) {
	if _, ok := j.db.Db.(*db.SqliteFile); !ok {
		return "ok", nil
	}
	err = j.db.Read(ctx, func(c *db.Conn) error {
		_, err := c.Get("PRAGMA integrity_check", nil, &result)
		return err
	})
	return result, err
}

// Script runs SQL as a write.
func (j *Journal) Script(ctx context.Context, text string) error {
	return j.db.Write(ctx, func(c *db.Conn) error { return c.Script(text) })
}

// Migrate updates the tables like a program with more migrations: their texts, by
// number.
func (j *Journal) Migrate(ctx context.Context, more map[int64]string) error {
	list, err := j.db.Dialect.Migrations()
	if err != nil {
		return err
	}
	for _, version := range slices.Sorted(maps.Keys(more)) {
		list = append(list, db.Migration{Version: version, Name: "more", Text: more[version]})
	}
	c, err := j.db.Db.Connect(ctx, db.Writing)
	if err != nil {
		return err
	}
	if d, ok := j.db.Db.(*db.Postgres); ok {
		err = d.Update(c, list)
	} else {
		_, err = db.Apply(c, list)
	}
	return errors.Join(err, c.Close())
}

// AskAgain has the next Ping try to write.
func (j *Journal) AskAgain() { j.probe.at = time.Time{} }

// ProbeRows returns how many rows Ping has left.
func (j *Journal) ProbeRows(ctx context.Context) (n int, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) error {
		_, err := c.Get("SELECT COUNT(*) FROM probes", nil, &n)
		return err
	})
	return n, err
}

// Hold makes the writer wait, within a transaction, until release is called.
// Writes in the meantime become part of that transaction.
func (j *Journal) Hold(ctx context.Context) (release func() error) {
	begun, end, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- j.db.Write(ctx, func(*db.Conn) error {
			close(begun)
			<-end
			return nil
		})
	}()
	<-begun
	return func() error {
		close(end)
		return <-done
	}
}

// Queued returns how many writes wait.
func (j *Journal) Queued() int { return len(j.db.Writer.Queue) }

// ExplainTasks returns the database's plan for the query of a page.
func (j *Journal) ExplainTasks(ctx context.Context, tenant string, f opt.TaskFilter) (string, error) {
	from, where, a := taskCondition(j.db.Dialect, tenant, f)
	page, a := pageAfter(where, a, [2]string{"t.status_at", "t.id"}, f.After, f.Limit)
	return j.explain(ctx, selectViews(from, page), a)
}

// ExplainObjectives is ExplainTasks for objectives.
func (j *Journal) ExplainObjectives(ctx context.Context, tenant string, f opt.ObjectiveFilter) (string, error) {
	from, where, a := objectiveCondition(j.db.Dialect, tenant, f)
	page, a := pageAfter(where, a, [2]string{"o.created_at", "o.id"}, f.After, f.Limit)
	return j.explain(ctx, selectObjectives(from, page), a)
}

// ExplainPurge returns the database's plans for the statements of Purge.
func (j *Journal) ExplainPurge(ctx context.Context) (string, error) {
	text, err := j.explain(ctx, endedLongest(j.db.Dialect), db.Args{0, 1})
	for _, statement := range removals(j.db.Dialect) {
		steps, failed := j.explain(ctx, statement, nil)
		text, err = text+"\n"+steps, errors.Join(err, failed)
	}
	for _, b := range record.DependentTables {
		steps, failed := j.explain(ctx, record.RemoveRemainingSQL(j.db.Dialect, b.Table), db.Args{b.Most})
		text, err = text+"\n"+steps, errors.Join(err, failed)
	}
	return text, err
}

// PurgeStep does as little of Purge as one transaction may.
func (j *Journal) PurgeStep(ctx context.Context, before time.Time) (done bool, err error) {
	p := &purge{before: before.UnixMilli(), most: 1}
	err = j.db.Write(ctx, p.run, record.PurgeLock)
	return p.done, err
}

// Purges returns how many transactions have removed something.
func (j *Journal) Purges(ctx context.Context) (n int64, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) error {
		_, err := c.Get("SELECT n FROM purges", nil, &n)
		return err
	})
	return n, err
}

func (j *Journal) explain(ctx context.Context, query string, a db.Args) (string, error) {
	var steps []string
	err := j.db.Read(ctx, func(c *db.Conn) error {
		return c.Each("EXPLAIN QUERY PLAN "+query, a, func(row db.Scanner) error {
			var id, parent, unused int
			var step string
			err := row.Scan(&id, &parent, &unused, &step)
			steps = append(steps, step)
			return err
		})
	})
	return strings.Join(steps, "\n"), err
}

// Notifications returns the texts that notify other processes of changes.
func Notifications(seqs map[string]int64, gone []string, due bool) ([]string, error) {
	return db.Notifications([]db.Changes{{Seqs: seqs, Gone: gone, Due: due}})
}

// Fill copies the rows of an objective, its plans and its tasks, and those in further tables,
// each copy with other ids and times that are earlier by one more step.
func (j *Journal) Fill(ctx context.Context, objectiveID string, copies int, step time.Duration, further ...string) error {
	const most = 20_000 // in a transaction
	for from := 1; from <= copies; from += most {
		to := min(from+most-1, copies)
		err := j.db.Write(ctx, func(c *db.Conn) (err error) {
			for _, table := range append([]string{"objectives", "plans", "tasks"}, further...) {
				err = errors.Join(err, fill(ctx, c, table, objectiveID, [2]int{from, to}, step))
			}
			if err == nil && isPostgres(j.db) {
				_, err = c.Exec(foldTallies, db.LockNumber(db.FoldLock)) // as after so many writes
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("fill: %w", err)
		}
	}
	return nil
}

// fill is Fill for the copies of one table from a number to another one.
func fill(ctx context.Context, c *db.Conn, table, objectiveID string, numbers [2]int, step time.Duration) error {
	rows, err := c.Raw.QueryContext(ctx, "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		return err
	}
	names, err := rows.Columns()
	if err := errors.Join(err, rows.Close()); err != nil {
		return err
	}
	model, own := strings.TrimPrefix(objectiveID, "obj-"), "id"
	if table != "objectives" {
		own = "objective_id"
	}
	values := slices.Clone(names)
	for i, name := range names {
		switch name {
		case "id", "objective_id", "plan_id", "context_id", "task_id", "for_task", "root_id", "source":
			values[i] = fmt.Sprintf("replace(%s, '%s', '%s' || CAST(k.n AS TEXT))", name, model, model)
		case "created_at", "updated_at", "status_at":
			values[i] = fmt.Sprintf("%s - k.n * %d", name, step.Milliseconds())
		}
	}
	return c.Script(fmt.Sprintf("INSERT INTO %s (%s) WITH RECURSIVE k (n) AS (SELECT %d UNION ALL SELECT n + 1 FROM k WHERE n < %d) SELECT %s FROM k CROSS JOIN %s WHERE %s = '%s'",
		table, strings.Join(names, ", "), numbers[0], numbers[1], strings.Join(values, ", "), table, own, objectiveID))
}

// Column returns the texts that a query selects, sorted.
func (j *Journal) Column(ctx context.Context, query string) (list []string, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) error {
		list, err = db.All(c, query, nil, db.ScanID)
		return err
	})
	slices.Sort(list)
	return list, err
}

// CountRows counts the rows that "FROM " and the text select.
func (j *Journal) CountRows(ctx context.Context, from string) (n int, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) error {
		_, err := c.Get("SELECT COUNT(*) FROM "+from, nil, &n)
		return err
	})
	return n, err
}

func isPostgres(e *db.Engine) bool {
	_, ok := e.Db.(*db.Postgres)
	return ok
}

// FoldAfter is the number of writes after which tallies are folded.
const FoldAfter = db.FoldAfter

// SessionRows returns the rows of all sessions, as text.
func (j *Journal) SessionRows(ctx context.Context) (text string, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) error {
		return c.Each("SELECT id, secrets FROM sessions", nil, func(row db.Scanner) error {
			var id string
			var secrets []byte
			err := row.Scan(&id, &secrets)
			text += fmt.Sprintf("%s %s\n", id, secrets)
			return err
		})
	})
	return text, err
}

// ExplainUsage returns the database's plans for the queries of Usage.
func (j *Journal) ExplainUsage(ctx context.Context) (text string, err error) {
	queries := usageQueries(j.db.Dialect)
	for _, quota := range slices.Sorted(maps.Keys(queries)) {
		steps, failed := j.explain(ctx, queries[quota], db.Args{"acme"})
		text, err = text+steps+"\n", errors.Join(err, failed)
	}
	return text, err
}

// SetNow sets the clock for the places of notices.
func (j *Journal) SetNow(now func() time.Time) { j.usage.now = now }
