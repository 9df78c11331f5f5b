package compose_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"slices"
	"testing"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"longhaul/internal/test"
)

// overGRPC calls the API over gRPC at the address of the reverse proxy: a call, a stream,
// and raw requests with and without contents.
func overGRPC(ctx context.Context, t *testing.T, addr string) {
	t.Helper()
	conn := test.Value(grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials())))(t)
	defer func() { test.OK(t, conn.Close()) }()
	agent := a2apb.NewA2AServiceClient(conn)
	ctx = metadata.AppendToOutgoingContext(ctx, "a2a-version", "1.0")
	send := func(id, text string) *a2apb.SendMessageRequest {
		return &a2apb.SendMessageRequest{
			Message:       &a2apb.Message{MessageId: id, Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: text}}}},
			Configuration: &a2apb.SendMessageConfiguration{ReturnImmediately: true},
		}
	}
	answer := test.Value(agent.SendMessage(ctx, send("grpc-1", "work 1s; say done")))(t)
	id := answer.GetTask().GetId()
	stream, err := agent.SubscribeToTask(ctx, &a2apb.SubscribeToTaskRequest{Id: id})
	test.OK(t, err)
	var states []a2apb.TaskState
	for {
		event, err := stream.Recv()
		if err == io.EOF {
			break
		}
		test.OK(t, err)
		if s := event.GetStatusUpdate(); s != nil {
			states = append(states, s.GetStatus().GetState())
		}
	}
	if !slices.Contains(states, a2apb.TaskState_TASK_STATE_COMPLETED) {
		t.Errorf("the stream over gRPC has the states %v", states)
	}

	// Contents that a proxy loses would be an empty message: the first would name no task, the
	// second is empty by itself.
	whole := test.Value(proto.Marshal(&a2apb.GetTaskRequest{Id: id}))(t)
	var task a2apb.Task
	raw(ctx, t, addr, "GetTask", whole, &task)
	test.Is(t, "GetTask answers with task", id, task.GetId())
	var list a2apb.ListTasksResponse
	raw(ctx, t, addr, "ListTasks", nil, &list)
	if !slices.ContainsFunc(list.GetTasks(), func(listed *a2apb.Task) bool { return listed.GetId() == id }) {
		t.Errorf("ListTasks has no task %s among %d", id, len(list.GetTasks()))
	}
}

// raw makes a unary call with a request as bytes, without a library for gRPC.
func raw(ctx context.Context, t *testing.T, addr, method string, request []byte, into proto.Message) {
	t.Helper()
	frame := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(request)))
	body := struct{ io.Reader }{bytes.NewReader(append(frame, request...))} // of unknown length, as in a stream
	r := test.Value(http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/lf.a2a.v1.A2AService/"+method, body))(t)
	r.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "A2a-Version": {"1.0"}}
	transport := &http.Transport{Protocols: &http.Protocols{}}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	res := test.Value(transport.RoundTrip(r))(t)
	defer func() { _ = res.Body.Close() }()
	answer := test.Value(io.ReadAll(res.Body))(t)
	if status := res.Trailer.Get("Grpc-Status"); status != "0" || len(answer) < 5 {
		t.Fatalf("%s answers %s, status %q %s", method, res.Status, status, res.Trailer.Get("Grpc-Message"))
	}
	test.OK(t, proto.Unmarshal(answer[5:], into))
}
