package journal

import (
	"context"

	"longhaul/internal/journal/db"
)

// A subject is a table whose rows are counted by state. Triggers count the rows that have ended
// in the table tallies; the others are counted one by one.
type subject struct{ table, state, index string }

var (
	taskSubject      = subject{table: "tasks", state: "shown", index: "tasks_open"}
	objectiveSubject = subject{table: "objectives", state: "status", index: "objectives_open"}
)

// open returns the table with the condition for the rows of tenant $1 that have not ended.
func (s subject) open(d db.Dialect) string {
	return s.table + d.IndexedBy(s.index) + " WHERE tenant = $1 AND ended = 0"
}

// tallied returns an expression for the number of rows of tenant $1 in tallies.
func (s subject) tallied(and string) string {
	where := " WHERE tenant = $1 AND subject = '" + s.table + "'" + and
	return "(SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM tallies" + where + ") + (SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM tally_changes" + where + ")"
}

// count returns how many rows a tenant has, in a state unless that is "". ended says whether
// rows in it have ended.
func (s subject) count(c *db.Conn, tenant, state string, ended bool) (n int, err error) {
	one := "(SELECT COUNT(*) FROM " + s.open(c.Dialect)
	switch {
	case state == "":
		_, err = c.Get("SELECT "+s.tallied("")+" + "+one+")", db.Args{tenant}, &n)
	case ended:
		_, err = c.Get("SELECT "+s.tallied(" AND state = $2"), db.Args{tenant, state}, &n)
	default:
		_, err = c.Get("SELECT "+one+" AND "+s.state+" = $2)", db.Args{tenant, state}, &n)
	}
	return n, err
}

// A Miscount is a number in the tallies that differs from the number of rows.
type Miscount struct {
	Tenant  string `json:"tenant"`
	Subject string `json:"subject"` // tasks, objectives or blocks
	State   string `json:"state"`
	Tallied int64  `json:"tallied"`
	Counted int64  `json:"counted"`
}

// Miscounts compares the tallies of all tenants with the rows, in one state of the
// journal. There are none unless rows were changed while triggers were off.
func (j Maintenance) Miscounts(ctx context.Context) (list []Miscount, err error) {
	err = j.db.Unlimited(ctx, func(c *db.Conn) (err error) {
		list, err = db.All(c, "SELECT tenant, subject, state, tallied, counted FROM "+miscounts+" ORDER BY tenant, subject, state", nil, func(row db.Scanner) (m Miscount, err error) {
			err = row.Scan(&m.Tenant, &m.Subject, &m.State, &m.Tallied, &m.Counted)
			return m, err
		})
		return err
	})
	return list, err
}

// Recount corrects the tallies of all tenants, and returns how many were wrong. Others
// may write meanwhile: it adds the difference that one statement finds.
func (j Maintenance) Recount(ctx context.Context) (wrong int64, err error) {
	err = j.db.UnlimitedWrite(ctx, func(c *db.Conn) (err error) {
		wrong, err = c.Exec("INSERT INTO tally_changes (tenant, subject, state, n) SELECT tenant, subject, state, counted - tallied FROM " + miscounts)
		return err
	}, "tallies")
	return wrong, err
}

// miscounts is a query for the tallies that are wrong: tenant, subject, state, tallied
// and counted.
var miscounts = `(SELECT tenant, subject, state, CAST(SUM(tallied) AS BIGINT) AS tallied, CAST(SUM(counted) AS BIGINT) AS counted FROM (
		SELECT tenant, subject, state, n AS tallied, 0 AS counted FROM tallies
		UNION ALL SELECT tenant, subject, state, n, 0 FROM tally_changes
		UNION ALL ` + taskSubject.endedQuery() + `
		UNION ALL ` + objectiveSubject.endedQuery() + `
		UNION ALL ` + blocksQuery + `) AS numbers
	GROUP BY tenant, subject, state HAVING SUM(tallied) <> SUM(counted)) AS wrong`

// endedQuery returns a query that counts the rows that have ended.
func (s subject) endedQuery() string {
	return "SELECT tenant, '" + s.table + "', " + s.state + ", 0, COUNT(*) FROM " + s.table + " WHERE ended = 1 GROUP BY tenant, " + s.state
}

// foldTallies moves the changes of tallies into tallies, and does nothing if another
// process does so now. Only rows that it removes itself are added, so no number is added
// twice, and writers and readers do not wait for it.
const foldTallies = `WITH turn AS (SELECT pg_try_advisory_xact_lock($1::bigint) AS mine),
	removed AS (DELETE FROM tally_changes WHERE (SELECT mine FROM turn) RETURNING tenant, subject, state, n)
	INSERT INTO tallies (tenant, subject, state, n) SELECT tenant, subject, state, SUM(n) FROM removed GROUP BY tenant, subject, state
	ON CONFLICT (tenant, subject, state) DO UPDATE SET n = tallies.n + excluded.n`
