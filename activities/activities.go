// Package activities holds what Longhaul does in the world: run a task, make a
// plan, record what happened. Its interfaces are where users plug in their own
// work. An activity may run again after a crash, so each says what a second run
// does.
package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.uber.org/zap"

	"longhaul/opt"
)

// A Recorder writes events where readers find them. Recording a batch again
// changes nothing.
type Recorder interface {
	Record(ctx context.Context, b opt.Batch) error
}

// Config says what the activities work with.
type Config struct {
	Executors map[string]Executor
	Default   string // the executor of tasks that name none
	Planner   Planner
	Recorder  Recorder
	Purger    Purger                         // nil for a worker that cannot purge
	Tasks     TaskReader                     // those that may stand in for others
	Watch     func(objectiveID string) Watch // of what Tasks reads
	Log       *zap.Logger                    // nil discards logs
}

// Activities are the activities of a worker. Workflows name them by method.
type Activities struct{ cfg Config }

// New returns activities that work with cfg.
func New(cfg Config) *Activities {
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	return &Activities{cfg}
}

// ErrNoPlan is wrapped by a planner that will never have a plan for a request.
var ErrNoPlan = errors.New("no plan")

// Record writes b to the journal. A second run changes nothing.
func (a *Activities) Record(ctx context.Context, b opt.Batch) error {
	return a.cfg.Recorder.Record(ctx, b)
}

// Plan asks the planner for plans. A second run asks again.
func (a *Activities) Plan(ctx context.Context, r Request) (plans []opt.PlanSpec, err error) {
	defer a.recoverPanic("planner", int(attempt(ctx)), &err)
	stop := beat(ctx)
	defer stop()
	plans, err = a.cfg.Planner.Plan(ctx, r)
	if errors.Is(err, ErrNoPlan) {
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), NoPlanError, nil)
	}
	return plans, err
}

// Run lets an executor do w. A second run, after a crash or an error, does it
// again with the same key.
func (a *Activities) Run(ctx context.Context, w Work) (out Outcome, err error) {
	kind := w.executor(a.cfg.Default)
	executor, ok := a.cfg.Executors[kind]
	if !ok {
		return Failed("unknown-executor", fmt.Sprintf("No worker here runs tasks of kind %q.", kind)), nil
	}
	if w.Input, err = w.filled(); err != nil {
		return Failed("invalid-input", fmt.Sprintf("The input of the task cannot be filled in: %v.", err)), nil
	}
	nth := int(attempt(ctx))
	w.Attempt += nth // w counts those of earlier rounds
	defer a.recoverPanic(kind, w.Attempt, &err)
	stop := beat(ctx)
	defer stop()
	stream := newStream(ctx, a.cfg.Recorder, w)
	defer stream.stop()
	if nth > 1 {
		stream.begin(ctx)
	}
	out, err = executor.Execute(ctx, w, stream)
	switch {
	case err != nil && ctx.Err() != nil:
		return Outcome{}, ctx.Err() // Temporal knows a cancellation by it
	case err != nil:
		return Outcome{}, failure(err, w.Attempt)
	}
	return stream.finish(ctx, out)
}

func (w Work) executor(fallback string) string {
	if w.Executor == "" {
		return fallback
	}
	return w.Executor
}

// recoverPanic turns a panic of somebody's code into an error that tells a
// client nothing; the log has the rest.
func (a *Activities) recoverPanic(who string, attempt int, err *error) {
	if p := recover(); p != nil {
		a.cfg.Log.Error("Recovered a panic", zap.String("in", who), zap.Any("panic", p), zap.Stack("stack"))
		*err = failed(PanicError, "The task stopped unexpectedly.", attempt)
	}
}

const beatEvery = time.Second
