package db

import "fmt"

// A Dialect has the fragments of statements in which the databases differ. All else in
// statements is written once, for both.
type Dialect struct {
	name   string
	tables string // finds out whether there is a table of migrations
	find   string // the function that returns the place of one text in another, 0 for none
	in     string // compares a column with the results of a query
	row    string // a column that identifies a row
	hint   string // has a query use an index of the table before it
	now    string // the time of the database

	room []string // take new room on its disk for a moment; none where a row does
}

var (
	inSQLite = Dialect{
		name: "sqlite", tables: "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'",
		find: "instr", in: "IN (%s)", row: "rowid", hint: " INDEXED BY %s",
		now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
	}
	inPostgres = Dialect{
		name: "postgres", tables: "SELECT 1 WHERE to_regclass('migrations') IS NOT NULL",
		// With IN it would read the whole table and look for its rows among those of the query.
		find: "strpos", in: "= ANY (ARRAY(%s))", row: "ctid",
		hint: "%.0s", // it has no hints
		now:  "CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS BIGINT)",
		room: []string{"SELECT set_config('work_mem', '64kB', true)", "SELECT COUNT(*) FROM generate_series(1, 10000)"}, // 140 KB in a file of its own
	}
)

// IndexedBy has a query use an index of the table before it, where the planner would not
// find that out.
func (d Dialect) IndexedBy(index string) string { return fmt.Sprintf(d.hint, index) }

// In returns a condition for columns with one of the results of a query.
func (d Dialect) In(query string) string { return fmt.Sprintf(d.in, query) }

// Row returns the name of a column that identifies the rows of a table within a statement.
func (d Dialect) Row() string { return d.row }

// Now returns the time of the database in milliseconds, which is the same for all processes.
func (d Dialect) Now() string { return d.now }

// Contains returns a condition for rows whose content in a column contains parameter n, or is
// sealed. The code that reads them compares the opened content.
func (d Dialect) Contains(column string, n int) string {
	return fmt.Sprintf("(%s(%s, $%d) > 0 OR substr(%s, 1, 1) = '%s')", d.find, column, n, column, MarkStart)
}

// TakeRoom has PostgreSQL take new room on its disk for a moment: a row may find the room that
// deleted ones have left in its table. It does nothing to SQLite.
func TakeRoom(c *Conn) error {
	for _, query := range c.Dialect.room {
		if err := c.Do(query); err != nil {
			return err
		}
	}
	return nil
}

// LimitParam returns a LIMIT clause with the nth parameter of a query. SQLite's planner looks
// into a bare parameter, and so SQLite would prepare the statement again at each run; it
// does not look into a sum.
func LimitParam(n int) string { return fmt.Sprintf(" LIMIT $%d + 0", n) }
