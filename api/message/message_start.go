package message

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/push"
	"longhaul/api/write"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// keyClientObjective is the key in an objective's metadata for the id that its
// client gave it.
const keyClientObjective = "opt/v1/clientObjectiveId"

// deliverNew delivers a message that names no task. It starts the objective of its
// context if that waits to be started; else it begins new work, or is answered at
// once. A repeated message finds the task that it began.
func (s *Messages) deliverNew(ctx context.Context, c *call.Call, p SendParams) (*Receipt, error) {
	if err := c.RequireScopes(call.CreateRuns); err != nil {
		return nil, err
	}
	m := p.Message
	if err := acceptMedia(s.Accepts, m); err != nil {
		return nil, err
	}
	contextID, idle, err := s.contextOf(ctx, c, p)
	if err != nil {
		return nil, err
	}
	if idle != nil {
		if d, err := s.startIdle(ctx, c, p, idle); !errors.Is(err, errNotIdle) {
			return d, err
		}
	}
	id, err := s.IDs.Objective(c, m, p.Once)
	if err != nil {
		return nil, err
	}
	d, err := s.findBegun(ctx, c, id, p.light)
	if d != nil || err != nil {
		return d, err
	}
	plans, decision, err := s.askAgent(ctx, p, contextID, id)
	if err != nil {
		return nil, err
	}
	if decision.Answer != nil {
		return s.agentAnswer(decision.Answer, contextID, id)
	}
	if err := s.Quotas.AdmitWork(ctx, c.Tenant, cmp.Or(contextID, id), write.OfNewWork...); err != nil {
		return nil, err
	}
	o := opt.Opening{Objective: s.newObjective(c, p, id), Message: &p.light, Plans: plans}
	o.Objective.ContextID = cmp.Or(contextID, id)
	o.Objective.Metadata = o.Objective.Metadata.
		WithIf(decision.Planner != "", opt.KeyPlanner, decision.Planner).WithIf(decision.Reason != "", opt.KeyReason, decision.Reason)
	return s.begin(ctx, c, p, o)
}

// begin stores the contents of a message and starts the objective that it begins.
func (s *Messages) begin(ctx context.Context, c *call.Call, p SendParams, o opt.Opening) (*Receipt, error) {
	id := o.Objective.ID
	w := s.Watch(id)
	err := s.Out.StoreBlobs(ctx, id, p.blobs)
	if err == nil {
		o, err = s.startInContext(ctx, c, o, p.Push)
	}
	switch {
	case err == nil:
		return &Receipt{TaskID: id, Watch: w, begun: !o.Found}, nil
	case errors.Is(err, opt.ErrEnded):
		w.Close()
		return s.findEnded(ctx, c, id, p.light)
	}
	w.Close()
	return nil, err
}

// startInContext starts an objective, behind the open ones of its context. Its push
// config, if there is one, is stored first.
func (s *Messages) startInContext(ctx context.Context, c *call.Call, o opt.Opening, push *push.PushRequest) (opt.Opening, error) {
	if o.Objective.ContextID != o.Objective.ID {
		ctx, cancel := s.Out.Detached(ctx)
		defer cancel()
		queuedAt, err := s.Out.EnterQueue(ctx, o.Objective)
		if err != nil {
			return o, err
		}
		o.Objective.QueuedAt = queuedAt
	}
	undo, err := s.Pushes.Attach(ctx, c, push, o.Objective.ID, o.Objective.Digest)
	if err == nil {
		o, err = s.Out.Start(ctx, o)
	}
	return o, undo(err)
}

// findEnded returns the ended task that a repeated message began. If the journal
// has removed the task, the error is that it is unknown; the message does not
// begin new work.
func (s *Messages) findEnded(ctx context.Context, c *call.Call, id string, m a2a.Message) (*Receipt, error) {
	d, err := s.findBegun(ctx, c, id, m)
	if d == nil && err == nil {
		err = call.TaskUnknown(id)
	}
	return d, err
}

