package journal

import (
	"context"
	"fmt"
	"sync"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/access"
)

// usage is the part of a Journal that says what tenants use of their quotas.
type usage struct {
	db      *db.Engine
	now     func() time.Time
	settled *settled
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

// Each step of a task asks for the use of work, perhaps of years. So that this reads few rows, those of long ago are
// added up once in a while. Rows that come late, or are removed, count from the next time on.
const (
	settledAfter = 10 * time.Minute
	mostSettled  = 10_000 // sums that are kept
)

// settled has the sums of such rows.
type settled struct {
	mu   sync.Mutex
	sums map[settledKey]*settledSum
}

type settledKey struct {
	tenant, contextID string // contextID is "" for all contexts
	begin             int64
}

// A settledSum is the use from its begin until a time.
type settledSum struct {
	mu    sync.Mutex
	until int64 // 0 before it is read
	used  opt.Usage
}

// of returns the sum for a key, which is kept: that of a context once there is something to add up. Callers may
// name contexts that are none.
func (s *settled) of(k settledKey) *settledSum {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sum := s.sums[k]; sum != nil {
		return sum
	}
	sum := &settledSum{}
	if k.contextID == "" {
		s.add(k, sum)
	}
	return sum
}

// keep keeps the sum for a key, unless there is one.
func (s *settled) keep(k settledKey, sum *settledSum) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sums[k] == nil {
		s.add(k, sum)
	}
}

// add is keep while mu is locked.
func (s *settled) add(k settledKey, sum *settledSum) {
	if s.sums == nil || len(s.sums) >= mostSettled {
		s.sums = map[settledKey]*settledSum{}
	}
	s.sums[k] = sum
}

// spent returns what the work of a tenant, or of a context, has used in the present period.
func (j usage) spent(ctx context.Context, tenant, contextID string, s access.Spending) (int64, error) {
	k, now := settledKey{tenant: tenant}, j.now()
	if begin, _ := s.Begins(now); !begin.IsZero() {
		k.begin = begin.UnixMilli()
	}
	if s.Context {
		k.contextID = contextID
	}
	sum := j.settled.of(k)
	return db.InSnapshot(ctx, j.db, func(c *db.Conn) (int64, error) {
		before, until, err := sum.read(c, k, now.Add(-settledAfter).UnixMilli())
		if err != nil {
			return 0, err
		}
		if !before.IsZero() {
			j.settled.keep(k, sum)
		}
		u, err := k.since(c, until)
		return s.Amount(before.Plus(u)), err
	})
}

// read returns the use until a time about a settledAfter before now, which is that time or as long before it.
func (s *settledSum) read(c *db.Conn, k settledKey, until int64) (opt.Usage, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until = max(until, k.begin); s.until != 0 && until-s.until < settledAfter.Milliseconds() {
		return s.used, s.until, nil
	}
	u, err := k.before(c, until)
	if err == nil {
		s.used, s.until = u, until
	}
	return u, until, err
}

// before adds up the use from the begin until a time: of a context, the rows of its objectives, which may be few of
// those of its tenant.
func (k settledKey) before(c *db.Conn, until int64) (u opt.Usage, err error) {
	where, args := "tenant = $1", db.Args{k.tenant, k.begin, until}
	if k.contextID != "" {
		where, args = "objective_id "+c.Dialect.In("SELECT id FROM objectives WHERE tenant = $1 AND context_id = $4"), append(args, k.contextID)
	}
	return used(c, where+" AND at >= $2 AND at < $3", args)
}

// since adds up the use from a time on: rows of the tenant of some minutes, however many its contexts have in all.
func (k settledKey) since(c *db.Conn, from int64) (opt.Usage, error) {
	where, args := "tenant = $1 AND at >= $2", db.Args{k.tenant, from}
	if k.contextID != "" {
		where, args = where+" AND context_id = $3", append(args, k.contextID)
	}
	return used(c, where, args)
}

// used adds up the use in some rows.
func used(c *db.Conn, where string, args db.Args) (u opt.Usage, err error) {
	err = c.Each("SELECT "+sums+" FROM costs WHERE "+where+" HAVING COUNT(*) > 0", args, func(row db.Scanner) error {
		return scanSums(row, &u)
	})
	return u, err
}
