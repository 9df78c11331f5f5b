package activities

import "context"

// A Lender has the slots of a worker.
type Lender interface {
	// Lend gives the slot of a task to another one until retake is called.
	Lend() (retake func())
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
	if l.slots != nil {
		defer l.slots.Lend()()
	}
	var err error
	select {
	case <-permit.free:
		return nil
	case <-stopSignal(ctx):
		err = errStopped()
	case <-ctx.Done():
		err = ctx.Err()
	}
	l.permits.withdraw(permit)
	return err
}
