package observe_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// A call over gRPC continues the trace of its sender, as far as the web service that does
// the task. So does a stream.
func TestObserve_gRPC(t *testing.T) {
	t.Parallel()
	collector := newReceiver(t)
	site, told := newSite(t, collector)
	addr := harness.FreeAddr(t)
	process := site.Start(harness.AllInOne, "LONGHAUL_GRPC_ADDR="+addr)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	conn := test.Value(grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials())))(t)
	defer func() { _ = conn.Close() }()
	agent := a2apb.NewA2AServiceClient(conn)
	ctx = metadata.AppendToOutgoingContext(ctx, "a2a-version", "1.0", "traceparent", "00-"+traceID+"-b7ad6b7169203331-01")
	stream, err := agent.SendStreamingMessage(ctx, &a2apb.SendMessageRequest{Message: &a2apb.Message{
		MessageId: "m", Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: "tea"}}},
	}})
	test.OK(t, err)
	event := test.Value(stream.Recv())(t)
	test.OK(t, test.Err(agent.GetTask(ctx, &a2apb.GetTaskRequest{Id: event.GetTask().GetId()})))
	if outgoing := <-told; !strings.HasPrefix(outgoing, "00-"+traceID+"-") {
		t.Errorf("the web service got the trace %q, want %s", outgoing, traceID)
	}
	harness.Eventually(t, within, "the trace is whole", func() error {
		got := collector.trace(traceID)
		for _, want := range []string{"SendStreamingMessage", "GetTask", "RunWorkflow:Objective", "RunActivity:Run", "POST 127.0.0.1"} {
			if got[want] == nil {
				return fmt.Errorf("it has no span %s: %v", want, names(got))
			}
		}
		return nil
	})
	process.Stop()
}
