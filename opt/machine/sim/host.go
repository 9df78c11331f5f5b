package sim

import (
	"encoding/json"
	"reflect"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// A host is the common interface of the three machines.
type host interface {
	drive.Machine
	state() any                             // a pointer to its State
	successor() host                        // for the next run
	message(s machine.Signal) machine.Input // the content of a signal
	target(to string) string                // workflow id that a signal goes to
	source() drive.Source                   // of its events
}

type objectiveHost struct{ o *machine.Objective }

func (h objectiveHost) Handle(now a2a.Time, in machine.Input) []opt.Event { return h.o.Handle(now, in) }
func (h objectiveHost) Wants() machine.Wants                              { return h.o.Wants() }
func (h objectiveHost) state() any                                        { return &h.o.State }

func (h objectiveHost) source() drive.Source { return drive.OfObjective(&h.o.State) }

func (h objectiveHost) successor() host {
	return objectiveHost{&machine.Objective{State: h.o.State.Successor()}}
}

func (h objectiveHost) message(s machine.Signal) machine.Input {
	if s.To == machine.ToContext {
		return h.o.State.TurnRequest()
	}
	return h.o.State.Message(s.To)
}

func (h objectiveHost) target(to string) string {
	if to == machine.ToContext {
		return contextWorkflow(h.o.State.Objective.ContextID)
	}
	return to
}

type planHost struct{ p *machine.Plan }

func (h planHost) Handle(now a2a.Time, in machine.Input) []opt.Event { return h.p.Handle(now, in) }
func (h planHost) Wants() machine.Wants                              { return h.p.Wants() }
func (h planHost) state() any                                        { return &h.p.State }
func (h planHost) successor() host                                   { return planHost{&machine.Plan{State: h.p.State}} }
func (h planHost) message(machine.Signal) machine.Input              { return h.p.Message() }
func (h planHost) target(to string) string                           { return to }

func (h planHost) source() drive.Source { return drive.OfPlan(&h.p.State) }

// returned returns the outcome that an activity of the plan has to return.
func (h planHost) returned(a machine.Activity) *opt.Outcome {
	if w := h.p.State.Work[a.Of]; w != nil && w.Returning {
		return w.Returned
	}
	return nil
}

type contextHost struct{ c *machine.Context }

func (h contextHost) Handle(now a2a.Time, in machine.Input) []opt.Event { return h.c.Handle(now, in) }
func (h contextHost) Wants() machine.Wants                              { return h.c.Wants() }
func (h contextHost) state() any                                        { return &h.c.State }
func (h contextHost) successor() host                                   { return contextHost{&machine.Context{State: h.c.State}} }
func (h contextHost) message(s machine.Signal) machine.Input            { return h.c.Message(s.To) }
func (h contextHost) target(to string) string                           { return to }
func (h contextHost) source() drive.Source                              { return drive.Source{} }

// restored returns a machine of the kind of h with a state that was stored.
func restored(h host, state []byte) host {
	var out host
	switch h.(type) {
	case objectiveHost:
		out = objectiveHost{&machine.Objective{}}
	case planHost:
		out = planHost{&machine.Plan{}}
	default:
		out = contextHost{&machine.Context{}}
	}
	must(json.Unmarshal(state, out.state()))
	return out
}

// clone returns a machine that shares no memory with h: its state goes through
// JSON, as between two runs of a workflow.
func clone(h host) host { return restored(h, encoded(h.state())) }

// sent returns an input after a round trip through JSON.
func sent(in machine.Input) machine.Input {
	out := reflect.New(reflect.TypeOf(in))
	must(json.Unmarshal(encoded(in), out.Interface()))
	return out.Elem().Interface().(machine.Input)
}

// copied returns a value that shares no memory with v.
func copied[T any](v T) T {
	var out T
	must(json.Unmarshal(encoded(v), &out))
	return out
}

func encoded(v any) []byte {
	b, err := json.Marshal(v)
	must(err)
	return b
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func contextWorkflow(contextID string) string { return "context " + contextID }
