package journal

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/shown"
)

const (
	hour = 3_600_000 // milliseconds
	day  = 24 * hour

	overviewDays = 30
	mostCounted  = 8 // reasons and contexts
)

// Overview counts the work of a tenant: the open objectives, the tasks that have failed and the
// attempts at objectives that have ended since a time, these also by day for 30 days until
// now; an objective that was retried counts more than once. It reads indexes: the cost grows
// with these attempts, not with the journal.
func (j objectiveFinder) Overview(ctx context.Context, tenant string, since, now a2a.Time) (shown.Overview, error) {
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
		v.Ended = ended(&s, tenant, since.Millis(), hour)
		v.Month = ended(&s, tenant, (now.Millis()/day-overviewDays+1)*day, day)
		v.Failed = counted(&s, "SELECT reason FROM tasks"+c.Dialect.IndexedBy("tasks_failed")+`
			WHERE tenant = $1 AND length(plan_id) > 0 AND state IN ('failed', 'rejected') AND status_at >= $2`, tenant, since.Millis())
		v.Queues = counted(&s, "SELECT context_id FROM objectives"+c.Dialect.IndexedBy("objectives_queued")+" WHERE tenant = $1 AND queued_at <> 0", tenant)
		v.Held = counted(&s, "SELECT context_id FROM tasks"+c.Dialect.IndexedBy("tasks_open")+" WHERE tenant = $1 AND ended = 0 AND shown = $2 AND reason = $3",
			tenant, string(opt.TaskWorking.A2A()), opt.HeldByQuota)
		v.Ages, v.Spent = ages(&s, tenant, now), spent(&s, tenant)
		return v, s.Err
	})
}

// ended returns how many attempts at objectives have ended since a time, in each stretch of so
// many milliseconds.
func ended(s *db.Steps, tenant string, since int64, stretch int) []shown.Ended {
	return db.Rows(s, "SELECT status_at / $3, shown, COUNT(*) FROM tasks"+s.C.Dialect.IndexedBy("tasks_ended_roots")+`
		WHERE tenant = $1 AND length(plan_id) = 0 AND ended = 1 AND status_at >= $2 GROUP BY 1, 2 ORDER BY 1, 2`, db.Args{tenant, since, stretch}, func(row db.Scanner) (e shown.Ended, err error) {
		var at int64
		err = row.Scan(&at, &e.State, &e.N)
		e.At = a2a.AtMillis(at * int64(stretch))
		return e, err
	})
}

// counted counts what the rows of a query name, and returns the most, the highest number
// first.
func counted(s *db.Steps, query string, a ...any) (list []shown.Count) {
	numbers := map[string]int{}
	s.Each(query, a, func(row db.Scanner) error {
		var of string
		err := row.Scan(&of)
		numbers[of]++
		return err
	})
	for of, n := range numbers {
		list = append(list, shown.Count{Of: of, N: n})
	}
	slices.SortFunc(list, func(a, b shown.Count) int { return cmp.Or(b.N-a.N, strings.Compare(a.Of, b.Of)) })
	return list[:min(len(list), mostCounted)]
}

// ages counts the open objectives by their age.
func ages(s *db.Steps, tenant string, now a2a.Time) []shown.Count {
	out := make([]shown.Count, len(shown.AgesOfOpen))
	for i, a := range shown.AgesOfOpen {
		out[i].Of = a.Name
	}
	s.Each("SELECT created_at FROM objectives"+s.C.Dialect.IndexedBy("objectives_open")+" WHERE tenant = $1 AND ended = 0", db.Args{tenant}, func(row db.Scanner) error {
		var at int64
		err := row.Scan(&at)
		age := time.Duration(now.Millis()-at) * time.Millisecond
		i := slices.IndexFunc(shown.AgesOfOpen, func(a shown.AgeOfOpen) bool { return a.Under == 0 || age < a.Under })
		out[i].N++
		return err
	})
	return out
}

// How far back the open objectives are looked for whose budgets are shown.
const (
	latestUses  = 5000
	mostBudgets = 100 // objectives
)

// spent returns what the open objectives that have used something last have used of their budgets.
func spent(s *db.Steps, tenant string) (list []shown.Spending) {
	ids := db.Rows(s, `SELECT CASE WHEN input_tokens + output_tokens + cost + questions + calls > 0 THEN objective_id ELSE '' END
		FROM costs WHERE tenant = $1 ORDER BY at DESC`+db.LimitParam(2), db.Args{tenant, latestUses}, db.ScanID)
	seen := map[string]bool{"": true} // time alone is in no budget
	for _, id := range ids {
		if seen[id] || len(seen) > mostBudgets {
			continue
		}
		seen[id] = true
		if k, ok := spentOf(s, id); ok {
			list = append(list, k)
		}
	}
	slices.SortStableFunc(list, func(a, b shown.Spending) int { return cmp.Compare(b.Share(), a.Share()) })
	return list[:min(len(list), mostCounted)]
}

// spentOf returns what an objective has used; ok is false if it has ended, or has no budget.
func spentOf(s *db.Steps, id string) (k shown.Spending, ok bool) {
	k.ObjectiveID = id
	o := opt.Objective{ID: id}
	if !s.Get("SELECT name FROM objectives WHERE id = $1 AND ended = 0", db.Args{id}, (*db.Content)(&k.Name)) {
		return k, false
	}
	s.Fail(addBudgets(s.C, &o, &opt.Task{}))
	if o.Used.Limit.Time = 0; s.Err == nil && o.Used.Limit != (opt.SpendLimit{}) {
		s.Fail(addUsed(s.C, &o))
		k.Used, ok = o.Used, true
	}
	return k, ok
}
