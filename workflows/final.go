package workflows

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"longhaul/opt"
)

// A RecordFunc writes batches of events to the journal, all or none of them.
type RecordFunc func(ctx context.Context, batches ...opt.Batch) error

// finalPatience is how long the answer of Temporal to a workflow task is held back until the journal
// has what the task has decided, which keeps the slot of the task. After a try that has failed, as
// while the journal is down, the next results are not held back, finalSkips of them.
const (
	finalPatience = 300 * time.Millisecond
	finalSkips    = 100
)

// A finalRecorder records the last events of a plan or an objective, which the result of its workflow
// carries, as soon as Temporal has accepted that result: it is final then, and people wait for it. It makes
// one try. The objective of a plan records the same events when its turn in the queue has come, also those
// of a process that was lost. Those of an objective are left to late, and to the reconciler if the process is lost.
//
// It acts on success alone, since after an error it is not known what Temporal has: a completion that
// Temporal has not accepted, such as one that a signal has overtaken, is an error. A completion in
// pages, of several MiB, is left to the objective and the reconciler: Temporal accepts it with its last
// page, and the pages before have the commands.
type finalRecorder struct {
	record RecordFunc
	late   func(batches []opt.Batch)
	reader payloadReader
	skips  atomic.Int64 // results that are still left to others after a try that has failed
}

func (f *finalRecorder) interceptor() grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, to *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
		err := call(ctx, method, req, reply, to, options...)
		if done, ok := req.(*workflowservice.RespondWorkflowTaskCompletedRequest); err == nil && ok && !done.GetIntermediatePage() {
			for _, command := range done.GetCommands() {
				f.settle(ctx, resultIn(command))
			}
		}
		return err
	}
}

// settle records the events in the result of a workflow.
func (f *finalRecorder) settle(ctx context.Context, result *commonpb.Payloads) {
	if len(result.GetPayloads()) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx) // it may have little time left
	var ended struct {               // parts of a PlanResult and of an ObjectiveResult; others have none
		Ride []opt.Batch `json:"ride"`
		Last []opt.Batch `json:"last"`
	}
	switch err := f.reader.read(ctx, result.GetPayloads()[0], &ended); {
	case err != nil:
	case len(ended.Last) > 0:
		if (f.skips.Add(-1) >= 0 || !f.try(ctx, ended.Last)) && f.late != nil {
			f.late(ended.Last)
		}
	case slices.ContainsFunc(ended.Ride, decides) && f.skips.Add(-1) < 0:
		f.try(ctx, ended.Ride)
	}
}

// try makes one try to record batches, and reports whether they are settled: the journal has them, or
// has refused them for good.
func (f *finalRecorder) try(ctx context.Context, batches []opt.Batch) bool {
	ctx, cancel := context.WithTimeout(ctx, finalPatience)
	defer cancel()
	err := f.record(ctx, batches...)
	if _, refused := errors.AsType[*opt.RewoundError](err); err == nil || refused {
		return true
	}
	f.skips.Store(finalSkips)
	return false
}

// decides reports whether people wait for an event of b: the verdict on a reply, or the end of a gate.
// Others are recorded soon enough with what follows from the result.
func decides(b opt.Batch) bool {
	return slices.ContainsFunc(b.Events, func(e opt.Event) bool { return e.Kind == opt.MessageAdded || e.Decision != nil })
}

// resultIn returns the result of a workflow that a command ends, nil for any other command.
func resultIn(c *commandpb.Command) *commonpb.Payloads {
	if failure := c.GetFailWorkflowExecutionCommandAttributes().GetFailure(); failure != nil {
		return failure.GetApplicationFailureInfo().GetDetails()
	}
	if canceled := c.GetCancelWorkflowExecutionCommandAttributes(); canceled != nil {
		return canceled.GetDetails()
	}
	return c.GetCompleteWorkflowExecutionCommandAttributes().GetResult()
}

// resultOfEnd returns the result of a workflow that an event has ended, nil for any other event.
func resultOfEnd(e *historypb.HistoryEvent) *commonpb.Payloads {
	if failed := e.GetWorkflowExecutionFailedEventAttributes(); failed != nil {
		return failed.GetFailure().GetApplicationFailureInfo().GetDetails()
	}
	if canceled := e.GetWorkflowExecutionCanceledEventAttributes(); canceled != nil {
		return canceled.GetDetails()
	}
	return e.GetWorkflowExecutionCompletedEventAttributes().GetResult()
}
