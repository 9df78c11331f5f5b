package grpc_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/structpb"

	"longhaul/a2a"
	"longhaul/internal/test"
)

// The extensions are turned on and echoed in metadata of gRPC; what they have travels in that of A2A.
func TestExtensions_metadata(t *testing.T) {
	s := newService(t)
	all := a2a.JoinExtensions([]string{a2a.ExtensionBudget, a2a.ExtensionCancel, a2a.ExtensionStream})
	in := func(uri string, members map[string]any) *structpb.Struct {
		out := test.Value(structpb.NewStruct(map[string]any{uri: members}))(t)
		return out
	}
	of := func(m *structpb.Struct, uri string) map[string]*structpb.Value {
		return m.GetFields()[uri].GetStructValue().GetFields()
	}
	var head metadata.MD
	request := said("m", "slow")
	request.Message.Metadata = in(a2a.ExtensionBudget, map[string]any{"tokens": 9})
	answer, err := s.SendMessage(with(t, "a2a-extensions", all), request, grpc.Header(&head))
	if err != nil || len(head.Get("a2a-extensions")) != 1 || head.Get("a2a-extensions")[0] != all {
		t.Fatalf("%v, %v", head, err)
	}
	task := answer.GetTask()
	at := of(task.GetMetadata(), a2a.ExtensionStream)["sequence"].GetNumberValue()
	if at == 0 || of(task.GetMetadata(), a2a.ExtensionBudget)["spent"] == nil {
		t.Errorf("the task has %v", task.GetMetadata())
	}
	stream := test.Value(s.SubscribeToTask(with(t, "a2a-extensions", all, "last-event-id", "1"), &a2apb.SubscribeToTaskRequest{Id: task.GetId()}))(t)
	canceled, err := s.CancelTask(with(t, "a2a-extensions", all), &a2apb.CancelTaskRequest{
		Id: task.GetId(), Metadata: in(a2a.ExtensionCancel, map[string]any{"reason": "Not needed."}),
	})
	if err != nil || canceled.GetStatus().GetMessage().GetParts()[0].GetText() != "Not needed." || !of(canceled.GetMetadata(), a2a.ExtensionCancel)["stopped"].GetBoolValue() {
		t.Fatalf("%v, %v", canceled, err)
	}
	last := 1.0
	for {
		e := test.Value(stream.Recv())(t)
		n := of(e.GetStatusUpdate().GetMetadata(), a2a.ExtensionStream)["sequence"].GetNumberValue()
		if n <= last {
			t.Fatalf("number %v follows on %v in %v", n, last, e)
		}
		if last = n; e.GetStatusUpdate().GetStatus().GetState() == a2apb.TaskState_TASK_STATE_CANCELED {
			return
		}
	}
}
