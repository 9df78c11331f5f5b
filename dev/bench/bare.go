package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

const (
	bareQueue     = "bare"
	endedActivity = "ended"
)

// bare is Temporal without us: a workflow, a child workflow, three activities.
type bare struct {
	client   client.Client
	requests requests
	worker   worker.Worker
	n        atomic.Int64
	ended    sync.Map // of channels, by workflow id
}

func startBare(addr string) (*bare, error) {
	b := &bare{}
	options := client.Options{HostPort: addr, Logger: quiet{}}
	options.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	b.requests.count(&options)
	var err error
	if b.client, err = client.Dial(options); err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	b.worker = worker.New(b.client, bareQueue, worker.Options{})
	b.worker.RegisterWorkflow(bareObjective)
	b.worker.RegisterWorkflow(barePlan)
	b.worker.RegisterActivity(bareTask)
	b.worker.RegisterActivityWithOptions(b.bareEnded, activity.RegisterOptions{Name: endedActivity})
	return b, b.worker.Start()
}

func (b *bare) stop() {
	b.worker.Stop()
	b.client.Close()
}

// once runs one workflow to its end, which the workflow itself announces: the
// long poll of WorkflowRun.Get misses an end now and then, and waits for seconds.
func (b *bare) once(ctx context.Context) error {
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

// bareEnded announces the end of a workflow. It runs as a local activity, as the
// last recording of an objective does.
func (b *bare) bareEnded(_ context.Context, id string) error {
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
	var errs []error
	for range 3 {
		errs = append(errs, workflow.ExecuteActivity(ctx, bareTask).Get(ctx, nil))
	}
	return errors.Join(errs...)
}

func bareTask(context.Context) error { return nil }
