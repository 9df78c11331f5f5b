package message

import (
	"context"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
)

// A Preview is what a message would begin. With no answer and an objective without plans,
// a worker plans the work once it has begun.
type Preview struct {
	Answer    *a2a.Message   // that would be sent at once; nothing would begin
	Objective *opt.Objective // with the plans that are known; nil beside an answer
	Planner   string         // that made the plans, or must make them; "" if that is not known
	Reason    string         // for the plans, for people
	Refusal   string         // why the work would be rejected once it has begun, for people; "" if that is not known
}

// Previews has the operation that previews a message.
type Previews struct{ Messages *Messages }

// PreviewObjective returns what a message would begin, and begins nothing. The plans of the
// objective have other ids, and others may be made if the playbooks change meanwhile.
func (s Previews) PreviewObjective(ctx context.Context, c *call.Call, p SendParams) (Preview, error) {
	if err := c.RequireScopes(call.CreateRuns); err != nil {
		return Preview{}, err
	}
	if err := acceptMedia(s.Messages.Accepts, p.Message); err != nil {
		return Preview{}, err
	}
	id := opt.NewObjectiveID([16]byte{}) // never stored
	specs, d, err := s.Messages.askAgent(ctx, p, p.Message.ContextID, id)
	if err != nil {
		return Preview{}, err
	}
	if d.Answer != nil {
		sent, err := s.Messages.agentAnswer(d.Answer, p.Message.ContextID, id)
		if err != nil {
			return Preview{}, err
		}
		return Preview{Answer: sent.Answer, Planner: d.Planner, Reason: d.Reason}, nil
	}
	p.light = p.Message
	o := s.Messages.newObjective(c, p, id)
	if o.Plans, err = o.NewPlans(specs, o.CreatedAt); err != nil {
		return Preview{}, err
	}
	return Preview{Objective: &o, Planner: d.Planner, Reason: d.Reason, Refusal: d.Refusal}, nil
}
