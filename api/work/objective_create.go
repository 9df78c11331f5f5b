package work

import (
	"context"
	"errors"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/api/write"
	"longhaul/opt"
)

// CreateObjectiveParams are the params of objectives/create.
type CreateObjectiveParams struct {
	Name        string       `param:"name,name"`
	Description string       `param:"description,text"`
	Metadata    a2a.Metadata `param:"metadata"`
}

// Maker creates objectives.
type Maker struct {
	Read   read.Reader
	Out    write.Writer
	IDs    call.IDs
	Quotas write.Quotas
	Limits opt.Limits
	Now    func() time.Time
}

// CreateObjective opens an objective that waits: for plans, and for a message
// with its context id, which starts it. A repeat with the same key returns the
// objective of the first request.
func (s *Maker) CreateObjective(ctx context.Context, c *call.Call, p CreateObjectiveParams) (*opt.Objective, error) {
	id, err := s.IDs.Made(c, "create")
	if err != nil {
		return nil, err
	}
	digest, err := digestOf(p)
	if err != nil {
		return nil, err
	}
	now := a2a.At(s.Now())
	o := opt.Opening{
		Idle: !p.Metadata.Bool(opt.KeyAutoStart),
		Objective: opt.Objective{
			ID: id, ContextID: id, Tenant: c.Tenant, Principal: c.Principal, Name: p.Name, Description: p.Description, Digest: digest,
			Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Metadata: p.Metadata,
			CreatedAt: now, UpdatedAt: now, Attempt: 1, Revision: 1, Limits: s.Quotas.Counted(s.Limits, c.Tenant),
		},
	}
	c.SetIDs(id, "")
	if err := s.Quotas.AdmitWork(ctx, c.Tenant, id, write.OfNewWork...); err != nil {
		if known, _ := s.Read.Objective(ctx, c, id); known == nil { // else this is a repeat
			return nil, err
		}
	}
	o, err = s.Out.Start(ctx, o)
	if errors.Is(err, opt.ErrEnded) { // the objective of the first request, which has ended
		known, err := s.Read.Objective(ctx, c, id)
		if err == nil && known.Digest != digest {
			err = opt.ErrConflict
		}
		return known, err
	}
	return &o.Objective, err
}
