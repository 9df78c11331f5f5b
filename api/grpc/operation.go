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

	"longhaul/api/service"
	"longhaul/api/wire"
)

// operations implements the generated service: one line per operation. The
// interceptors turn its errors into faults.
type operations struct {
	a2apb.UnimplementedA2AServiceServer
	service *service.Service
}

func (o operations) SendMessage(ctx context.Context, req *a2apb.SendMessageRequest) (*a2apb.SendMessageResponse, error) {
	return reply(ctx, req, wire.ReadSend, o.service.SendMessage, newSent)
}

func (o operations) SendStreamingMessage(req *a2apb.SendMessageRequest, to grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
	return stream(req, wire.ReadSend, o.service.StreamMessage, to)
}

func (o operations) GetTask(ctx context.Context, req *a2apb.GetTaskRequest) (*a2apb.Task, error) {
	return reply(ctx, req, wire.ReadTask, o.service.GetTask, newShown)
}

func (o operations) ListTasks(ctx context.Context, req *a2apb.ListTasksRequest) (*a2apb.ListTasksResponse, error) {
	if req.GetPageSize() == 0 {
		req.PageSize = nil // Go v2.4.0 sends 0 for none
	}
	return reply(ctx, req, wire.ReadTaskList, o.service.ListTasks, newPage)
}

func (o operations) CancelTask(ctx context.Context, req *a2apb.CancelTaskRequest) (*a2apb.Task, error) {
	return reply(ctx, req, wire.ReadCancel, o.service.CancelTask, newShown)
}

func (o operations) SubscribeToTask(req *a2apb.SubscribeToTaskRequest, to grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
	return stream(req, wire.ReadTask, o.service.Subscribe, to)
}

func (o operations) CreateTaskPushNotificationConfig(ctx context.Context, req *a2apb.TaskPushNotificationConfig) (*a2apb.TaskPushNotificationConfig, error) {
	return pushing(ctx, req, wire.ReadCreatePush, o.service.CreatePush, newPush)
}

func (o operations) GetTaskPushNotificationConfig(ctx context.Context, req *a2apb.GetTaskPushNotificationConfigRequest) (*a2apb.TaskPushNotificationConfig, error) {
	return pushing(ctx, req, wire.ReadGetPush, o.service.GetPush, newPush)
}

func (o operations) ListTaskPushNotificationConfigs(ctx context.Context, req *a2apb.ListTaskPushNotificationConfigsRequest) (*a2apb.ListTaskPushNotificationConfigsResponse, error) {
	return pushing(ctx, req, wire.ReadListPushes, o.service.ListPushes, newPushPage)
}

func (o operations) DeleteTaskPushNotificationConfig(ctx context.Context, req *a2apb.DeleteTaskPushNotificationConfigRequest) (*emptypb.Empty, error) {
	return pushing(ctx, req, wire.ReadDeletePush, o.service.DeletePush, newNothing)
}

func (o operations) GetExtendedAgentCard(ctx context.Context, req *a2apb.GetExtendedAgentCardRequest) (*a2apb.AgentCard, error) {
	return reply(ctx, req, wire.ReadExtendedCard, o.service.ExtendedCard, newCard)
}

// reply calls a handler that answers once, and writes what it returns.
func reply[P, R any, M proto.Message](
	ctx context.Context, req proto.Message,
	read func(*wire.Reader) P, handle func(context.Context, *service.Call, P) (R, error), write func(R) M,
) (answer M, err error) {
	p, err := params(ctx, req, read)
	if err != nil {
		return answer, err
	}
	result, err := handle(ctx, callIn(ctx).call, p)
	if err != nil {
		return answer, err
	}
	return write(result), nil
}

// pushing is reply for push configs: refused if push is off.
func pushing[P, R any, M proto.Message](
	ctx context.Context, req proto.Message,
	read func(*wire.Reader) P, handle func(context.Context, *service.Call, P) (R, error), write func(R) M,
) (answer M, err error) {
	if !callIn(ctx).service.Pushes() {
		return answer, refuse(ctx, req, service.ErrNoPush)
	}
	return reply(ctx, req, read, handle, write)
}

// refuse returns the error of an operation that is not offered.
func refuse(ctx context.Context, req proto.Message, fault *service.Fault) error {
	if _, err := params(ctx, req, wire.Nothing); err != nil {
		return err
	}
	return fault
}

// stream calls a handler that opens a stream, and sends its events. A slow reader
// delays no other: events wait in the journal.
func stream[P any](
	req proto.Message, read func(*wire.Reader) P, handle func(context.Context, *service.Call, P) (*service.Stream, error),
	to grpc.ServerStreamingServer[a2apb.StreamResponse],
) error {
	ctx := to.Context()
	if !callIn(ctx).service.Streams() {
		return refuse(ctx, req, service.ErrNoStreaming)
	}
	p, err := params(ctx, req, read)
	if err != nil {
		return err
	}
	events, err := handle(ctx, callIn(ctx).call, p)
	if err != nil {
		return err
	}
	defer events.Close()
	return send(ctx, events, to)
}

// send sends events to the end of the stream, or until the client disconnects. On
// at every heartbeat it looks for events without a notification.
func send(ctx context.Context, events *service.Stream, to grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
	now := callIn(ctx)
	timer := time.NewTicker(now.heartbeat)
	defer timer.Stop()
	err := to.SendHeader(header(now.call))
	for err == nil {
		var e service.StreamEvent
		e, err = events.Next(ctx, timer.C)
		switch {
		case errors.Is(err, service.ErrIdle):
			err = nil
		case err == nil:
			err = to.Send(newEvent(e))
		}
	}
	switch {
	case errors.Is(err, io.EOF), ctx.Err() != nil:
		return nil
	case errors.Is(err, service.ErrClosing):
		return errClosing
	}
	return err
}

// errClosing ends a stream whose task works on. The status makes clients subscribe
// again: OK would say that this is the end.
var errClosing = &service.Fault{
	Kind: service.Unavailable, Message: "The server stops: subscribe again", Reason: "UNAVAILABLE", Retry: time.Second,
}

var errNoJSON = service.Invalid(service.Violation{Field: "request", Description: "has an invalid value, number or time"})

// params converts a request to ProtoJSON and reads it.
func params[P any](ctx context.Context, req proto.Message, read func(*wire.Reader) P) (p P, err error) {
	body, err := protojson.Marshal(req)
	if err != nil {
		return p, errNoJSON
	}
	r, fault := wire.ReadBody(body, nil)
	if fault != nil {
		return p, fault
	}
	now := callIn(ctx)
	r.Tenant = now.call.Tenant
	return wire.Params(now.call, r, read, func(mentioned []string) error { return now.service.Activate(now.call, mentioned) })
}
