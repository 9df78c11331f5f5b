package record

import (
	"longhaul/internal/journal/db"
)

// Leftovers is a query for the objectives that were removed and have rows left.
const Leftovers = "SELECT objective_id FROM leftovers"

// PurgeLock is the lock of those who remove such rows.
const PurgeLock = "purge"

// DependentTables are the tables with the remaining rows of objectives, and how many
// rows are removed at once: few if rows are large.
var DependentTables = []struct {
	Table string
	Most  int
}{{"events", 100}, {"messages", 100}, {"artifacts", 100}, {"answers", 100}, {"sources", 100}, {"deliveries", 100}, {"attempts", 100}, {"decisions", 100}, {"notices", 100}, {"blobs", 20}}

// RemoveRemaining removes some remaining rows of removed objectives; did is false if none
// remain.
func RemoveRemaining(c *db.Conn) (did bool, err error) {
	for _, b := range DependentTables {
		if n, err := c.Exec(RemoveRemainingSQL(c.Dialect, b.Table), b.Most); n > 0 || err != nil {
			return true, err
		}
	}
	n, err := c.Exec("DELETE FROM leftovers")
	return n > 0, err
}

// RemoveAllRemaining removes the remaining rows of an objective, before another objective
// gets its id.
func RemoveAllRemaining(c *db.Conn, id string) error {
	found, err := c.Get("SELECT objective_id FROM leftovers WHERE objective_id = $1", db.Args{id}, &id)
	if err != nil || !found {
		return err
	}
	if err := c.Lock(PurgeLock); err != nil {
		return err
	}
	for _, b := range DependentTables {
		if err := c.Do("DELETE FROM "+b.Table+" WHERE objective_id = $1", id); err != nil {
			return err
		}
	}
	return c.Do("DELETE FROM leftovers WHERE objective_id = $1", id)
}

// RemoveRemainingSQL returns the statement that removes at most $1 remaining rows of
// removed objectives from a table.
func RemoveRemainingSQL(d db.Dialect, table string) string {
	some := "SELECT " + d.Row() + " FROM " + table + " WHERE objective_id " + d.In(Leftovers) + db.LimitParam(1)
	return "DELETE FROM " + table + " WHERE " + d.Row() + " " + d.In(some)
}
