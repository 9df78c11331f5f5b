package activities

import (
	"context"
	"time"
)

// A Lender has the slots of a worker.
type Lender interface {
	// Lend gives the slot of a task to another one until retake is called.
	Lend() (retake func())
	// Crowded reports whether no slot is free since more tasks wait than may lend theirs.
	Crowded() bool
}

// limitedExecutor is an executor that runs a limited number of tasks at a time in this process.
// Others wait: they keep their worker, as a heartbeat says, but not their slot. The wait
// is part of the time that an attempt may take.
type limitedExecutor struct {
	Executor
	kind    string
	permits *permits
	slots   Lender // nil: tasks that wait keep their slots
	to      Observer
}

// Execute implements [Executor].
func (l limitedExecutor) Execute(ctx context.Context, w Work, out Stream) (Outcome, error) {
	if err := l.acquire(ctx, w.Tenant); err != nil {
		return Outcome{}, err
	}
	defer l.permits.release()
	return l.Executor.Execute(ctx, w, out)
}

// acquire waits for a permit to run a task of a tenant.
func (l limitedExecutor) acquire(ctx context.Context, tenant string) error {
	permit := l.permits.acquire(tenant)
	if permit == nil {
		return nil
	}
	l.to.Waiting(l.kind, 1)
	defer l.to.Waiting(l.kind, -1)
	return l.permits.wait(ctx, permit, l.slots, nil)
}

// waitTick is how often a task that waits asks whether it is sent back.
const waitTick = 500 * time.Millisecond

// wait waits until a task gets its permit, without its slot. It withdraws the permit with an
// error when ctx ends, the worker stops, or isSentBack says so; nil never does.
func (p *permits) wait(ctx context.Context, permit *permit, slots Lender, isSentBack func() bool) error {
	if slots != nil {
		defer slots.Lend()()
	}
	var tick <-chan time.Time
	if isSentBack != nil {
		ticker := time.NewTicker(waitTick)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		var err error
		select {
		case <-permit.free:
			return nil
		case <-stopSignal(ctx):
			err = errStopped()
		case <-ctx.Done():
			err = ctx.Err()
		case <-tick:
			if !isSentBack() {
				continue
			}
			err = errQuota(ctx)
		}
		p.withdraw(permit)
		return err
	}
}
