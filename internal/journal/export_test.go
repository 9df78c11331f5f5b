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
	"longhaul/opt/shown"
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
	c, err := j.db.Connect(ctx, db.Writing)
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
func (j *Journal) AskAgain() { j.probe.last.at = time.Time{} }

// Probe has Ping call write in place of its write.
func (j *Journal) Probe(write func() error) {
	j.probe.write = func(*db.Conn) error { return write() }
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

// PurgeStep does as little of Purge as one transaction may.
func (j *Journal) PurgeStep(ctx context.Context, before time.Time) (done bool, err error) {
	p := &purge{before: before.UnixMilli(), most: 1}
	err = j.db.Write(ctx, p.run, record.PurgeLock)
	return p.done, err
}

// PurgePause is the pause of a purge after a transaction.
func PurgePause(last time.Duration, blocked bool) time.Duration { return pauseAfter(last, blocked) }

// Explain returns SQLite's plan for a statement.
func (j *Journal) Explain(ctx context.Context, statement string) (steps []string, err error) {
	a := make(db.Args, strings.Count(statement, "$")) // more than there are parameters are refused
	for len(a) > 0 && !strings.Contains(statement, fmt.Sprint("$", len(a))) {
		a = a[:len(a)-1]
	}
	err = j.db.Read(ctx, func(c *db.Conn) error {
		steps, err = db.All(c, "EXPLAIN QUERY PLAN "+statement, a, func(row db.Scanner) (step string, err error) {
			var id, parent, unused int
			err = row.Scan(&id, &parent, &unused, &step)
			return step, err
		})
		return err
	})
	return steps, err
}

// TaskTable returns the table, with its index, that a list reads.
func (j *Journal) TaskTable(f shown.TaskFilter) string {
	from, _ := taskCondition(j.db.Dialect, "", f)
	return from
}

// ObjectiveTable is TaskTable for objectives.
func (j *Journal) ObjectiveTable(f shown.ObjectiveSearch) string {
	return newObjectiveSearch(j.db.Dialect, "", f).from
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
