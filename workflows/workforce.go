package workflows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"longhaul/opt/shown"
)

// A Workforce is our workers in Temporal.
type Workforce struct {
	Temporal  client.Client
	Namespace string
	Now       func() time.Time
}

const (
	// pollAge is how long ago a worker may have asked for work. Each question lasts up to a minute.
	pollAge = 90 * time.Second
	// mostWorkers is how many workers are asked for their slots.
	mostWorkers = 50
)

// workQueues are the queues of our workers, with words for what they have.
var workQueues = []struct {
	of, name string
	kind     enumspb.TaskQueueType
}{
	{"tasks", TaskQueue, enumspb.TASK_QUEUE_TYPE_ACTIVITY},
	{"decisions", TaskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW},
	{"records", RecordQueue, enumspb.TASK_QUEUE_TYPE_ACTIVITY},
	{"deliveries", PushQueue, enumspb.TASK_QUEUE_TYPE_ACTIVITY},
}

// Ask returns how busy the workers are. Their slots are as old as their heartbeats to Temporal.
func (w Workforce) Ask(ctx context.Context) (shown.Workforce, error) {
	out := shown.Workforce{Queues: make([]shown.QueueLoad, len(workQueues))}
	group, ctx := errgroup.WithContext(ctx)
	for i, q := range workQueues {
		group.Go(func() (err error) {
			out.Queues[i], err = w.queue(ctx, q.of, q.name, q.kind)
			return err
		})
	}
	group.Go(func() (err error) {
		out.Workers, err = w.workers(ctx)
		return err
	})
	err := group.Wait()
	return out, err
}

func (w Workforce) queue(ctx context.Context, of, name string, kind enumspb.TaskQueueType) (shown.QueueLoad, error) {
	found, err := w.Temporal.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: w.Namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: name}, TaskQueueType: kind, ReportStats: true,
	})
	if err != nil {
		return shown.QueueLoad{}, fmt.Errorf("describe the queue %s: %w", name, err)
	}
	polling := map[string]bool{}
	for _, p := range found.GetPollers() {
		if w.Now().Sub(p.GetLastAccessTime().AsTime()) < pollAge {
			polling[p.GetIdentity()] = true
		}
	}
	stats := found.GetStats()
	return shown.QueueLoad{
		Of: of, Waiting: stats.GetApproximateBacklogCount(), Oldest: stats.GetApproximateBacklogAge().AsDuration(), Workers: len(polling),
	}, nil
}

// workers returns the workers that run tasks, by their names. Servers before 1.30 do not know them.
func (w Workforce) workers(ctx context.Context) ([]shown.WorkerLoad, error) {
	found, err := w.Temporal.WorkflowService().ListWorkers(ctx, &workflowservice.ListWorkersRequest{
		Namespace: w.Namespace, PageSize: mostWorkers, Query: fmt.Sprintf("TaskQueue = '%s'", TaskQueue),
	})
	if errors.As(err, new(*serviceerror.Unimplemented)) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	list := make([]shown.WorkerLoad, len(found.GetWorkers()))
	group, ctx := errgroup.WithContext(ctx)
	for i, one := range found.GetWorkers() {
		group.Go(func() (err error) {
			list[i], err = w.worker(ctx, one.GetWorkerInstanceKey())
			return err
		})
	}
	err = group.Wait()
	list = slices.DeleteFunc(list, func(l shown.WorkerLoad) bool { return l.Name == "" })
	slices.SortFunc(list, func(a, b shown.WorkerLoad) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// worker returns the slots of a worker, and none for one that has gone.
func (w Workforce) worker(ctx context.Context, key string) (shown.WorkerLoad, error) {
	found, err := w.Temporal.WorkflowService().DescribeWorker(ctx, &workflowservice.DescribeWorkerRequest{Namespace: w.Namespace, WorkerInstanceKey: key})
	if errors.As(err, new(*serviceerror.NotFound)) {
		return shown.WorkerLoad{}, nil
	}
	beat := found.GetWorkerInfo().GetWorkerHeartbeat()
	if err == nil && (beat.GetStatus() == enumspb.WORKER_STATUS_SHUTDOWN || w.Now().Sub(beat.GetHeartbeatTime().AsTime()) > pollAge) {
		return shown.WorkerLoad{}, nil
	}
	slots := beat.GetActivityTaskSlotsInfo()
	return shown.WorkerLoad{Name: beat.GetWorkerIdentity(), Used: int(slots.GetCurrentUsedSlots()), Free: int(slots.GetCurrentAvailableSlots())}, err
}
