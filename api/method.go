package api

import (
	"context"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/api/wire"
)

// A method is one line of the table: a handler, the names under which the two
// versions call it, and how its params are read and its result is written.
type method struct {
	names  map[wire.Version]string
	stream bool
	opt    bool
	run    func(ctx context.Context, c *call, r *wire.Reader) (outcome, error)
}

// An outcome is a result to be written, or a stream.
type outcome struct {
	value  any // what the handler returned
	result any // that, as it stands on the wire
	feed   *feed
}

// table is the whole JSON-RPC surface: one line per method.
func (s *Server) table() []*method {
	return []*method{
		core("message/send", "SendMessage", reply(s, wire.ReadSend, s.sendMessage, wire.Version.Sent)),
		core("message/stream", "SendStreamingMessage", s.mayStream(streaming(s, wire.ReadSend, s.streamMessage))).streams(),
		core("tasks/get", "GetTask", reply(s, wire.ReadTask, s.getTask, wire.Version.Task)),
		core("tasks/list", "ListTasks", reply(s, wire.ReadTaskList, s.listTasks, wire.Version.TaskPage)),
		core("tasks/cancel", "CancelTask", reply(s, wire.ReadTask, s.cancelTask, wire.Version.Task)),
		core("tasks/resubscribe", "SubscribeToTask", s.mayStream(streaming(s, wire.ReadTask, s.subscribe))).streams(),

		core("tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig", refused(s, errPush)),
		core("tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig", refused(s, errPush)),
		core("tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs", refused(s, errPush)),
		core("tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig", refused(s, errPush)),
		core("agent/getAuthenticatedExtendedCard", "", s.extendedCard(errExtendedCard)),
		core("", "GetExtendedAgentCard", s.extendedCard(errUndeclared)),

		extension("objectives/create", reply(s, wire.ReadCreateObjective, s.createObjective, wire.Version.NewObjective)),
		extension("objectives/get", reply(s, wire.ReadGetObjective, s.getObjective, wire.Version.Objective)),
		extension("objectives/list", reply(s, wire.ReadListObjectives, s.listObjectives, wire.Version.ObjectivePage)),
		extension("objectives/update", reply(s, wire.ReadUpdateObjective, s.updateObjective, wire.Version.Objective)),
		extension("objectives/replan", reply(s, wire.ReadReplan, s.replan, wire.Version.Objective)),
		extension("plans/create", reply(s, wire.ReadCreatePlan, s.createPlan, wire.Version.NewPlan)),
		extension("plans/get", reply(s, wire.ReadGetPlan, s.getPlan, wire.Version.Plan)),
		extension("plans/update", reply(s, wire.ReadUpdatePlan, s.updatePlan, wire.Version.Plan)),
		extension("plans/addTasks", reply(s, wire.ReadAddTasks, s.addTasks, wire.Version.Plan)),
		extension("tasks/link", reply(s, wire.ReadLinkTask, s.linkTask, wire.Version.LinkedTask)),
		extension("tasks/updateStatus", reply(s, wire.ReadUpdateTaskStatus, s.updateTaskStatus, wire.Version.MovedTask)),
	}
}

type run = func(context.Context, *call, *wire.Reader) (outcome, error)

func core(name03, name10 string, run run) *method {
	return &method{names: map[wire.Version]string{wire.V03: name03, wire.V10: name10}, run: run}
}

func extension(name string, run run) *method {
	return &method{names: map[wire.Version]string{wire.V03: name, wire.V10: name}, run: run, opt: true}
}

func (m *method) streams() *method {
	m.stream = true
	return m
}

// byName indexes methods by every name they have; no two share one.
func byName(methods []*method) map[string]*method {
	index := map[string]*method{}
	for _, m := range methods {
		for _, name := range m.names {
			if name != "" {
				index[name] = m
			}
		}
	}
	return index
}

// reply makes a method of a handler that answers once.
func reply[P, R any](s *Server, read func(*wire.Reader) P, handle func(context.Context, *call, P) (R, error), write func(wire.Version, R) any) run {
	return func(ctx context.Context, c *call, r *wire.Reader) (outcome, error) {
		p, err := params(s, c, r, read)
		if err != nil {
			return outcome{}, err
		}
		result, err := handle(ctx, c, p)
		if err != nil {
			return outcome{}, err
		}
		return outcome{value: result, result: write(r.Version, result)}, nil
	}
}

// streaming makes a method of a handler that opens a stream.
func streaming[P any](s *Server, read func(*wire.Reader) P, handle func(context.Context, *call, P) (*feed, error)) run {
	return func(ctx context.Context, c *call, r *wire.Reader) (outcome, error) {
		p, err := params(s, c, r, read)
		if err != nil {
			return outcome{}, err
		}
		f, err := handle(ctx, c, p)
		return outcome{feed: f}, err
	}
}

// mayStream refuses to run a method if the card says that nothing is streamed.
func (s *Server) mayStream(run run) run {
	if s.cfg.Card.NoStreaming {
		return refused(s, errNoStreaming)
	}
	return run
}

// refused makes a method that is known and not offered.
func refused(s *Server, fault *wire.Fault) run {
	return reply(s, wire.Nothing, func(context.Context, *call, struct{}) (struct{}, error) {
		return struct{}{}, fault
	}, nil)
}

// params reads the params of a call, and settles which extensions are on: those
// that its headers or its message name, as far as the card declares them. A
// missing one that is required is told of before anything else is.
func params[P any](s *Server, c *call, r *wire.Reader, read func(*wire.Reader) P) (P, error) {
	r.Tenant = c.Tenant
	p := read(r)
	asked := append(slices.Clone(c.named), r.Mentions()...)
	if s.methods[c.method].opt {
		asked = append(asked, a2a.ExtensionOPT)
	}
	var missing []string
	for _, x := range s.cfg.Card.extensions() {
		switch {
		case slices.Contains(asked, x.URI):
			c.active = append(c.active, x.URI)
		case x.Required:
			missing = append(missing, x.URI)
		}
	}
	if len(missing) > 0 {
		return p, &wire.Fault{Code: wire.CodeExtension, Message: "Extension required: " + strings.Join(missing, ", "),
			Info: map[string]string{"extensions": strings.Join(missing, ",")}}
	}
	if fault := r.Fault(); fault != nil {
		return p, fault
	}
	if c.noID {
		return p, wire.NoID
	}
	return p, nil
}
