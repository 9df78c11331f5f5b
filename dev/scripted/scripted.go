// Package scripted is an agent for conformance kits. The public compatibility
// kits of A2A control the agent by the prefix of a message's id: one asks for a
// file, one for a question, one for a refusal. Such a message becomes an ordinary
// task, planned, run and recorded by the same workflows.
//
// Use it to run a kit against a server (see docs/conformance.md), or in tests of
// clients that need a predictable agent.
package scripted

import (
	"context"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/api/card"
	"longhaul/api/message"
	"longhaul/opt"
)

// Kind is the kind of the tasks that the agent plans. Workers need [Executor]
// under this name.
const Kind = "scripted"

// Agent makes a plan of one task for each message, or answers it at once if the
// script says so. It implements [message.Agent]; its zero value is ready.
type Agent struct{}

// Decide implements [message.Agent].
func (Agent) Decide(_ context.Context, m a2a.Message) (message.Decision, error) {
	a := actFor(m.MessageID)
	if a.answer != "" {
		return message.Decision{Answer: &a2a.Message{Parts: []a2a.Part{a2a.TextPart(a.answer)}}}, nil
	}
	return message.Decision{
		Planner: Kind,
		Reason:  "the id of the message begins with " + a.prefix,
		Plans:   []opt.PlanSpec{{Name: "Script", Tasks: []opt.TaskSpec{{Name: a.name(), Executor: Kind}}}},
	}, nil
}

// Skills returns the skills of the agent.
func (Agent) Skills() []card.Skill {
	return []card.Skill{{
		ID: Kind, Name: "Conformance script", Tags: []string{"conformance"},
		Description: "Does what the prefix of a message's id asks for, as the compatibility kits of A2A expect.",
		Examples:    []string{"Hello"},
	}}
}

// Executor does what the id of a message asks for: the request, or the latest
// reply to a question. It implements [activities.Executor]; its zero value is
// ready.
type Executor struct{}

// Execute implements [activities.Executor]. It has no side effects, so a second
// run is harmless.
func (Executor) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	a := actFor(scriptID(w))
	if err := activities.Sleep(ctx, a.works); err != nil {
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

// scriptID returns the id of the message that decides what to do.
func scriptID(w activities.Work) string {
	switch {
	case len(w.Replies) > 0:
		return w.Replies[len(w.Replies)-1].MessageID
	case len(w.Messages) > 0:
		return w.Messages[0].MessageID
	}
	return ""
}
