package lease

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.uber.org/zap"
	"google.golang.org/protobuf/types/known/durationpb"

	"longhaul/activities"
)

const (
	giveBackLimit = 5 * time.Second
	identity      = "longhaul-lease" // in the histories
)

// giveBack has other workers do what a lost one had taken: first it makes its sticky queue
// known as lost, so that no workflow waits there for it, then it fails what it had begun. Temporal
// refuses work that has ended in the meantime.
func (k *Keeper) giveBack(ctx context.Context, entries []Entry) error {
	ctx, end := context.WithTimeout(ctx, giveBackLimit)
	defer end()
	order := map[Kind]int{stickyQueue: 0, workflowTask: 1, activityTask: 2}
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(order[a.Kind], order[b.Kind]), cmp.Compare(a.Value, b.Value))
	})
	count := map[Kind]int{}
	for _, e := range entries {
		if err := k.giveBackOne(ctx, e); err != nil {
			return err
		}
		count[e.Kind]++
	}
	k.Log.Warn("A worker was lost: its work was given back", zap.Int("tasks", count[activityTask]), zap.Int("workflowTasks", count[workflowTask]))
	return nil
}

func (k *Keeper) giveBackOne(ctx context.Context, e Entry) (err error) {
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
	var ended *serviceerror.NotFound
	var refused *serviceerror.InvalidArgument // a token that was cut off as its worker was killed
	if errors.As(err, &ended) || errors.As(err, &refused) {
		return nil
	}
	return err
}

const lostText = "The worker was lost."

// lost is the failure of what a lost worker had begun. Temporal begins it again at once; without a
// delay it would not begin it again at all.
func lost() *failurepb.Failure {
	return &failurepb.Failure{
		Message: lostText, Source: "Longhaul",
		FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{
			Type: activities.WorkerLostError, NextRetryDelay: durationpb.New(time.Millisecond),
		}},
	}
}
