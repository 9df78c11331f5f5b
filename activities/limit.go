package activities

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"

	"longhaul/opt/access"
)

// A Lender has the slots of a worker.
type Lender interface {
	// Lend gives the slot of a task to another one until retake is called.
	Lend() (retake func())
	// Crowded reports whether no slot is free since more tasks wait than may lend theirs.
	Crowded() bool
}

// A Usage returns how much of an [access.Spending] a tenant, or one of its contexts, has used.
type Usage interface {
	Usage(ctx context.Context, tenant, contextID string, q access.Quota) (int64, error)
}

// A limiter has tasks wait until they may run in this worker: for the limit of their executor and
// the quota of their tenant. They keep their worker, as a heartbeat says, but not their slot. The
// wait is part of the time that an attempt may take. One for the quota is not long, so that
// attempts have their time; and one task after another is sent back while so many wait that the
// worker has no slot for the tasks of others. The plan queues them again.
type limiter struct {
	permits *permits
	quotas  access.Quotas
	usage   Usage  // nil: what work has used limits no task
	slots   Lender // nil: tasks that wait keep their slots
	to      Observer

	mu   sync.Mutex
	room time.Time // when the latest task made room for others
}

const (
	waitTick   = 500 * time.Millisecond // how often a task that waits asks whether it is sent back
	tenantWait = time.Minute            // that it waits for the quota in the worker at most: a part of its time
	roomEvery  = 250 * time.Millisecond // between tasks that make room for others
)

func newLimiter(cfg Config) *limiter {
	return &limiter{permits: newPermits(cfg.Limits), quotas: cfg.Quotas, usage: cfg.Usage, slots: cfg.Slots, to: cfg.Observer}
}

// acquire waits until a task may run in an executor of a kind. It may until release is called.
func (l *limiter) acquire(ctx context.Context, beats *heartbeats, kind string, in RunInput) (release func(), err error) {
	w := in.Work
	if !in.Collects && !w.Cancel { // what ends work, or takes its results in, uses nothing more
		if err := l.spent(ctx, w.Tenant, w.ContextID); err != nil {
			return nil, err
		}
	}
	quota := 0
	if !w.Cancel { // what cancels work elsewhere does not wait for other work of the tenant
		quota = int(l.quotas.Limit(w.Tenant, access.RunningTasks))
	}
	p := l.permits.acquire(kind, holder{w.Tenant, w.Cancel}, quota)
	release = func() { l.permits.release(p) }
	limited, exceeded := l.permits.lacks(p)
	if !limited && !exceeded {
		return release, nil
	}
	if limited {
		l.to.Waiting(kind, 1)
		defer l.to.Waiting(kind, -1)
	}
	if exceeded {
		l.to.Exceeded(string(access.RunningTasks))
	}
	began := time.Now()
	beats.show(func() Progress { return Progress{Task: w.Name, Attempt: w.Attempt, Since: began} })
	if err := l.wait(ctx, p, quota); err != nil {
		l.permits.withdraw(p)
		return nil, err
	}
	return release, nil
}

// spent returns the error of a step whose tenant or context has used what a quota allows of some kinds, all for none, or
// for which that cannot be read now. The step is sent back, again and again, until there is room.
func (l *limiter) spent(ctx context.Context, tenant, contextID string, kinds ...string) error {
	if l.usage == nil {
		return nil
	}
	limited := l.quotas.Spent(tenant)
	if len(kinds) > 0 {
		limited = slices.DeleteFunc(limited, func(s access.Spending) bool { return !slices.Contains(kinds, s.Kind) })
	}
	uses, err := l.quotas.Uses(tenant, limited, time.Now(), func(q access.Quota) (int64, error) { return l.usage.Usage(ctx, tenant, contextID, q) })
	switch u, full := access.Longest(uses); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return errQuota(ctx, "What counts for a quota cannot be read.")
	case full:
		l.to.Exceeded(string(u.Quota))
		return errQuota(ctx, "The quota "+string(u.Quota)+" is used up.", u.Wait())
	}
	return nil
}

// wait waits until a task gets its permit, without its slot. Its tenant may run as many as quota. It returns an
// error when ctx ends, the worker stops, or the task is sent back.
func (l *limiter) wait(ctx context.Context, p *permit, quota int) error {
	if l.slots != nil {
		defer l.slots.Lend()()
	}
	ticker := time.NewTicker(waitTick)
	defer ticker.Stop()
	most := quotaWait(ctx)
	since := time.Now() // that it has waited for the quota
	for {
		select {
		case <-p.free:
			return nil
		case <-stopSignal(ctx):
			return errStopped()
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		switch _, exceeded := l.permits.lacks(p); {
		case !exceeded:
			since = time.Now()
		case time.Since(since) >= most || l.makesRoom():
			return errQuota(ctx, "The tenant runs as many tasks here as it may.",
				fmt.Sprintf("Waits for the quota %s of the tenant: %d of %d used in a worker, until one of its tasks ends.", access.RunningTasks, quota, quota))
		}
	}
}

// quotaWait returns how long an attempt waits for the quota: not for most of its time.
func quotaWait(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok {
		return tenantWait
	}
	return min(tenantWait, time.Until(end)/4)
}

// makesRoom reports whether a task that waits should be sent back for the tasks of others.
func (l *limiter) makesRoom() bool {
	if l.slots == nil || !l.slots.Crowded() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.room) < roomEvery {
		return false
	}
	l.room = time.Now()
	return true
}

// errQuota returns the error of a step that is sent back before it begins. Its details are how many earlier runs of the
// activity may have begun, and perhaps a text about the wait for clients.
func errQuota(ctx context.Context, text string, about ...any) error {
	return temporal.NewApplicationError(text, QuotaError, append([]any{try(ctx) - 1}, about...)...)
}
