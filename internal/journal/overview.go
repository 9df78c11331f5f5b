package journal

import (
	"context"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/shown"
)

const hour = 3_600_000 // milliseconds

// Overview counts the work of a tenant: the open objectives, and the attempts at
// objectives that have ended since a time; an objective that was retried counts more than
// once. It reads indexes: the cost grows with these attempts, not with the journal.
func (j objectiveFinder) Overview(ctx context.Context, tenant string, since a2a.Time) (shown.Overview, error) {
	return db.InSnapshot(ctx, j.db, func(c *db.Conn) (shown.Overview, error) {
		v, s := shown.Overview{Open: map[opt.ObjectiveStatus]int{}}, db.Steps{C: c}
		s.Each("SELECT status, COUNT(*) FROM "+objectiveSubject.open(c.Dialect)+" GROUP BY status", db.Args{tenant}, func(row db.Scanner) error {
			var status opt.ObjectiveStatus
			var n int
			err := row.Scan(&status, &n)
			v.Open[status] = n
			return err
		})
		var oldest int64
		s.Get("SELECT COUNT(*), COALESCE(MIN(status_at), 0) FROM "+openGates(c.Dialect), db.Args{tenant}, &v.Gates, &oldest)
		v.Oldest = a2a.AtMillis(oldest)
		v.Ended = db.Rows(&s, "SELECT status_at / $3, shown, COUNT(*) FROM tasks"+c.Dialect.IndexedBy("tasks_ended_roots")+`
			WHERE tenant = $1 AND length(plan_id) = 0 AND ended = 1 AND status_at >= $2 GROUP BY 1, 2 ORDER BY 1, 2`, db.Args{tenant, since.Millis(), hour}, func(row db.Scanner) (e shown.EndedHour, err error) {
			var at int64
			err = row.Scan(&at, &e.State, &e.N)
			e.At = a2a.AtMillis(at * hour)
			return e, err
		})
		return v, s.Err
	})
}
