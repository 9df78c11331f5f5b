package grpc

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/message"
	"longhaul/api/push"
	"longhaul/api/read"
	"longhaul/api/stream"
	"longhaul/api/wire"
	"longhaul/opt/outbox"
)

// operations implements the generated service: one line per operation. The
// interceptors turn its errors into faults.
type operations struct {
	a2apb.UnimplementedA2AServiceServer
}

func (operations) SendMessage(ctx context.Context, req *a2apb.SendMessageRequest) (*a2apb.SendMessageResponse, error) {
	return reply[*a2apb.SendMessageResponse](ctx, req)
}

func (operations) SendStreamingMessage(req *a2apb.SendMessageRequest, to grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
	return streaming(req, to)
}

func (operations) GetTask(ctx context.Context, req *a2apb.GetTaskRequest) (*a2apb.Task, error) {
	return reply[*a2apb.Task](ctx, req)
}

func (operations) ListTasks(ctx context.Context, req *a2apb.ListTasksRequest) (*a2apb.ListTasksResponse, error) {
	if req.GetPageSize() == 0 {
		req.PageSize = nil // Go v2.4.0 sends 0 for none
	}
	return reply[*a2apb.ListTasksResponse](ctx, req)
}

func (operations) CancelTask(ctx context.Context, req *a2apb.CancelTaskRequest) (*a2apb.Task, error) {
	return reply[*a2apb.Task](ctx, req)
}

func (operations) SubscribeToTask(req *a2apb.SubscribeToTaskRequest, to grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
	return streaming(req, to)
}

func (operations) CreateTaskPushNotificationConfig(ctx context.Context, req *a2apb.TaskPushNotificationConfig) (*a2apb.TaskPushNotificationConfig, error) {
	return reply[*a2apb.TaskPushNotificationConfig](ctx, req)
}

func (operations) GetTaskPushNotificationConfig(ctx context.Context, req *a2apb.GetTaskPushNotificationConfigRequest) (*a2apb.TaskPushNotificationConfig, error) {
	return reply[*a2apb.TaskPushNotificationConfig](ctx, req)
}

func (operations) ListTaskPushNotificationConfigs(ctx context.Context, req *a2apb.ListTaskPushNotificationConfigsRequest) (*a2apb.ListTaskPushNotificationConfigsResponse, error) {
	return reply[*a2apb.ListTaskPushNotificationConfigsResponse](ctx, req)
}

func (operations) DeleteTaskPushNotificationConfig(ctx context.Context, req *a2apb.DeleteTaskPushNotificationConfigRequest) (*emptypb.Empty, error) {
	return reply[*emptypb.Empty](ctx, req)
}

func (operations) GetExtendedAgentCard(ctx context.Context, req *a2apb.GetExtendedAgentCardRequest) (*a2apb.AgentCard, error) {
	return reply[*a2apb.AgentCard](ctx, req)
}

// reply calls an operation that answers once, and returns its result as M.
func reply[M proto.Message](ctx context.Context, req proto.Message) (answer M, err error) {
	result, err := run(ctx, req)
	if err != nil {
		return answer, err
	}
	return newResult(result).(M), nil
}

// run calls the operation of a call with the params in req.
func run(ctx context.Context, req proto.Message) (any, error) {
	body, err := protojson.Marshal(req)
	if err != nil {
		return nil, errNoJSON
	}
	r, fault := wire.ReadBody(body, nil)
	if fault != nil {
		return nil, fault
	}
	now := callIn(ctx)
	return now.operations.ByID(now.call.Method).Run(ctx, now.service, now.call, r)
}

var errNoJSON = call.Invalid(call.Violation{Field: "request", Description: "has an invalid value, number or time"})

// newResult returns the result of an operation that answers once.
func newResult(result any) proto.Message {
	switch r := result.(type) {
	case message.Sent:
		return newSent(r)
	case read.Task:
		return newShown(r)
	case read.TaskPage:
		return newPage(r)
	case outbox.PushConfig:
		return newPush(r)
	case push.PushPage:
		return newPushPage(r)
	case card.Card:
		return newCard(r)
	}
	return &emptypb.Empty{}
}

// streaming calls an operation that opens a stream, and sends its events. A slow reader
// delays no other: events wait in the journal.
func streaming(req proto.Message, to grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
	ctx := to.Context()
	result, err := run(ctx, req)
	if err != nil {
		return err
	}
	events := result.(*stream.Stream)
	defer events.Close()
	return send(ctx, events, to)
}

// send sends events to the end of the stream, or until the client disconnects. On
// at every heartbeat it looks for events without a notification.
func send(ctx context.Context, events *stream.Stream, to grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
	now := callIn(ctx)
	timer := time.NewTicker(now.heartbeat)
	defer timer.Stop()
	err := to.SendHeader(header(now.call))
	for err == nil {
		var e stream.StreamEvent
		e, err = events.Next(ctx, timer.C)
		switch {
		case errors.Is(err, stream.ErrIdle):
			err = nil
		case err == nil:
			err = to.Send(newEvent(e))
		}
	}
	switch {
	case errors.Is(err, io.EOF), ctx.Err() != nil:
		return nil
	case errors.Is(err, stream.ErrClosing):
		return errClosing
	}
	return err
}

// errClosing ends a stream whose task works on. The status makes clients subscribe
// again: OK would say that this is the end.
var errClosing = &call.Fault{
	Kind: call.Unavailable, Message: "The server stops: subscribe again", Reason: "UNAVAILABLE", Retry: time.Second,
}
