package record

import (
	"longhaul/internal/journal/db"
)

// Leftovers is a query for the objectives that were removed and have rows left.
const Leftovers = "SELECT objective_id FROM leftovers"

// PurgeLock is the lock of those who remove such rows.
const PurgeLock = "purge"

// dependentTables are the tables with the remaining rows of objectives, and how many
// rows are removed at once: few if rows are large.
var dependentTables = []struct {
	table string
	most  int
}{{"events", 100}, {"messages", 100}, {"artifacts", 100}, {"answers", 100}, {"sources", 100}, {"deliveries", 100}, {"attempts", 100}, {"decisions", 100}, {"notices", 100}, {"costs", 100}, {"standing_uses", 100}, {"standing_answers", 100}, {"blobs", 20}}

// RemoveRemaining removes some remaining rows of removed objectives; did is false if none
// remain.
func RemoveRemaining(c *db.Conn) (did bool, err error) {
	for _, b := range dependentTables {
		some := "SELECT " + c.Dialect.Row() + " FROM " + b.table + " WHERE objective_id " + c.Dialect.In(Leftovers) + db.LimitParam(1)
		if n, err := c.Exec("DELETE FROM "+b.table+" WHERE "+c.Dialect.Row()+" "+c.Dialect.In(some), b.most); n > 0 || err != nil {
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
	s := db.Steps{C: c, Err: c.Lock(PurgeLock)}
	for _, b := range dependentTables {
		s.Do("DELETE FROM "+b.table+" WHERE objective_id = $1", id)
	}
	s.Do("DELETE FROM leftovers WHERE objective_id = $1", id)
	return s.Err
}
