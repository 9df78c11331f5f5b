package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver
	_ "modernc.org/sqlite"             // another one

	"longhaul/dev/e2e/harness"
	"longhaul/internal/pgserver"
)

const (
	dayGets   = 200 // in each round
	dayLists  = 20
	daySends  = 10
	dayWrites = 60   // sends before the first round
	fillStep  = 5000 // objectives in a transaction
)

// measureDay measures get, list and send while the journal holds more and more tasks. One
// server for each size runs at the same time, so that rounds alternate.
func measureDay(ctx context.Context, s settings, r *report) error {
	var days []*day
	var databases *pgserver.Server // nil for files
	if s.postgres {
		var err error
		if databases, err = pgserver.Start(ctx); err != nil {
			return err
		}
		defer func() { _ = databases.Close() }()
	}
	defer func() {
		for _, d := range days {
			d.server.stop()
		}
	}()
	for i, n := range s.day {
		d, err := newDay(ctx, s, databases, fmt.Sprintf("day_%d", i), n)
		if err != nil {
			return fmt.Errorf("%d tasks: %w", n, err)
		}
		days = append(days, d)
	}
	for _, o := range []struct {
		name string
		run  func(context.Context, *day, int) ([]float64, error)
	}{{"tasks/get", measureGets}, {"tasks/list, the first page of 50", measureLists}, {"a send that returns at once", measureDaySends}} {
		found, err := alternate(ctx, s.rounds, days, func(ctx context.Context, d *day, round int) (map[string]float64, error) {
			took, err := o.run(ctx, d, round)
			return percentiles(took), err
		})
		if err != nil {
			return fmt.Errorf("%s with %w", o.name, err)
		}
		for k, d := range days {
			m := measured{part: "g", name: fmt.Sprintf("%s, %v stored%s: p50", o.name, d, databaseName(s)), unit: "ms", ours: found[k]["p50"]}
			if k == 0 {
				r.add(m)
				continue
			}
			m.base, m.baseline = found[0]["p50"], days[0].String()
			f := r.add(m)
			f.setAim("flat: ratio ≤ 1.5", f.Ratio <= 1.5)
		}
	}
	return nil
}

func databaseName(s settings) string {
	if s.postgres {
		return " in PostgreSQL"
	}
	return ""
}

// A day is a server whose journal holds many tasks.
type day struct {
	tasks  int
	ids    []string // of some of them
	client *harness.Client
	server *server
}

func (d *day) String() string { return fmt.Sprintf("%d tasks", d.tasks) }

// newDay makes a journal with tasks and starts a server on it. The server makes one
// objective of three tasks, the rows of which are then copied under other ids. Events
// and what only recording needs are not copied: reads and sends do not look at them.
func newDay(ctx context.Context, s settings, databases *pgserver.Server, name string, tasks int) (*day, error) {
	at, err := newSite(s, name)
	if err != nil {
		return nil, err
	}
	f := filling{dialect: inSQLite, url: "file:" + filepath.Join(at.dir, "journal.db") + "?_pragma=synchronous(0)&_pragma=busy_timeout(5000)"}
	if databases != nil {
		if err := databases.Create(ctx, name); err != nil {
			return nil, err
		}
		f = filling{dialect: inPostgreSQL, url: databases.URL(name)}
		at.env = []string{"LONGHAUL_JOURNAL=" + f.url, "LONGHAUL_SECRET_KEYS=" + strings.Repeat("A", 43) + "="}
	}
	first, err := at.start(ctx, "dev")
	if err != nil {
		return nil, err
	}
	task, err := send(ctx, at.client(), harness.Message{ID: "model", Text: "x", Wait: true, Plan: harness.NewPlan("Day", "say one", "say two", "say three")})
	if err == nil && task.State != "COMPLETED" {
		err = fmt.Errorf("the task to copy is %s", task.State)
	}
	first.stop()
	if err != nil {
		return nil, err
	}
	f.model, f.objectives = strings.TrimPrefix(task.ID, "obj-"), tasks/4
	if err := f.fill(ctx); err != nil {
		return nil, fmt.Errorf("fill the journal: %w", err)
	}
	d := &day{tasks: tasks, client: at.client()}
	for i := range 50 {
		d.ids = append(d.ids, "obj-"+f.id(i*max(1, f.objectives/50)%max(1, f.objectives)))
	}
	if d.server, err = at.start(ctx, "dev"); err != nil {
		return nil, err
	}
	if databases != nil { // the server folds what triggers have counted after some hundred writes
		for round := range dayWrites / daySends {
			if _, err := measureDaySends(ctx, d, -1-round); err != nil {
				return nil, err
			}
		}
		return d, f.vacuum(ctx)
	}
	return d, nil
}

