package workflows

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	commandpb "go.temporal.io/api/command/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"longhaul/internal/test"
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
			f := &finalRecorder{record: func(_ context.Context, batches ...opt.Batch) error {
				recorded = append(recorded, batches)
				return tc.journal
			}, reader: payloadReader{data: NewDataConverter(nil)}}
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
				test.Equal(t, "recorded batches", decided.Ride, batches)
			}
		})
	}
}

// The end of an objective that the journal has not taken at once is left to others.
func TestFinalRecorder_objective(t *testing.T) {
	for name, tt := range map[string]struct {
		skips int
		err   error
		late  bool
	}{
		"at once":       {},
		"it is skipped": {skips: 5, late: true},
		"it fails":      {err: errors.New("down"), late: true},
		"it is refused": {err: &opt.RewoundError{}},
	} {
		t.Run(name, func(t *testing.T) {
			last, late := []opt.Batch{{Source: "obj"}}, []opt.Batch(nil)
			f := &finalRecorder{
				record: func(context.Context, ...opt.Batch) error { return tt.err }, late: func(b []opt.Batch) { late = b },
				reader: payloadReader{data: NewDataConverter(nil)},
			}
			f.skips.Store(int64(tt.skips))
			f.settle(t.Context(), resultIn(canceledWith(t, ObjectiveResult{Last: last})))
			test.Is(t, "left to others", tt.late, cmp.Equal(last, late))
		})
	}
}

func completed(t *testing.T, r any) *commandpb.Command {
	t.Helper()
	result := test.Value(NewDataConverter(nil).ToPayloads(r))(t)
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
