package workflows_test

import (
	"context"
	"errors"
	"net"
	"testing"

	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/workflows"
)

// An accepting is a Temporal that accepts the ends of workflow tasks.
type accepting struct {
	workflowservice.UnimplementedWorkflowServiceServer
}

func (accepting) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (accepting) RespondWorkflowTaskCompleted(context.Context, *workflowservice.RespondWorkflowTaskCompletedRequest) (*workflowservice.RespondWorkflowTaskCompletedResponse, error) {
	return &workflowservice.RespondWorkflowTaskCompletedResponse{}, nil
}

// A client records the decisions in an encrypted result, and after a failure lets others pass for a
// while.
func TestDial_recordsDecisions(t *testing.T) {
	listener := test.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, accepting{})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	cipher, tries := keys(t, 1), 0
	var down error
	c, err := workflows.Dial(workflows.DialConfig{Addr: listener.Addr().String(), Namespace: "default", Cipher: cipher, Last: func(_ context.Context, batches ...opt.Batch) error {
		if tries++; len(batches) != 1 || batches[0].Source != "plan-1" {
			t.Errorf("recorded %+v", batches)
		}
		return down
	}})
	test.OK(t, err)
	t.Cleanup(c.Close)
	result := converted(t, cipher, workflows.PlanResult{Ride: []opt.Batch{{Source: "plan-1", Events: []opt.Event{{N: 1, Kind: opt.MessageAdded}}}}})
	command := &commandpb.Command{Attributes: &commandpb.Command_CompleteWorkflowExecutionCommandAttributes{
		CompleteWorkflowExecutionCommandAttributes: &commandpb.CompleteWorkflowExecutionCommandAttributes{Result: &commonpb.Payloads{Payloads: []*commonpb.Payload{result}}},
	}}
	for _, want := range []int{1, 2, 2} {
		if _, err := c.WorkflowService().RespondWorkflowTaskCompleted(t.Context(), &workflowservice.RespondWorkflowTaskCompletedRequest{Commands: []*commandpb.Command{command}}); err != nil || tries != want {
			t.Errorf("recorded %d times, want %d (%v)", tries, want, err)
		}
		down = errors.New("down")
	}
}
