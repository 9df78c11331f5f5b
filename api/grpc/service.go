package grpc

import (
	"context"
	"errors"
	"io"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"longhaul/api/wire"
)

// service is the generated service: one line per method. The interceptors make
// faults of the errors that it returns.
type service struct {
	a2apb.UnimplementedA2AServiceServer
}

func (service) SendMessage(ctx context.Context, req *a2apb.SendMessageRequest) (*a2apb.SendMessageResponse, error) {
	return reply(ctx, req, newSent)
}

func (service) SendStreamingMessage(req *a2apb.SendMessageRequest, to grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
	return stream(req, to)
}

func (service) GetTask(ctx context.Context, req *a2apb.GetTaskRequest) (*a2apb.Task, error) {
	return reply(ctx, req, newTask)
}

func (service) ListTasks(ctx context.Context, req *a2apb.ListTasksRequest) (*a2apb.ListTasksResponse, error) {
	if req.GetPageSize() == 0 {
		req.PageSize = nil // Go v2.4.0 sends 0 for none
	}
	return reply(ctx, req, newPage)
}

func (service) CancelTask(ctx context.Context, req *a2apb.CancelTaskRequest) (*a2apb.Task, error) {
	return reply(ctx, req, newTask)
}

func (service) SubscribeToTask(req *a2apb.SubscribeToTaskRequest, to grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
	return stream(req, to)
}

func (service) CreateTaskPushNotificationConfig(ctx context.Context, req *a2apb.TaskPushNotificationConfig) (*a2apb.TaskPushNotificationConfig, error) {
	return reply(ctx, req, nothing[*a2apb.TaskPushNotificationConfig])
}

func (service) GetTaskPushNotificationConfig(ctx context.Context, req *a2apb.GetTaskPushNotificationConfigRequest) (*a2apb.TaskPushNotificationConfig, error) {
	return reply(ctx, req, nothing[*a2apb.TaskPushNotificationConfig])
}

func (service) ListTaskPushNotificationConfigs(ctx context.Context, req *a2apb.ListTaskPushNotificationConfigsRequest) (*a2apb.ListTaskPushNotificationConfigsResponse, error) {
	return reply(ctx, req, nothing[*a2apb.ListTaskPushNotificationConfigsResponse])
}

func (service) DeleteTaskPushNotificationConfig(ctx context.Context, req *a2apb.DeleteTaskPushNotificationConfigRequest) (*emptypb.Empty, error) {
	return reply(ctx, req, nothing[*emptypb.Empty])
}

func (service) GetExtendedAgentCard(ctx context.Context, req *a2apb.GetExtendedAgentCardRequest) (*a2apb.AgentCard, error) {
	return reply(ctx, req, newCard)
}

// reply calls the method that the request is for, and writes what it returns.
func reply[R any, M proto.Message](ctx context.Context, req proto.Message, write func(R) M) (answer M, err error) {
	params, err := params(req)
	if err != nil {
		return answer, err
	}
	result, err := requestOf(ctx).Reply(ctx, params)
	if err != nil {
		return answer, err
	}
	return write(result.(R)), nil
}

// nothing writes the result of a method that is refused, and has none.
func nothing[M proto.Message](struct{}) (none M) { return none }

// stream calls the method that the request is for, and sends what follows. A
// reader that takes nothing holds up nobody but itself: events wait in the
// journal.
func stream(req proto.Message, to grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
	params, err := params(req)
	if err != nil {
		return err
	}
	ctx := to.Context()
	r := requestOf(ctx)
	events, err := r.Stream(ctx, params)
	if err != nil {
		return err
	}
	defer events.Close()
	err = to.SendHeader(header(r))
	for err == nil {
		e, failed := events.Next(ctx)
		switch {
		case errors.Is(failed, io.EOF):
			return nil
		case failed != nil:
			err = failed
		default:
			err = to.Send(newEvent(e))
		}
	}
	if ctx.Err() != nil {
		return nil // nobody is there any more
	}
	return err
}

var errNoJSON = wire.Invalid(wire.Violation{Field: "request", Description: "has a value, a number or a time in it that is none"})

// params returns a request as the params that it stands for.
func params(req proto.Message) ([]byte, error) {
	body, err := protojson.Marshal(req)
	if err != nil {
		return nil, errNoJSON
	}
	return body, nil
}
