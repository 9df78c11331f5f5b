package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"

	"longhaul/opt"
)

// tenantPermits are the permits of all tenants with a quota of running tasks in this worker.
// Tasks above it wait, as for the limit of an executor, but not long, so that their attempts
// have their time; and one after another is sent back while so many wait that the worker has no
// slot for the tasks of others. The plan queues them again.
type tenantPermits struct {
	quotas opt.Quotas
	slots  Lender // nil: tasks that wait keep their slots
	to     Observer

	mu   sync.Mutex
	used map[string]*tenantUse
	room time.Time // when the latest task made room for others
}

// A tenantUse has the permits of one tenant.
type tenantUse struct {
	*permits
	tasks int // that run or wait
}

const (
	tenantWait = time.Minute            // that a task waits in the worker at most: a part of its time
	roomEvery  = 250 * time.Millisecond // between tasks that make room for others
)

// acquire waits for a permit for a task of a tenant, which it has until release is called.
func (t *tenantPermits) acquire(ctx context.Context, tenant string) (release func(), err error) {
	limit := t.quotas.Limit(tenant, opt.RunningTasks)
	if limit == 0 {
		return func() {}, nil
	}
	use := t.enter(tenant, int(limit))
	if permit := use.acquire(tenant); permit != nil {
		t.to.Exceeded(string(opt.RunningTasks))
		stop := sendHeartbeats(ctx, nil)
		defer stop()
		most := tenantWait
		if end, ok := ctx.Deadline(); ok {
			most = min(most, time.Until(end)/4)
		}
		began := time.Now()
		isSentBack := func() bool { return time.Since(began) >= most || t.makesRoom() }
		if err := use.wait(ctx, permit, t.slots, isSentBack); err != nil {
			t.drop(tenant)
			return nil, err
		}
	}
	return func() {
		use.release()
		t.drop(tenant)
	}, nil
}

// makesRoom reports whether a task that waits should be sent back for the tasks of others.
func (t *tenantPermits) makesRoom() bool {
	if t.slots == nil || !t.slots.Crowded() {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.room) < roomEvery {
		return false
	}
	t.room = time.Now()
	return true
}

// enter returns the permits of a tenant, of which one more task makes use.
func (t *tenantPermits) enter(tenant string, limit int) *tenantUse {
	t.mu.Lock()
	defer t.mu.Unlock()
	use := t.used[tenant]
	if use == nil {
		use = &tenantUse{permits: newPermits(limit)}
		t.used[tenant] = use
	}
	use.tasks++
	return use
}

// drop forgets the permits of a tenant whose last task has ended.
func (t *tenantPermits) drop(tenant string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.used[tenant].tasks--; t.used[tenant].tasks == 0 {
		delete(t.used, tenant)
	}
}

// errQuota returns the error of a task that is sent back before it begins. Its details are how
// many earlier runs of the activity may have begun.
func errQuota(ctx context.Context) error {
	return temporal.NewApplicationError("The tenant runs as many tasks here as it may.", QuotaError, try(ctx)-1)
}
