// Package scripted is the agent that conformance kits want to talk to. The
// public compatibility kits of A2A steer the agent behind a server by the
// beginning of a message's id: one asks for a file, one for a question, one for
// a refusal. Behind those ids are tasks like any others, planned, carried out
// and recorded by the same workflows.
//
// Use it to run a kit against a server (see docs/conformance.md), or in tests of
// clients that need an agent which does what it is told.
package scripted

import (
	"context"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/api/service"
	"longhaul/opt"
)

// Kind is the kind of the tasks that the agent plans. Workers need [Executor]
// under this name.
const Kind = "scripted"

// Agent makes each message a plan of one task, or answers it at once where the
// script says so. It implements [service.Agent]; its zero value is ready.
type Agent struct{}

// Decide implements [service.Agent].
func (Agent) Decide(_ context.Context, m a2a.Message) (service.Decision, error) {
	a := actFor(m.MessageID)
	if a.answer != "" {
		return service.Decision{Answer: &a2a.Message{Parts: []a2a.Part{a2a.TextPart(a.answer)}}}, nil
	}
	return service.Decision{
		Planner: Kind,
		Reason:  "the id of the message begins with " + a.prefix,
		Plans:   []opt.PlanSpec{{Name: "Script", Tasks: []opt.TaskSpec{{Name: a.name(), Executor: Kind}}}},
	}, nil
}

// Skills says what the agent is good for.
func (Agent) Skills() []service.Skill {
	return []service.Skill{{
		ID: Kind, Name: "Conformance script", Tags: []string{"conformance"},
		Description: "Does what the beginning of a message's id asks for, the way the compatibility kits of A2A expect it.",
		Examples:    []string{"Hello"},
	}}
}

// Executor does what the id of a message asks for: that of the request, or of
// the latest reply to a question. It implements [activities.Executor]; its zero
// value is ready.
type Executor struct{}

// Execute implements [activities.Executor]. It asks nothing of others, so a
// second run is harmless.
func (Executor) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	a := actFor(cue(w))
	if err := pause(ctx, a.works); err != nil {
		return activities.Outcome{}, err
	}
	switch {
	case a.asks != "":
		return activities.WaitFor(opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "q1", Question: a.asks}}}), nil
	case a.refuses != "":
		return activities.Rejected("declined", a.refuses), nil
	}
	for i, piece := range a.streams {
		if err := out.Chunk(ctx, piece, i == len(a.streams)-1); err != nil {
			return activities.Outcome{}, err
		}
	}
	return activities.Completed(a.makes...), nil
}

// cue returns the id of the message that says what to do now.
func cue(w activities.Work) string {
	switch {
	case len(w.Replies) > 0:
		return w.Replies[len(w.Replies)-1].MessageID
	case len(w.Messages) > 0:
		return w.Messages[0].MessageID
	}
	return ""
}
