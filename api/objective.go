package api

import (
	"context"
	"errors"

	"longhaul/a2a"
	"longhaul/api/wire"
	"longhaul/opt"
)

// createObjective opens an objective that waits: for plans, and for a message
// with its context id, which starts it.
func (s *Server) createObjective(ctx context.Context, c *call, p wire.CreateObjectiveParams) (*opt.Objective, error) {
	id, err := s.randomObjectiveID()
	if err != nil {
		return nil, err
	}
	now := a2a.At(s.cfg.Now())
	o := opt.Opening{
		Idle: !p.Metadata.Bool(opt.KeyAutoStart),
		Objective: opt.Objective{
			ID: id, ContextID: id, Tenant: c.Tenant, Principal: c.Principal, Name: p.Name, Description: p.Description,
			Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Metadata: p.Metadata,
			CreatedAt: now, UpdatedAt: now, Attempt: 1, Revision: 1,
		},
	}
	c.saw(id, "")
	o, err = s.start(ctx, o)
	return &o.Objective, err
}

// objective reads an objective that the caller names.
func (s *Server) objective(ctx context.Context, c *call, id string) (*opt.Objective, error) {
	missing := optNotFound("OBJECTIVE_NOT_FOUND", "Objective", id)
	if !plausible(id) {
		return nil, missing
	}
	o, err := s.cfg.Journal.Objective(ctx, c.Tenant, id)
	if errors.Is(err, opt.ErrUnknown) {
		return nil, missing
	}
	if err == nil {
		c.saw(id, "")
	}
	return o, err
}

// getObjective returns an objective.
func (s *Server) getObjective(ctx context.Context, c *call, p wire.GetObjectiveParams) (wire.ShownObjective, error) {
	o, err := s.objective(ctx, c, p.ID)
	return wire.ShownObjective{Objective: o, Plans: p.Plans, Tasks: p.Tasks}, err
}

// listObjectives returns a page of the caller's objectives, the newest first.
func (s *Server) listObjectives(ctx context.Context, c *call, p wire.ListObjectivesParams) (wire.ObjectivePage, error) {
	page := wire.ObjectivePage{Plans: p.Filter.Plans, Tasks: p.Tasks}
	list := pageOf{kind: "objectives", tenant: c.Tenant, filter: []string{string(p.Filter.Status)}}
	f := p.Filter
	var err error
	if f.After, err = s.cursor(ctx, list, p.PageToken); err != nil {
		return page, err
	}
	f.Limit++ // one more tells whether there is a next page
	page.Objectives, page.Total, err = s.cfg.Journal.Objectives(ctx, c.Tenant, f)
	if err != nil || len(page.Objectives) < f.Limit {
		return page, err
	}
	page.Objectives = page.Objectives[:f.Limit-1]
	last := page.Objectives[len(page.Objectives)-1]
	page.Next, err = s.token(ctx, list, opt.Cursor{At: last.CreatedAt, ID: last.ID})
	return page, err
}
