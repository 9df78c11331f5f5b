package api

import (
	"context"

	"longhaul/api/service"
	"longhaul/api/wire"
)

// An operation is one line of the table: an operation of the service, the names
// under which the two versions call it, and how its parameters are read and its
// result is written.
type operation struct {
	names  map[wire.Version]string
	stream bool
	opt    bool
	run    run
}

type run = func(context.Context, *service.Call, *wire.Reader) (outcome, error)

// An outcome is a result in its wire form, or a stream.
type outcome struct {
	result any
	stream *service.Stream // nil for a result
}

// table is the whole surface: one line per operation.
func table(s *service.Service) []*operation {
	return []*operation{
		coreOperation("message/send", "SendMessage", reply(s, wire.ReadSend, s.SendMessage, wire.Version.Sent)),
		coreOperation("message/stream", "SendStreamingMessage", streaming(s, wire.ReadSend, s.StreamMessage)).streams(),
		coreOperation("tasks/get", "GetTask", reply(s, wire.ReadTask, s.GetTask, wire.Version.Task)),
		coreOperation("tasks/list", "ListTasks", reply(s, wire.ReadTaskList, s.ListTasks, wire.Version.TaskPage)),
		coreOperation("tasks/cancel", "CancelTask", reply(s, wire.ReadCancel, s.CancelTask, wire.Version.Task)),
		coreOperation("tasks/resubscribe", "SubscribeToTask", streaming(s, wire.ReadTask, s.Subscribe)).streams(),

		coreOperation("tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig", pushing(s, wire.ReadCreatePush, s.CreatePush, wire.WritePush)),
		coreOperation("tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig", pushing(s, wire.ReadGetPush, s.GetPush, wire.WritePush)),
		coreOperation("tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs", pushing(s, wire.ReadListPushes, s.ListPushes, wire.WritePushPage)),
		coreOperation("tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig", pushing(s, wire.ReadDeletePush, s.DeletePush, wire.WriteNothing)),
		coreOperation("agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard", reply(s, wire.ReadExtendedCard, s.ExtendedCard, wire.Version.PureCard)),

		optOperation("objectives/create", reply(s, wire.ReadCreateObjective, s.CreateObjective, wire.Version.NewObjective)),
		optOperation("objectives/get", reply(s, wire.ReadGetObjective, s.GetObjective, wire.Version.Objective)),
		optOperation("objectives/list", reply(s, wire.ReadListObjectives, s.ListObjectives, wire.Version.ObjectivePage)),
		optOperation("objectives/update", reply(s, wire.ReadUpdateObjective, s.UpdateObjective, wire.Version.Objective)),
		optOperation("objectives/replan", reply(s, wire.ReadReplan, s.Replan, wire.Version.Objective)),
		optOperation("plans/create", reply(s, wire.ReadCreatePlan, s.CreatePlan, wire.Version.NewPlan)),
		optOperation("plans/get", reply(s, wire.ReadGetPlan, s.GetPlan, wire.Version.Plan)),
		optOperation("plans/update", reply(s, wire.ReadUpdatePlan, s.UpdatePlan, wire.Version.Plan)),
		optOperation("plans/addTasks", reply(s, wire.ReadAddTasks, s.AddTasks, wire.Version.Plan)),
		optOperation("tasks/link", reply(s, wire.ReadLinkTask, s.LinkTask, wire.Version.LinkedTask)),
		optOperation("tasks/updateStatus", reply(s, wire.ReadUpdateTaskStatus, s.UpdateTaskStatus, wire.Version.MovedTask)),
	}
}

func coreOperation(name03, name10 string, run run) *operation {
	return &operation{names: map[wire.Version]string{wire.V03: name03, wire.V10: name10}, run: run}
}

func optOperation(name string, run run) *operation {
	return &operation{names: map[wire.Version]string{wire.V03: name, wire.V10: name}, run: run, opt: true}
}

func (o *operation) streams() *operation {
	o.stream = true
	return o
}

// byName indexes operations by all their names, which are unique.
func byName(operations []*operation) map[string]*operation {
	index := map[string]*operation{}
	for _, o := range operations {
		for _, name := range o.names {
			index[name] = o
		}
	}
	return index
}

// reply makes an operation of a handler that answers once.
func reply[P, R any](s *service.Service, read func(*wire.Reader) P, handle func(context.Context, *service.Call, P) (R, error), write func(wire.Version, R) any) run {
	return answering(func(c *service.Call, r *wire.Reader) (P, error) { return params(s, c, r, read) }, handle, write)
}

// answering is reply with a function that reads and checks the params of a call.
func answering[P, R any](params func(*service.Call, *wire.Reader) (P, error), handle func(context.Context, *service.Call, P) (R, error), write func(wire.Version, R) any) run {
	return func(ctx context.Context, c *service.Call, r *wire.Reader) (outcome, error) {
		p, err := params(c, r)
		if err != nil {
			return outcome{}, err
		}
		result, err := handle(ctx, c, p)
		if err != nil {
			return outcome{}, err
		}
		return outcome{result: write(r.Version, result)}, nil
	}
}

// pushing makes an operation of a handler for push configs. The operation is
// refused if push is off.
func pushing[P, R any](s *service.Service, read func(*wire.Reader) P, handle func(context.Context, *service.Call, P) (R, error), write func(wire.Version, R) any) run {
	if !s.Pushes() {
		return refused(s, service.ErrNoPush)
	}
	return reply(s, read, handle, write)
}

// streaming makes an operation of a handler that opens a stream. The operation is
// refused if streaming is off.
func streaming[P any](s *service.Service, read func(*wire.Reader) P, handle func(context.Context, *service.Call, P) (*service.Stream, error)) run {
	if !s.Streams() {
		return refused(s, service.ErrNoStreaming)
	}
	return func(ctx context.Context, c *service.Call, r *wire.Reader) (outcome, error) {
		p, err := params(s, c, r, read)
		if err != nil {
			return outcome{}, err
		}
		stream, err := handle(ctx, c, p)
		return outcome{stream: stream}, err
	}
}

// refused makes an operation that is not offered.
func refused(s *service.Service, fault *service.Fault) run {
	return func(_ context.Context, c *service.Call, r *wire.Reader) (outcome, error) {
		if _, err := params(s, c, r, wire.Nothing); err != nil {
			return outcome{}, err
		}
		return outcome{}, fault
	}
}

func params[P any](s *service.Service, c *service.Call, r *wire.Reader, read func(*wire.Reader) P) (P, error) {
	r.Tenant = c.Tenant
	if c.OfOPT {
		c.TakeKey(r.RequestID())
	}
	return wire.Params(c, r, read, func(mentioned []string) error { return s.Activate(c, mentioned) })
}
