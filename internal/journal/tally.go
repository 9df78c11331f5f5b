package journal

import (
	"context"
	"errors"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// A subject is a table whose rows are counted by state. Triggers count the rows in states
// that are not open in the table tallies (migrations/0008_tallies.sql has the same states).
type subject struct {
	table, state, index string
	open                []string
}

var (
	taskSubject = subject{
		table: "tasks", state: "shown", index: "tasks_by_state",
		open: []string{string(a2a.Submitted), string(a2a.Working), string(a2a.InputRequired), string(a2a.AuthRequired)},
	}
	objectiveSubject = subject{
		table: "objectives", state: "status", index: "objectives_by_status",
		open: []string{string(opt.ObjectiveSubmitted), string(opt.ObjectivePlanning), string(opt.ObjectiveWorking), string(opt.ObjectiveBlocked)},
	}
)

// openCondition returns the condition for rows that are counted one by one.
func (s subject) openCondition() string {
	return s.state + " IN ('" + strings.Join(s.open, "', '") + "')"
}

// talliedCount returns an expression for the number of rows of tenant $1 in tallies.
func (s subject) talliedCount(and string) string {
	where := " WHERE tenant = $1 AND subject = '" + s.table + "'" + and
	return "(SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM tallies" + where + ") + (SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM tally_changes" + where + ")"
}

// count returns how many rows a tenant has, in a state unless that is "".
func (s subject) count(c *conn, tenant, state string) (n int, err error) {
	one := "(SELECT COUNT(*) FROM " + s.table + indexedBy(s.index) + " WHERE tenant = $1 AND "
	switch {
	case state == "":
		_, err = c.get("SELECT "+s.talliedCount("")+" + "+one+s.openCondition()+")", args{tenant}, &n)
	case slices.Contains(s.open, state):
		_, err = c.get("SELECT "+one+s.state+" = $2)", args{tenant, state}, &n)
	default:
		_, err = c.get("SELECT "+s.talliedCount(" AND state = $2"), args{tenant, state}, &n)
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
func (j maintenance) Miscounts(ctx context.Context) (list []Miscount, err error) {
	err = j.withUnlimitedConn(ctx, func(c *conn) error {
		return c.each("SELECT tenant, subject, state, tallied, counted FROM "+miscounts+" ORDER BY tenant, subject, state", nil, func(row scanner) error {
			var m Miscount
			err := row.Scan(&m.Tenant, &m.Subject, &m.State, &m.Tallied, &m.Counted)
			list = append(list, m)
			return err
		})
	})
	return list, err
}

// Recount corrects the tallies of all tenants, and returns how many were wrong. Others
// may write meanwhile: it adds the difference that one statement finds.
func (j maintenance) Recount(ctx context.Context) (wrong int64, err error) {
	err = j.withUnlimitedConn(ctx, func(c *conn) (err error) {
		if err = j.db.begin(c, []string{tallyLock}); err != nil {
			return err
		}
		wrong, err = c.exec("INSERT INTO tally_changes (tenant, subject, state, n) SELECT tenant, subject, state, counted - tallied FROM " + miscounts)
		if err == nil {
			return j.db.commit(c)
		}
		_, _ = c.exec("ROLLBACK") // the first error is the cause
		return err
	})
	return wrong, err
}

// withUnlimitedConn calls f with a connection of its own, whose statements may take long.
func (j maintenance) withUnlimitedConn(ctx context.Context, f func(*conn) error) error {
	c, err := j.db.connect(ctx, checkpointing)
	if err != nil {
		return err
	}
	if err = j.db.unlimited(c); err == nil {
		err = f(c)
	}
	return j.db.failure(errors.Join(err, c.close()))
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

// endedQuery returns a query that counts the rows that are not open.
func (s subject) endedQuery() string {
	return "SELECT tenant, '" + s.table + "', " + s.state + ", 0, COUNT(*) FROM " + s.table + " WHERE NOT " + s.openCondition() + " GROUP BY tenant, " + s.state
}
