package journal

import (
	"context"
	"fmt"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/access"
)

// usage is the part of a Journal that says what tenants use of their quotas.
type usage struct {
	db  *db.Engine
	now func() time.Time
}

// blockSize is the size of a block of the tally of blocks, in bytes. The triggers of the table
// objectives have the same.
const blockSize = 16 << 10

// blocksQuery counts the blocks of each tenant as their tally does.
var blocksQuery = fmt.Sprintf("SELECT tenant, 'blocks', '', 0, SUM(bytes / %d + 1) FROM objectives GROUP BY tenant", blockSize)

// openGates returns the table with the condition for the plan tasks of tenant $1 that wait for people.
func openGates(d db.Dialect) string {
	return "tasks" + d.IndexedBy("tasks_waiting") + " WHERE tenant = $1 AND gate <> '' AND plan_id <> ''"
}

// usageQueries count what tenant $1 uses of quotas. Each reads rows of open work in an index, or
// tallies.
func usageQueries(d db.Dialect) map[access.Quota]string {
	return map[access.Quota]string{
		access.OpenObjectives: "SELECT COUNT(*) FROM " + objectiveSubject.open(d),
		access.OpenGates:      "SELECT COUNT(*) FROM " + openGates(d),
		access.StoredBytes:    "SELECT " + subject{table: "blocks"}.tallied(""),
	}
}

// Usage returns how much of a quota a tenant uses now, or one of its contexts: [access.OpenObjectives],
// [access.OpenGates], [access.StoredBytes] or an [access.Spending]. Bytes are counted in blocks of 16 KiB. Removed
// work counts no more.
func (j usage) Usage(ctx context.Context, tenant, contextID string, q access.Quota) (n int64, err error) {
	if s, ok := q.Spending(); ok {
		return j.spent(ctx, tenant, contextID, s)
	}
	query, ok := usageQueries(j.db.Dialect)[q]
	if !ok {
		return 0, fmt.Errorf("%w: the journal does not count %s", opt.ErrMalformed, q)
	}
	_, err = j.db.Get(ctx, query, db.Args{tenant}, &n)
	if q == access.StoredBytes {
		n *= blockSize
	}
	return n, err
}

// spent returns what the work of a tenant, or of a context, has used in the present period.
func (j usage) spent(ctx context.Context, tenant, contextID string, s access.Spending) (int64, error) {
	where, args := "tenant = $1 AND at >= $2", db.Args{tenant, int64(0)}
	if begin, _ := s.Begins(j.now()); !begin.IsZero() {
		args[1] = begin.UnixMilli()
	}
	if s.Context {
		where, args = where+" AND context_id = $3", append(args, contextID)
	}
	return db.InSnapshot(ctx, j.db, func(c *db.Conn) (int64, error) {
		var u opt.Usage
		err := c.Each("SELECT "+sums+" FROM costs WHERE "+where+" GROUP BY tenant", args, func(row db.Scanner) error { return scanSums(row, &u) })
		return s.Of(u), err
	})
}

// TakeNotice takes a place for the delivery of a notice among those of its tenant in an hour,
// of which there are limit. A repeat within the hour keeps its place. If there is none, ok is
// false, and free is when the next one may be.
func (j usage) TakeNotice(ctx context.Context, tenant, delivery string, limit int64) (free a2a.Time, ok bool, err error) {
	err = j.db.Write(ctx, func(c *db.Conn) error {
		now, s := j.now().UnixMilli(), db.Steps{C: c}
		s.Do("DELETE FROM notice_places WHERE tenant = $1 AND at <= $2", tenant, now-hour)
		var oldest, n int64
		if ok = s.Get("SELECT at FROM notice_places WHERE tenant = $1 AND delivery = $2", db.Args{tenant, delivery}, &oldest); ok {
			return s.Err
		}
		s.Get("SELECT COUNT(*), COALESCE(MIN(at), 0) FROM notice_places WHERE tenant = $1", db.Args{tenant}, &n, &oldest)
		if ok = n < limit; ok {
			s.Do("INSERT INTO notice_places (tenant, delivery, at) VALUES ($1, $2, $3)", tenant, delivery, now)
		} else {
			free = a2a.AtMillis(oldest + hour)
		}
		return s.Err
	}, "notices "+tenant)
	return free, ok, err
}