// contextOf returns the context of a message, "" for a new one, and the existing
// objective that the message starts, if any: one from objectives/create that was
// not started, or was started by this message.
func (s *Messages) contextOf(ctx context.Context, c *call.Call, p SendParams) (string, *opt.Objective, error) {
	contextID := p.Message.ContextID
	if h := p.Hints.Objective; h != nil && h.ID != "" && call.IsValidID(h.ID) {
		o, err := s.Journal.Objective(ctx, c.Tenant, h.ID)
		switch {
		case errors.Is(err, opt.ErrUnknown): // a new objective, which keeps the client's id as metadata
		case err != nil:
			return "", nil, err
		case contextID != "" && contextID != o.ContextID:
			return "", nil, call.InvalidField("message.contextId", "is not that of the objective in the metadata")
		default:
			contextID = o.ContextID
		}
	}
	if contextID == "" {
		return "", nil, nil
	}
	key, err := s.IDs.Letter(c)
	if err != nil {
		return "", nil, err
	}
	idle, err := s.findIdle(ctx, c, contextID, opt.Letter{Key: key, Message: p.light}.Once())
	return contextID, idle, err
}

// findIdle returns the first objective of a context, if it is from
// objectives/create and was not started, or was started by this message. Its id
// is the context's.
func (s *Messages) findIdle(ctx context.Context, c *call.Call, contextID, once string) (*opt.Objective, error) {
	if _, ok := opt.ParseID(contextID); !ok {
		return nil, nil
	}
	o, err := s.Journal.Objective(ctx, c.Tenant, contextID)
	switch {
	case errors.Is(err, opt.ErrUnknown):
		return nil, nil
	case err != nil, o.MessageID != "": // a message created and started it
		return nil, err
	case !o.Started && !o.Closed() && o.QueuedAt.IsZero():
		return o, nil
	}
	_, judged, err := s.Journal.Judgement(ctx, o.ID, c.Principal, once)
	if !judged || err != nil {
		return nil, err
	}
	return o, nil
}

// startIdle sends a message to an objective that waits to be started, which starts it.
func (s *Messages) startIdle(ctx context.Context, c *call.Call, p SendParams, o *opt.Objective) (*Receipt, error) {
	switch {
	case p.Hints.BringsPlans():
		return nil, call.InvalidField("message.metadata", "has a plan for an existing objective; add it with plans/create")
	case p.Message.Metadata.Has(opt.KeyAccept):
		return nil, BadCriteria("is for new work: the objective exists already")
	}
	v, err := s.Read.Task(ctx, c, o.RootID(), shown.TaskWant{})
	if err != nil {
		return nil, err
	}
	key, err := s.IDs.Letter(c)
	if err != nil {
		return nil, err
	}
	l := opt.Letter{ObjectiveID: o.ID, TaskID: v.Task.ID, Message: p.light, Principal: c.Principal, Key: key, Begins: true, Shapers: p.Shapers}
	if d, err := s.judgedBefore(ctx, c, v, l); d != nil || err != nil {
		return d, err
	}
	if err := s.Quotas.AdmitWork(ctx, c.Tenant, o.ContextID, write.OfMoreWork...); err != nil {
		return nil, err
	}
	if err := s.Out.StoreBlobs(ctx, o.ID, p.blobs); err != nil {
		return nil, err
	}
	if l.QueuedAt, err = s.Out.EnterQueue(ctx, *o); err != nil {
		return nil, err
	}
	return s.sendLetter(ctx, c, v, l, p.Push)
}

// errNotIdle is returned for a message to an idle objective that another message
// has started meanwhile: the message begins new work.
var errNotIdle = fmt.Errorf("the objective is not idle: %w", push.ErrNoEffect)

// findBegun returns the task that a repeated message began, nil if the message is
// new. A blocking repeat waits like the first send, so that a client whose
// connection broke can continue to wait.
func (s *Messages) findBegun(ctx context.Context, c *call.Call, id string, m a2a.Message) (*Receipt, error) {
	w := s.Watch(id)
	_, _, err := s.Journal.Peek(ctx, c.Tenant, id) // most messages are new
	var v shown.TaskView
	if err == nil {
		v, err = s.Journal.Task(ctx, c.Tenant, id, shown.TaskWant{})
	}
	switch {
	case err == nil && opt.SameContent(v.Digest, m, s.IDs.ReplacingKey(c)):
		c.SetIDs(id, id)
		return &Receipt{TaskID: id, Watch: w}, nil
	case err == nil:
		err = opt.ErrConflict
	case errors.Is(err, opt.ErrUnknown):
		err = nil
	}
	w.Close()
	return nil, err
}

