package lease

import (
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"longhaul/activities"
)

const (
	giveBackLimit  = 5 * time.Second // for one call
	giveBackAtOnce = 8
	identity       = "longhaul-lease" // in the histories
)

// giveBack has other workers do what a lost one had taken: first it makes its sticky queues
// known as lost, so that no workflow waits there for it, then it fails what it had begun. All of it is
// tried, and the error says that some of it has to be tried again.
func (k *Keeper) giveBack(ctx context.Context, entries []Entry) error {
	var begun []Entry
	var errs []error
	for _, e := range entries {
		if e.Kind == stickyQueue {
			errs = append(errs, k.giveBackOne(ctx, e))
		} else {
			begun = append(begun, e)
		}
	}
	if err := errors.Join(append(errs, k.giveBackAll(ctx, begun)...)...); err != nil {
		return err
	}
	if k.Lost != nil {
		k.Lost()
	}
	if len(begun) > 0 {
		k.Log.Warn("A worker was lost: its work was given back", zap.Int("tasks", len(begun)))
	}
	return nil
}

func (k *Keeper) giveBackAll(ctx context.Context, entries []Entry) []error {
	errs := make([]error, len(entries))
	var running errgroup.Group
	running.SetLimit(giveBackAtOnce)
	for i, e := range entries {
		running.Go(func() error {
			errs[i] = k.giveBackOne(ctx, e)
			return nil
		})
	}
	_ = running.Wait() // errs has them
	return errs
}

// giveBackOne returns an error if it is worth another try. Temporal refuses work that has ended.
func (k *Keeper) giveBackOne(ctx context.Context, e Entry) (err error) {
	ctx, end := context.WithTimeout(ctx, giveBackLimit)
	defer end()
	switch e.Kind {
	case stickyQueue:
		_, err = k.Temporal.ShutdownWorker(ctx, &workflowservice.ShutdownWorkerRequest{
			Namespace: k.Namespace, StickyTaskQueue: e.Value, Identity: identity, Reason: lostText,
		})
	case workflowTask:
		_, err = k.Temporal.RespondWorkflowTaskFailed(ctx, &workflowservice.RespondWorkflowTaskFailedRequest{
			Namespace: k.Namespace, TaskToken: []byte(e.Value), Identity: identity,
			Cause: enumspb.WORKFLOW_TASK_FAILED_CAUSE_RESET_STICKY_TASK_QUEUE, Failure: lost(),
		})
	case activityTask:
		_, err = k.Temporal.RespondActivityTaskFailed(ctx, &workflowservice.RespondActivityTaskFailedRequest{
			Namespace: k.Namespace, TaskToken: []byte(e.Value), Identity: identity, Failure: lost(),
		})
	}
	switch serviceerror.ToStatus(err).Code() {
	case codes.Unavailable, codes.ResourceExhausted, codes.DeadlineExceeded, codes.Canceled, codes.Aborted, codes.Internal, codes.Unknown:
		return err
	}
	return nil
}

const lostText = "The worker was lost."

// lost is the failure of a task that a lost worker had begun. Temporal begins it again after the
// delay, if its policy lets it; a delay of 0 would be none.
func lost() *failurepb.Failure {
	return &failurepb.Failure{
		Message: lostText, Source: "Longhaul",
		FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{
			Type: activities.WorkerLostError, NextRetryDelay: durationpb.New(time.Millisecond),
		}},
	}
}
