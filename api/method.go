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
	result any
	feed   *feed
}

// table is the whole JSON-RPC surface: one line per method.
func (s *Server) table() []*method {
	return []*method{
		core("message/send", "SendMessage", reply(s, wire.ReadSend, s.sendMessage, wire.Version.Sent)),
		core("message/stream", "SendStreamingMessage", streaming(s, wire.ReadSend, s.streamMessage)).streams(),
		core("tasks/get", "GetTask", reply(s, wire.ReadTask, s.getTask, wire.Version.Task)),
		core("tasks/list", "ListTasks", reply(s, wire.ReadTaskList, s.listTasks, wire.Version.TaskPage)),
		core("tasks/cancel", "CancelTask", reply(s, wire.ReadTask, s.cancelTask, wire.Version.Task)),
		core("tasks/resubscribe", "SubscribeToTask", streaming(s, wire.ReadTask, s.subscribe)).streams(),

		core("tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig", refused(s, errPush)),
		core("tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig", refused(s, errPush)),
		core("tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs", refused(s, errPush)),
		core("tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig", refused(s, errPush)),
		core("agent/getAuthenticatedExtendedCard", "", refused(s, errExtendedCard)),
		core("", "GetExtendedAgentCard", refused(s, errUndeclared)),

		extension("objectives/create", reply(s, wire.ReadCreateObjective, s.createObjective, wire.Version.NewObjective)),
		extension("objectives/get", reply(s, wire.ReadGetObjective, s.getObjective, wire.Version.Objective)),
		extension("objectives/list", reply(s, wire.ReadListObjectives, s.listObjectives, wire.Version.ObjectivePage)),
		extension("plans/create", reply(s, wire.ReadCreatePlan, s.createPlan, wire.Version.NewPlan)),
		extension("plans/get", reply(s, wire.ReadGetPlan, s.getPlan, wire.Version.Plan)),
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
		return outcome{result: write(r.Version, result)}, nil
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
	return p, nil
}
