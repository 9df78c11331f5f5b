package cost

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

const (
	bareQueue     = "bare"
	askedActivity = "asked"
	endedActivity = "ended"
	answerSignal  = "answer"
	gatedSuffix   = "-gated" // of the id of a child that waits for an answer
)

// Bare is Temporal without Longhaul: workflows with a child workflow each, whose activities do
// nothing.
type Bare struct {
	Log Log

	client client.Client
	worker worker.Worker
	n      atomic.Int64 // of the last workflow
	works  sync.Map     // of *BareWork that have not ended, by id
}

// StartBare starts a worker for bare workflows on the Temporal server at addr.
func StartBare(addr string) (*Bare, error) {
	b := &Bare{}
	options := client.Options{HostPort: addr, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))}
	options.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	b.Log.Adjust(&options)
	var err error
	if b.client, err = client.Dial(options); err != nil {
		return nil, fmt.Errorf("dial Temporal: %w", err)
	}
	b.worker = worker.New(b.client, bareQueue, worker.Options{})
	b.worker.RegisterWorkflow(bareObjective)
	b.worker.RegisterWorkflow(barePlan)
	b.worker.RegisterWorkflow(bareGate)
	b.worker.RegisterWorkflow(bareGated)
	b.worker.RegisterActivity(bareTask)
	b.worker.RegisterActivityWithOptions(b.onAsked, activity.RegisterOptions{Name: askedActivity})
	b.worker.RegisterActivityWithOptions(b.onEnded, activity.RegisterOptions{Name: endedActivity})
	if err := b.worker.Start(); err != nil {
		b.client.Close()
		return nil, fmt.Errorf("start bare worker: %w", err)
	}
	return b, nil
}

// Stop stops the worker.
func (b *Bare) Stop() {
	b.worker.Stop()
	b.client.Close()
}

// Once runs one workflow with three activities until its end.
func (b *Bare) Once(ctx context.Context) error {
	w, err := b.start(ctx, bareObjective)
	if err != nil {
		return err
	}
	return w.End(ctx)
}

// Gate starts a workflow whose child runs an activity, waits for an answer and runs another one.
func (b *Bare) Gate(ctx context.Context) (*BareWork, error) { return b.start(ctx, bareGate) }

// BareWork is one workflow. It announces its end: the long poll of WorkflowRun.Get sometimes
// misses that and then waits for seconds.
type BareWork struct {
	bare         *Bare
	id           string
	asked, ended chan struct{} // closed
}

func (b *Bare) start(ctx context.Context, workflow any) (*BareWork, error) {
	w := &BareWork{bare: b, id: "bare-" + strconv.FormatInt(b.n.Add(1), 10), asked: make(chan struct{}), ended: make(chan struct{})}
	b.works.Store(w.id, w)
	options := client.StartWorkflowOptions{ID: w.id, TaskQueue: bareQueue, EnableEagerStart: true, WorkflowTaskTimeout: 5 * time.Second}
	_, err := b.client.ExecuteWorkflow(ctx, options, workflow)
	return w, err
}

// Asked waits until w asks.
func (w *BareWork) Asked(ctx context.Context) error { return until(ctx, w.asked) }

// Answer answers w.
func (w *BareWork) Answer(ctx context.Context) error {
	return w.bare.client.SignalWorkflow(ctx, w.id+gatedSuffix, "", answerSignal, nil)
}

// End waits for the end of w.
func (w *BareWork) End(ctx context.Context) error { return until(ctx, w.ended) }

func until(ctx context.Context, closed <-chan struct{}) error {
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// onAsked announces that a workflow asks.
func (b *Bare) onAsked(_ context.Context, child string) error {
	if w, ok := b.works.Load(strings.TrimSuffix(child, gatedSuffix)); ok {
		close(w.(*BareWork).asked)
	}
	return nil
}

// onEnded announces the end of a workflow. It runs as a local activity, which
// costs no request.
func (b *Bare) onEnded(_ context.Context, id string) error {
	if w, ok := b.works.LoadAndDelete(id); ok {
		close(w.(*BareWork).ended)
	}
	return nil
}

func bareObjective(ctx workflow.Context) error { return parent(ctx, barePlan) }

func bareGate(ctx workflow.Context) error {
	id := workflow.GetInfo(ctx).WorkflowExecution.ID + gatedSuffix
	return parent(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: id}), bareGated)
}

// parent runs a child and announces the end.
func parent(ctx workflow.Context, child any) error {
	if err := workflow.ExecuteChildWorkflow(ctx, child).Get(ctx, nil); err != nil {
		return err
	}
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Second})
	return workflow.ExecuteLocalActivity(local, endedActivity, workflow.GetInfo(ctx).WorkflowExecution.ID).Get(ctx, nil)
}

func barePlan(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	for range 3 {
		if err := workflow.ExecuteActivity(ctx, bareTask).Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

func bareGated(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	if err := workflow.ExecuteActivity(ctx, askedActivity, workflow.GetInfo(ctx).WorkflowExecution.ID).Get(ctx, nil); err != nil {
		return err
	}
	workflow.GetSignalChannel(ctx, answerSignal).Receive(ctx, nil)
	return workflow.ExecuteActivity(ctx, bareTask).Get(ctx, nil)
}

func bareTask(context.Context) error { return nil }