func measureGets(ctx context.Context, d *day, _ int) ([]float64, error) {
	return timed(dayGets, func(i int) error {
		_, err := d.client.Get(ctx, d.ids[i%len(d.ids)])
		return err
	})
}

func measureLists(ctx context.Context, d *day, _ int) ([]float64, error) {
	return timed(dayLists, func(int) error {
		_, err := d.client.List(ctx, map[string]any{"pageSize": 50})
		return err
	})
}

func measureDaySends(ctx context.Context, d *day, round int) (took []float64, err error) {
	for i := range daySends {
		var id string
		one, err := timed(1, func(int) (err error) {
			id, err = sendOne(ctx, d.client, fmt.Sprintf("day-%d-%d", round, i))
			return err
		})
		if err == nil {
			err = untilEnded(ctx, d.client, id)
		}
		if err != nil {
			return nil, err
		}
		took = append(took, one...)
	}
	return took, nil
}

// A filling copies the rows of one objective of a journal.
type filling struct {
	dialect
	url        string
	model      string // the part of its ids that other objectives have another of
	objectives int
}

// A dialect is how a filling speaks to a database.
type dialect struct {
	driver  string
	columns string // a query for the names and types of the columns of a table
	copy    string // a row with the columns id and ago, from the parameters
}

var (
	inSQLite     = dialect{"sqlite", "SELECT name, lower(type) FROM pragma_table_info($1)", "(SELECT $1 AS id, $2 AS ago)"}
	inPostgreSQL = dialect{
		"pgx", "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $1 AND table_schema = current_schema()",
		"(SELECT $1::text AS id, $2::bigint AS ago)",
	}
)

// copied are the tables that are copied, with their columns that hold times.
var copied = []struct {
	table string
	times []string
}{
	{"objectives", []string{"created_at", "updated_at"}}, {"plans", []string{"updated_at"}}, {"tasks", []string{"status_at"}}, {"messages", nil}, {"artifacts", nil},
}

// id returns the part of the ids of one copy. It is spread over the index, as random
// ones are.
func (f filling) id(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz234567"
	x := uint64(n+1) * 0x9e3779b97f4a7c15
	id := make([]byte, len(f.model))
	for i := range id {
		id[i] = letters[x&31]
		if x >>= 5; x == 0 {
			x = uint64(n + i + 7)
		}
	}
	return fmt.Sprintf("%s%07d", id[:max(0, len(id)-7)], n)
}

// fill copies until there are enough. The copies are spread over the last day.
func (f filling) fill(ctx context.Context) error {
	db, err := sql.Open(f.driver, f.url)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var statements []string
	for _, c := range copied {
		statement, err := f.statement(ctx, db, c.table, c.times)
		if err != nil {
			return fmt.Errorf("%s: %w", c.table, err)
		}
		statements = append(statements, statement)
	}
	apart := (24 * time.Hour).Milliseconds() / int64(max(1, f.objectives))
	for from := 0; from < f.objectives; from += fillStep {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		for n := from; n < min(from+fillStep, f.objectives); n++ {
			for _, statement := range statements {
				if _, err := tx.ExecContext(ctx, statement, f.id(n), int64(n)*apart); err != nil {
					return errors.Join(err, tx.Rollback())
				}
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, "ANALYZE")
	return err
}

// vacuum does at once what PostgreSQL does every minute: it removes the rows that were folded.
// Without it there would be a million of them, as on no real day.
func (f filling) vacuum(ctx context.Context) error {
	db, err := sql.Open(f.driver, f.url)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM ANALYZE")
	return errors.Join(err, db.Close())
}

// statement copies the rows of the model in one table: with another id in every text,
// and times that are as much earlier as the second argument says.
func (f filling) statement(ctx context.Context, db *sql.DB, table string, times []string) (string, error) {
	rows, err := db.QueryContext(ctx, f.columns, table)
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }()
	var names, values []string
	key := "id"
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			return "", err
		}
		names = append(names, name)
		switch {
		case slices.Contains(times, name):
			values = append(values, "m."+name+" - c.ago")
		case kind == "text":
			values = append(values, fmt.Sprintf("replace(m.%s, '%s', c.id)", name, f.model))
		default:
			values = append(values, "m."+name)
		}
		if name == "objective_id" {
			key = name
		}
	}
	if err := rows.Err(); err != nil {
		return "", err
	}
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s AS m, %s AS c WHERE m.%s = 'obj-%s'",
		table, strings.Join(names, ", "), strings.Join(values, ", "), table, f.copy, key, f.model), nil
}
