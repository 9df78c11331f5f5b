package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"longhaul/a2a"
	"longhaul/api/wire"
	"longhaul/opt"
)

// Keys in an objective's metadata for what the message said or the agent decided.
const (
	keyClientObjective = "opt/v1/clientObjectiveId"
	keyReason          = "longhaul/v1/reason"
)

// begin takes a message that names no task. It starts an objective that waits to
// be started, if the message's context is that of one; else it is new work, or is
// answered at once. The same message again finds what it began.
func (s *Server) begin(ctx context.Context, c *call, p wire.SendParams) (*delivery, error) {
	m := p.Message
	if err := s.checkMedia(m); err != nil {
		return nil, err
	}
	contextID, idle, err := s.contextOf(ctx, c, p)
	if err != nil {
		return nil, err
	}
	if idle != nil {
		return s.wake(ctx, c, p, idle)
	}
	id, err := s.objectiveID(c, m)
	if err != nil {
		return nil, err
	}
	d, err := s.begun(ctx, c, id, m)
	if d != nil || err != nil {
		return d, err
	}
	plans, decision, err := s.decide(ctx, p, contextID, id)
	if err != nil {
		return nil, err
	}
	if decision.Answer != nil {
		return s.answerNow(decision.Answer, contextID, id)
	}
	o := opt.Opening{Objective: s.newObjective(c, p, id), Message: &m, Plans: plans}
	if contextID != "" {
		o.Objective.ContextID = contextID
	}
	for key, value := range map[string]string{opt.KeyPlanner: decision.Planner, keyReason: decision.Reason} {
		if value != "" {
			o.Objective.Metadata = o.Objective.Metadata.With(key, value)
		}
	}
	w := s.cfg.Watch(id)
	if err := s.startInContext(ctx, o); err != nil {
		w.Close()
		if errors.Is(err, opt.ErrEnded) {
			return s.beganOnce(ctx, c, id, m)
		}
		return nil, err
	}
	return &delivery{taskID: id, watch: w}, nil
}

// startInContext starts an objective, or has it wait behind what is open in its
// context. Sends to one context are taken one after another.
func (s *Server) startInContext(ctx context.Context, o opt.Opening) error {
	if o.Objective.ContextID != o.Objective.ID {
		leave, err := s.lane(ctx, &o.Objective)
		if err != nil {
			return err
		}
		defer leave()
		if err := s.enqueue(ctx, &o); err != nil {
			return err
		}
	}
	_, err := s.start(ctx, o)
	return err
}

// beganOnce returns the task that a repeated message began, and that has ended:
// just now, or so long ago that the journal has it no more. Then it is gone for
// the message as for everybody, and comes back neither in part nor as new work.
func (s *Server) beganOnce(ctx context.Context, c *call, id string, m a2a.Message) (*delivery, error) {
	d, err := s.begun(ctx, c, id, m)
	if d == nil && err == nil {
		err = taskNotFound(id)
	}
	return d, err
}

// contextOf returns the context that a message is for, "" for a new one, and the
// objective that the message starts, if it starts one that is there: one made by
// objectives/create that has not been started, or was by this very message.
func (s *Server) contextOf(ctx context.Context, c *call, p wire.SendParams) (string, *opt.Objective, error) {
	contextID := p.Message.ContextID
	if h := p.Hints.Objective; h != nil && h.ID != "" && plausible(h.ID) {
		o, err := s.cfg.Journal.Objective(ctx, c.Tenant, h.ID)
		switch {
		case errors.Is(err, opt.ErrUnknown): // a new objective, which keeps the client's id as metadata
		case err != nil:
			return "", nil, err
		case contextID != "" && contextID != o.ContextID:
			return "", nil, invalid("message.contextId", "is not that of the objective in the metadata")
		default:
			contextID = o.ContextID
		}
	}
	if contextID == "" {
		return "", nil, nil
	}
	key, err := s.letterKey(c)
	if err != nil {
		return "", nil, err
	}
	idle, err := s.idleOf(ctx, c, contextID, opt.Letter{Key: key, Message: p.Message}.Once())
	return contextID, idle, err
}

// wake starts an objective that waits to be started, by telling it the message.
func (s *Server) wake(ctx context.Context, c *call, p wire.SendParams, o *opt.Objective) (*delivery, error) {
	if p.Hints.Plan != nil || p.Hints.Objective != nil && len(p.Hints.Objective.Plans) > 0 {
		return nil, invalid("message.metadata", "brings a plan for an objective that is there already; add it with plans/create")
	}
	v, err := s.task(ctx, c, o.RootID(), opt.TaskWant{})
	if err != nil {
		return nil, err
	}
	key, err := s.letterKey(c)
	if err != nil {
		return nil, err
	}
	l := opt.Letter{ObjectiveID: o.ID, TaskID: v.Task.ID, Message: p.Message, Principal: c.Principal, Key: key}
	if d, err := s.said(ctx, c, v, l); d != nil || err != nil {
		return d, err
	}
	return s.tell(ctx, c, v, l)
}

// objectiveID returns the id of the objective that a message begins. What makes
// two sends the same send makes their ids the same.
func (s *Server) objectiveID(c *call, m a2a.Message) (string, error) {
	switch {
	case s.cfg.Idempotency != NoRepeats && c.key != "":
		return opt.DerivedObjectiveID(c.Tenant, c.Principal, "key:"+c.key), nil
	case s.cfg.Idempotency == ByMessageID:
		return opt.DerivedObjectiveID(c.Tenant, c.Principal, m.MessageID), nil
	}
	return s.randomObjectiveID()
}