// askAgent asks the agent how to handle a message, unless the message has plans.
// The agent sees the message with its context; the message is stored as it was
// sent.
func (s *Messages) askAgent(ctx context.Context, p SendParams, contextID, id string) ([]opt.PlanSpec, Decision, error) {
	plans, field := givenPlans(p.Hints)
	switch wants := p.Message.Metadata.Has(opt.KeyAccept); {
	case len(plans) > 0 && wants:
		return nil, Decision{}, BadCriteria("is for plans that the server makes: the message has its own")
	case len(plans) > 0:
		return plans, Decision{}, s.Plans.Check(field, plans)
	}
	m := p.Message
	m.ContextID = contextID
	d, err := s.Agent.Decide(ctx, m)
	if err == nil {
		err = d.checkCriteria(m)
	}
	if err != nil {
		return nil, Decision{}, fmt.Errorf("decide about a message: %w", err)
	}
	if err := s.Plans.Check("", d.Plans); err != nil && m.Metadata.Has(opt.KeyAccept) {
		return nil, Decision{}, BadCriteria("does not fit the plans: " + err.Error())
	} else if err != nil {
		return nil, Decision{}, fmt.Errorf("the agent's plan for %s: %v", id, err) // not an error of the client
	}
	return d.Plans, d, nil
}

// givenPlans returns the plans in a message, and their path in it.
func givenPlans(h Hints) ([]opt.PlanSpec, string) {
	switch {
	case h.Plan != nil:
		return []opt.PlanSpec{*h.Plan}, "message.metadata." + opt.KeyPlan + "."
	case h.Objective != nil:
		return h.Objective.Plans, "message.metadata." + opt.KeyObjective + ".plans[%d]."
	}
	return nil, ""
}

// agentAnswer returns the agent's answer to a message. It is not stored: ids that the agent
// left out are derived from the ids of the message, so that a repeat gets the same.
func (s *Messages) agentAnswer(answer *a2a.Message, contextID, id string) (*Receipt, error) {
	if len(answer.Parts) == 0 {
		return nil, call.ErrAgentAnswer
	}
	m, unique := *answer, strings.TrimPrefix(id, "obj-")
	m.Role, m.TaskID = a2a.RoleAgent, ""
	m.MessageID = cmp.Or(m.MessageID, "msg-"+unique)
	m.ContextID = cmp.Or(contextID, m.ContextID, "ctx-"+unique)
	return &Receipt{Answer: &m}, nil
}

// newObjective returns the first state of the objective that a message begins.
func (s *Messages) newObjective(c *call.Call, p SendParams, id string) opt.Objective {
	m, now := p.Message, a2a.At(s.Now())
	o := opt.Objective{
		ID: id, ContextID: id, Tenant: c.Tenant, Principal: c.Principal, Shapers: p.Shapers,
		Name: p.Hints.SuggestedName, Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted,
		CreatedAt: now, UpdatedAt: now, Attempt: 1, Revision: 1, MessageID: m.MessageID, Digest: opt.DigestUnder(s.IDs.ReplacingKey(c), p.light), Limits: s.Quotas.Counted(s.Plans.Limits, c.Tenant),
	}
	if h := p.Hints.Objective; h != nil {
		o.Name, o.Description = cmp.Or(o.Name, h.Name), h.Description
		o.Metadata = h.Metadata.WithIf(h.ID != "", keyClientObjective, h.ID)
	}
	o.Name = cmp.Or(o.Name, nameFrom(m.Text()))
	for key, value := range p.Metadata {
		o.Metadata = o.Metadata.With(key, value)
	}
	return o
}

// nameFrom returns the first 80 characters of a text, as one line without invisible
// format characters.
func nameFrom(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Cf, c) {
			return -1
		}
		return c
	}, text)
	separates := func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }
	name := []rune(strings.Join(strings.FieldsFunc(text, separates), " "))
	if len(name) == 0 {
		return "Untitled objective"
	}
	return strings.TrimSpace(string(name[:min(len(name), 80)]))
}
