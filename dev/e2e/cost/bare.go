package cost

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
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
	endedActivity = "ended"
)

// Bare is Temporal without Longhaul: a workflow, a child workflow and three
// activities that do nothing.
type Bare struct {
	Log Log

	client client.Client
	worker worker.Worker
	n      atomic.Int64 // of the last workflow
	ended  sync.Map     // of channels, by workflow id
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
	b.worker.RegisterActivity(bareTask)
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

// Once runs one workflow until it announces its end. It does not use
// WorkflowRun.Get, whose long poll sometimes misses an end and then waits for
// seconds.
func (b *Bare) Once(ctx context.Context) error {
	id := "bare-" + strconv.FormatInt(b.n.Add(1), 10)
	ended := make(chan struct{})
	b.ended.Store(id, ended)
	options := client.StartWorkflowOptions{ID: id, TaskQueue: bareQueue, EnableEagerStart: true, WorkflowTaskTimeout: 5 * time.Second}
	if _, err := b.client.ExecuteWorkflow(ctx, options, bareObjective); err != nil {
		return err
	}
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// onEnded announces the end of a workflow. It runs as a local activity, which
// costs no request.
func (b *Bare) onEnded(_ context.Context, id string) error {
	if ended, ok := b.ended.LoadAndDelete(id); ok {
		close(ended.(chan struct{}))
	}
	return nil
}

func bareObjective(ctx workflow.Context) error {
	if err := workflow.ExecuteChildWorkflow(ctx, barePlan).Get(ctx, nil); err != nil {
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

func bareTask(context.Context) error { return nil }