func (s *Server) randomObjectiveID() (string, error) {
	var unique [16]byte
	if _, err := io.ReadFull(s.cfg.Rand, unique[:]); err != nil {
		return "", fmt.Errorf("draw an id: %w", err)
	}
	return opt.NewObjectiveID(unique), nil
}

// begun returns the task that a repeated message began, nil if this is the first
// time. A repeat that blocks waits like the first send: to ask again is how a
// client whose wait was cut short goes on waiting.
func (s *Server) begun(ctx context.Context, c *call, id string, m a2a.Message) (*delivery, error) {
	w := s.cfg.Watch(id)
	v, err := s.cfg.Journal.Task(ctx, c.Tenant, id, opt.TaskWant{})
	switch {
	case err == nil && v.Digest == m.Digest():
		c.saw(id, id)
		return &delivery{taskID: id, watch: w}, nil
	case err == nil:
		err = errOtherContent
	case errors.Is(err, opt.ErrUnknown):
		err = nil
	}
	w.Close()
	return nil, err
}

// decide asks the agent what a message is to become, unless it brings its plan.
// The agent sees the message with its context; what is kept is the message as it
// was sent.
func (s *Server) decide(ctx context.Context, p wire.SendParams, contextID, id string) ([]opt.PlanSpec, Decision, error) {
	if plans, field := planned(p.Hints); len(plans) > 0 {
		return plans, Decision{}, s.checkPlans(field, plans)
	}
	m := p.Message
	m.ContextID = contextID
	d, err := s.cfg.Agent.Decide(ctx, m)
	if err != nil {
		return nil, Decision{}, fmt.Errorf("decide about a message: %w", err)
	}
	if err := s.checkPlans("", d.Plans); err != nil {
		return nil, Decision{}, fmt.Errorf("the agent's plan for %s: %v", id, err) // not the client's mistake
	}
	return d.Plans, d, nil
}

// planned returns the plans that a message brings, and where they stand in it.
func planned(h wire.Hints) ([]opt.PlanSpec, string) {
	switch {
	case h.Plan != nil:
		return []opt.PlanSpec{*h.Plan}, "message.metadata." + opt.KeyPlan + "."
	case h.Objective != nil:
		return h.Objective.Plans, "message.metadata." + opt.KeyObjective + ".plans[%d]."
	}
	return nil, ""
}

// answerNow sends the agent's answer. Nothing is kept of it, so its ids follow
// from what was asked, where the agent gave none.
func (s *Server) answerNow(answer *a2a.Message, contextID, id string) (*delivery, error) {
	if len(answer.Parts) == 0 {
		return nil, errAgentAnswer
	}
	m, unique := *answer, strings.TrimPrefix(id, "obj-")
	m.Role, m.TaskID = a2a.RoleAgent, ""
	if m.MessageID == "" {
		m.MessageID = "msg-" + unique
	}
	if contextID != "" {
		m.ContextID = contextID
	}
	if m.ContextID == "" {
		m.ContextID = "ctx-" + unique
	}
	return &delivery{answer: &m}, nil
}

// newObjective returns the objective that a message begins, as it is at first.
func (s *Server) newObjective(c *call, p wire.SendParams, id string) opt.Objective {
	m, now := p.Message, a2a.At(s.cfg.Now())
	o := opt.Objective{
		ID: id, ContextID: id, Tenant: c.Tenant, Principal: c.Principal,
		Name: p.Hints.SuggestedName, Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted,
		CreatedAt: now, UpdatedAt: now, Attempt: 1, Revision: 1, MessageID: m.MessageID, Digest: m.Digest(),
	}
	if h := p.Hints.Objective; h != nil {
		o.Description, o.Metadata = h.Description, h.Metadata
		if o.Name == "" {
			o.Name = h.Name
		}
		if h.ID != "" {
			o.Metadata = o.Metadata.With(keyClientObjective, h.ID)
		}
	}
	if o.Name == "" {
		o.Name = nameFrom(m.Text())
	}
	return o
}

// nameFrom returns the first 80 characters of a text, as one line.
func nameFrom(text string) string {
	name := []rune(strings.Join(strings.Fields(text), " "))
	if len(name) == 0 {
		return "Untitled objective"
	}
	return strings.TrimSpace(string(name[:min(len(name), 80)]))
}

// start starts an objective and makes it visible. When it returns nil, both are
// durable; when it does not, it is safe to do again. The client's going does not
// stop it half-way.
func (s *Server) start(ctx context.Context, o opt.Opening) (opt.Opening, error) {
	ctx, cancel := s.writing(ctx)
	defer cancel()
	o, err := s.cfg.Engine.Start(ctx, o)
	if err != nil {
		return o, fmt.Errorf("start objective: %w", err)
	}
	// The workflow records the same event. Whoever comes first, it is there once
	// the client has its answer.
	err = s.cfg.Journal.Record(ctx, opt.Batch{ObjectiveID: o.Objective.ID, Source: o.Objective.ID, Events: []opt.Event{o.Event()}})
	if err != nil {
		return o, fmt.Errorf("accept objective: %w", err)
	}
	return o, nil
}
