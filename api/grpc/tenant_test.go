package grpc_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"longhaul/internal/test"
)

// The answer to every method, about the work of another tenant, is the one of a
// server without that work.
func TestTenants_apart(t *testing.T) {
	full, empty := newService(t, pushOn), newService(t, pushOn)
	for stage, text := range map[string]string{"running": "slow", "ended": "write", "failed": "fail"} {
		root := full.send(t, stage, text).GetId()
		for _, id := range []string{root, taskOf(root)} {
			config := &a2apb.TaskPushNotificationConfig{TaskId: id, Id: "c", Url: "https://example.com/p"}
			test.OK(t, test.Err(full.CreateTaskPushNotificationConfig(with(t), config)))
			for method, call := range calls(id, root, stage) {
				if diff := cmp.Diff(outcome(t, empty, call), outcome(t, full, call)); diff != "" {
					t.Errorf("%s of %s: without the other's work (-), with it (+):\n%s", method, stage, diff)
				}
			}
		}
	}
}

// calls has a call of each method about a task and the context of its objective.
func calls(id, root, stage string) map[string]func(context.Context, *fixture) (proto.Message, error) {
	reply := said("reply-"+stage, "accept")
	reply.Message.TaskId = id
	joins := said("joins-"+stage, "hello")
	joins.Message.ContextId = root
	config := &a2apb.TaskPushNotificationConfig{TaskId: id, Id: "c", Url: "https://example.com/p", Tenant: "acme"}
	return map[string]func(context.Context, *fixture) (proto.Message, error){
		"SendMessage":                func(ctx context.Context, s *fixture) (proto.Message, error) { return s.SendMessage(ctx, reply) },
		"SendMessage in its context": func(ctx context.Context, s *fixture) (proto.Message, error) { return s.SendMessage(ctx, joins) },
		"SendStreamingMessage": func(ctx context.Context, s *fixture) (proto.Message, error) {
			stream, err := s.SendStreamingMessage(ctx, reply)
			return first(stream, err)
		},
		"GetTask": func(ctx context.Context, s *fixture) (proto.Message, error) {
			return s.GetTask(ctx, &a2apb.GetTaskRequest{Id: id})
		},
		"ListTasks": func(ctx context.Context, s *fixture) (proto.Message, error) {
			return s.ListTasks(ctx, &a2apb.ListTasksRequest{Tenant: "acme", ContextId: root})
		},
		"CancelTask": func(ctx context.Context, s *fixture) (proto.Message, error) {
			return s.CancelTask(ctx, &a2apb.CancelTaskRequest{Id: id})
		},
		"SubscribeToTask": func(ctx context.Context, s *fixture) (proto.Message, error) {
			stream, err := s.SubscribeToTask(ctx, &a2apb.SubscribeToTaskRequest{Id: id})
			return first(stream, err)
		},
		"CreateTaskPushNotificationConfig": func(ctx context.Context, s *fixture) (proto.Message, error) {
			return s.CreateTaskPushNotificationConfig(ctx, config)
		},
		"GetTaskPushNotificationConfig": func(ctx context.Context, s *fixture) (proto.Message, error) {
			return s.GetTaskPushNotificationConfig(ctx, &a2apb.GetTaskPushNotificationConfigRequest{TaskId: id, Id: "c"})
		},
		"ListTaskPushNotificationConfigs": func(ctx context.Context, s *fixture) (proto.Message, error) {
			return s.ListTaskPushNotificationConfigs(ctx, &a2apb.ListTaskPushNotificationConfigsRequest{TaskId: id})
		},
		"DeleteTaskPushNotificationConfig": func(ctx context.Context, s *fixture) (proto.Message, error) {
			return s.DeleteTaskPushNotificationConfig(ctx, &a2apb.DeleteTaskPushNotificationConfigRequest{TaskId: id, Id: "c"})
		},
		"GetExtendedAgentCard": func(ctx context.Context, s *fixture) (proto.Message, error) {
			return s.GetExtendedAgentCard(ctx, &a2apb.GetExtendedAgentCardRequest{})
		},
	}
}

// first returns the first event of a stream, or its error.
func first[M proto.Message](stream interface{ Recv() (M, error) }, err error) (proto.Message, error) {
	if err != nil {
		return nil, err
	}
	event, err := stream.Recv()
	if err == io.EOF {
		err = nil
	}
	return event, err
}

// outcome returns what a caller of another tenant gets for a call, as text.
func outcome(t *testing.T, s *fixture, call func(context.Context, *fixture) (proto.Message, error)) string {
	ctx, cancel := context.WithCancel(with(t, "authorization", "Bearer rival/rob"))
	defer cancel()
	answer, err := call(ctx, s)
	if err != nil {
		return fmt.Sprint(status.Code(err), prototext.MarshalOptions{}.Format(status.Convert(err).Proto()))
	}
	return prototext.MarshalOptions{}.Format(answer)
}
