package activities

import (
	"context"
	"time"

	"longhaul/opt"
)

// An Observer receives what the executors of a worker do, for its metrics. Many
// goroutines call it at once.
type Observer interface {
	Ran(executor, outcome string, took time.Duration)
	Running(executor string, change int) // of the number of tasks
	Waiting(executor string, change int) // of the number of tasks, for the limit of the executor
	Exceeded(quota string)               // by a task or notice, which waits
}

// observeExecutors returns the executors of a worker, observed.
func observeExecutors(executors map[string]Executor, to Observer) map[string]Executor {
	out := make(map[string]Executor, len(executors))
	for kind, e := range executors {
		out[kind] = measuredExecutor{e, kind, to}
	}
	return out
}

// measuredExecutor is an executor that reports its runs to an observer.
type measuredExecutor struct {
	Executor
	kind string
	to   Observer
}

// Execute implements [Executor].
func (m measuredExecutor) Execute(ctx context.Context, w Work, stream Stream) (out Outcome, err error) {
	began, outcome := time.Now(), "panic"
	m.to.Running(m.kind, 1)
	defer func() {
		m.to.Running(m.kind, -1)
		m.to.Ran(m.kind, outcome, time.Since(began))
	}()
	out, err = m.Executor.Execute(ctx, w, stream)
	switch {
	case err != nil && isStopping(ctx):
		outcome = "handed-back"
	case err != nil && ctx.Err() != nil:
		outcome = "canceled"
	case err != nil:
		outcome = "error"
	case out.State == opt.TaskWorking:
		outcome = "leg" // the task continues in another one
	default:
		outcome = string(out.State)
	}
	return out, err
}

type unobserved struct{}

func (unobserved) Ran(string, string, time.Duration) {}
func (unobserved) Running(string, int)               {}
func (unobserved) Waiting(string, int)               {}
func (unobserved) Exceeded(string)                   {}
