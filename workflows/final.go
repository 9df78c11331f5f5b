package workflows

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
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

// A finalRecorder records the last events of a plan, which the result of its workflow carries, as soon
// as Temporal has accepted that result: it is final then, and people wait for their decisions. It makes
// one try. The objective of the plan records the same events when its turn in the queue has come,
// also those of a process that was lost.
//
// It acts on success alone, since after an error it is not known what Temporal has: a completion that
// Temporal has not accepted, such as one that a signal has overtaken, is an error. A completion in
// pages, of several MiB, is left to the objective: Temporal accepts it with its last page, and the
// pages before have the commands.
type finalRecorder struct {
	record RecordFunc
	reader payloadReader
	skips  *atomic.Int64 // results that are still left to their objectives after a try that has failed
}

func (f finalRecorder) interceptor() grpc.UnaryClientInterceptor {
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
func (f finalRecorder) settle(ctx context.Context, result *commonpb.Payloads) {
	if len(result.GetPayloads()) == 0 || f.skips.Add(-1) >= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalPatience) // that of the call may have little time left
	defer cancel()
	var ended struct { // the part of a PlanResult; others have none
		Ride []opt.Batch `json:"ride"`
	}
	failed := false
	if f.reader.read(ctx, result.GetPayloads()[0], &ended) == nil && slices.ContainsFunc(ended.Ride, decides) {
		failed = f.record(ctx, ended.Ride...) != nil
	}
	if failed || ctx.Err() != nil {
		f.skips.Store(finalSkips)
	}
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
