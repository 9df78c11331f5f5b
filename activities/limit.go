package activities

import "context"

// A Lender has the places for running activities in a worker.
type Lender interface {
	// Lend gives the place of a task to another one until retake is called.
	Lend() (retake func())
}

// limited is an executor that runs a limited number of tasks at a time in this process.
// Others wait: they keep their worker, as a heartbeat says, but not their slot. The wait
// is part of the time that an attempt may take.
type limited struct {
	Executor
	kind    string
	running chan struct{} // has room for as many as may run
	slots   Lender        // nil: tasks that wait keep their slots
	to      Observer
}

// Execute implements [Executor].
func (l limited) Execute(ctx context.Context, w Work, out Stream) (Outcome, error) {
	if err := l.enter(ctx); err != nil {
		return Outcome{}, err
	}
	defer func() { <-l.running }()
	return l.Executor.Execute(ctx, w, out)
}

// enter waits until one more task may run.
func (l limited) enter(ctx context.Context) error {
	select {
	case l.running <- struct{}{}:
		return nil
	default:
	}
	l.to.Waiting(l.kind, 1)
	defer l.to.Waiting(l.kind, -1)
	if l.slots != nil {
		defer l.slots.Lend()()
	}
	select {
	case l.running <- struct{}{}:
		return nil
	case <-stops(ctx):
		return errStopped()
	case <-ctx.Done():
		return ctx.Err()
	}
}
