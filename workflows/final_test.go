package workflows

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	commandpb "go.temporal.io/api/command/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"longhaul/opt"
)

// The decisions in the result of a plan are recorded when Temporal has accepted that, and only then.
func TestFinalRecorder(t *testing.T) {
	decided := PlanResult{Ride: []opt.Batch{{Source: "plan-1", Events: []opt.Event{{N: 3, Kind: opt.MessageAdded}}}}}
	moved := PlanResult{Ride: []opt.Batch{{Source: "plan-1", Events: []opt.Event{{N: 3, Kind: opt.PlanMoved}}}}}
	for name, tc := range map[string]struct {
		command      *commandpb.Command
		intermediate bool
		err          error // of Temporal
		journal      error
		want         int // tries to record
	}{
		"completed":          {command: completed(t, decided), want: 1},
		"failed":             {command: failedWith(t, decided), want: 1},
		"canceled":           {command: canceledWith(t, decided), want: 1},
		"not accepted":       {command: completed(t, decided), err: status.Error(codes.InvalidArgument, "UnhandledCommand")},
		"no answer":          {command: completed(t, decided), err: status.Error(codes.Unavailable, "reset")},
		"one of many pages":  {command: completed(t, decided), intermediate: true},
		"without a decision": {command: completed(t, moved)},
		"another command":    {command: &commandpb.Command{CommandType: enumspb.COMMAND_TYPE_START_TIMER}},
		"journal is down":    {command: completed(t, decided), journal: errors.New("down"), want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var recorded [][]opt.Batch
			f := newFinalRecorder(func(_ context.Context, batches ...opt.Batch) error {
				recorded = append(recorded, batches)
				return tc.journal
			}, payloadReader{data: NewDataConverter(nil)})
			req := &workflowservice.RespondWorkflowTaskCompletedRequest{Commands: []*commandpb.Command{tc.command}, IntermediatePage: tc.intermediate}
			err := f.interceptor()(t.Context(), workflowservice.WorkflowService_RespondWorkflowTaskCompleted_FullMethodName, req, nil, nil,
				func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
					if len(recorded) > 0 {
						t.Error("it was recorded before Temporal had accepted it")
					}
					return tc.err
				})
			if !errors.Is(err, tc.err) || len(recorded) != tc.want {
				t.Fatalf("recorded %d times with %v, want %d times", len(recorded), err, tc.want)
			}
			for _, batches := range recorded {
				if diff := cmp.Diff(decided.Ride, batches); diff != "" {
					t.Errorf("recorded batches mismatch (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// The end of an objective is recorded once the journal takes it, also while it is skipped that the
// journal is tried at once, for some time.
func TestFinalRecorder_objective(t *testing.T) {
	for name, tt := range map[string]struct {
		fails, skips, want int
		err                error
	}{
		"at once":             {want: 1},
		"later":               {fails: 3, want: 4, err: errors.New("down")},
		"it is skipped":       {skips: 5, want: 1},
		"it is refused":       {fails: 100, want: 1, err: &opt.RewoundError{}},
		"the journal is away": {fails: 100, want: 1 + lateTries, err: errors.New("down")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var tries atomic.Int64
				f := newFinalRecorder(func(context.Context, ...opt.Batch) error {
					if int(tries.Add(1)) <= tt.fails {
						return tt.err
					}
					return nil
				}, payloadReader{data: NewDataConverter(nil)})
				f.skips.Store(int64(tt.skips))
				f.settle(t.Context(), completed(t, ObjectiveResult{Last: []opt.Batch{{Source: "obj"}}}).GetCompleteWorkflowExecutionCommandAttributes().GetResult())
				time.Sleep(time.Hour)
				if got := int(tries.Load()); got != tt.want || len(f.late) > 0 {
					t.Errorf("%d tries, and %d to come, want %d", got, len(f.late), tt.want)
				}
			})
		})
	}
}

func completed(t *testing.T, r any) *commandpb.Command {
	t.Helper()
	result, err := NewDataConverter(nil).ToPayloads(r)
	if err != nil {
		t.Fatal(err)
	}
	return &commandpb.Command{Attributes: &commandpb.Command_CompleteWorkflowExecutionCommandAttributes{
		CompleteWorkflowExecutionCommandAttributes: &commandpb.CompleteWorkflowExecutionCommandAttributes{Result: result},
	}}
}

func failedWith(t *testing.T, r any) *commandpb.Command {
	details := completed(t, r).GetCompleteWorkflowExecutionCommandAttributes().GetResult()
	return &commandpb.Command{Attributes: &commandpb.Command_FailWorkflowExecutionCommandAttributes{
		FailWorkflowExecutionCommandAttributes: &commandpb.FailWorkflowExecutionCommandAttributes{Failure: &failurepb.Failure{
			FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Details: details}},
		}},
	}}
}

func canceledWith(t *testing.T, r any) *commandpb.Command {
	details := completed(t, r).GetCompleteWorkflowExecutionCommandAttributes().GetResult()
	return &commandpb.Command{Attributes: &commandpb.Command_CancelWorkflowExecutionCommandAttributes{
		CancelWorkflowExecutionCommandAttributes: &commandpb.CancelWorkflowExecutionCommandAttributes{Details: details},
	}}
}
