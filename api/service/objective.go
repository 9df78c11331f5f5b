package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// CreateObjectiveParams are the params of objectives/create.
type CreateObjectiveParams struct {
	Name, Description string
	Metadata          a2a.Metadata
}

// GetObjectiveParams are the params of objectives/get.
type GetObjectiveParams struct {
	ID           string
	Plans, Tasks bool
}

// ListObjectivesParams are the params of objectives/list.
type ListObjectivesParams struct {
	Filter    opt.ObjectiveSearch // without its cursor
	Tasks     bool
	Standings bool // say how far the open ones are
	PageToken string
}

// ShownObjective is an objective and how much of it to show.
type ShownObjective struct {
	*opt.Objective
	Plans, Tasks bool
	Unconfirmed  []string // plans that had not confirmed a change when it was answered
}

// ObjectivePage is a page of objectives and how much of each to show.
type ObjectivePage struct {
	Objectives   []*opt.Objective
	Next         string // token of the next page, "" for none
	Total        int    // on all pages
	AtLeast      bool   // there may be more than Total
	Plans, Tasks bool
	Standings    map[string]opt.Standing // of open objectives, by id; nil unless they were asked for
}

// objectives creates and reads objectives, and reads plans.
type objectives struct {
	now    func() time.Time
	limits opt.Limits
	ids    ids
	read   reader
	out    writer
	pages  *pages
	quotas quotas
}

// CreateObjective opens an objective that waits: for plans, and for a message
// with its context id, which starts it. A repeat with the same key returns the
// objective of the first request.
func (s *objectives) CreateObjective(ctx context.Context, c *Call, p CreateObjectiveParams) (*opt.Objective, error) {
	id, err := s.ids.created(c)
	if err != nil {
		return nil, err
	}
	digest, err := digestOf(p)
	if err != nil {
		return nil, err
	}
	now := a2a.At(s.now())
	o := opt.Opening{
		Idle: !p.Metadata.Bool(opt.KeyAutoStart),
		Objective: opt.Objective{
			ID: id, ContextID: id, Tenant: c.Tenant, Principal: c.Principal, Name: p.Name, Description: p.Description, Digest: digest,
			Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Metadata: p.Metadata,
			CreatedAt: now, UpdatedAt: now, Attempt: 1, Revision: 1, Limits: s.limits,
		},
	}
	c.setIDs(id, "")
	if err := s.quotas.admit(ctx, c.Tenant, ofNewWork...); err != nil {
		if known, _ := s.read.objective(ctx, c, id); known == nil { // else this is a repeat
			return nil, err
		}
	}
	o, err = s.out.start(ctx, o)
	if errors.Is(err, opt.ErrEnded) { // the objective of the first request, which has ended
		return s.read.objective(ctx, c, id)
	}
	return &o.Objective, err
}

// GetObjective returns an objective.
func (s *objectives) GetObjective(ctx context.Context, c *Call, p GetObjectiveParams) (ShownObjective, error) {
	o, err := s.read.objective(ctx, c, p.ID)
	return ShownObjective{Objective: o, Plans: p.Plans, Tasks: p.Tasks}, err
}

// ListObjectives returns a page of the objectives of the caller's tenant, the newest
// first. A page of a search may have fewer of them than its size, or none, although there
// is a next page.
func (s *objectives) ListObjectives(ctx context.Context, c *Call, p ListObjectivesParams) (ObjectivePage, error) {
	f := p.Filter
	page := ObjectivePage{Plans: f.Plans, Tasks: p.Tasks}
	list := pageOf{kind: "objectives", tenant: c.Tenant, filter: []string{string(f.Status)}}
	if !f.Plain() {
		list.filter = append(list.filter, f.Text, f.ContextID, f.Planner, fmt.Sprint(f.Since.Millis(), f.Until.Millis()))
	}
	var err error
	if f.After, err = s.pages.cursor(ctx, list, p.PageToken); err != nil {
		return page, err
	}
	f.Limit++ // one more shows whether there is a next page
	next, err := s.find(ctx, c, f, &page)
	if err == nil && len(page.Objectives) == f.Limit {
		page.Objectives = page.Objectives[:f.Limit-1]
		last := page.Objectives[len(page.Objectives)-1]
		next = opt.Cursor{At: last.CreatedAt, ID: last.ID}
	}
	if err == nil && next != (opt.Cursor{}) {
		page.Next, err = s.pages.token(ctx, list, next)
	}
	if err == nil && p.Standings {
		page.Standings, err = s.standings(ctx, c, page.Objectives)
	}
	return page, err
}

// find reads the objectives of a page. A search returns the position down to which it has
// looked, if there are older objectives.
func (s *objectives) find(ctx context.Context, c *Call, f opt.ObjectiveSearch, page *ObjectivePage) (reached opt.Cursor, err error) {
	if f.Plain() {
		page.Objectives, page.Total, err = s.read.journal.Objectives(ctx, c.Tenant, f.ObjectiveFilter)
		return reached, err
	}
	found, err := s.read.journal.SearchObjectives(ctx, c.Tenant, f)
	page.Objectives, page.Total, page.AtLeast = found.Objectives, found.Total, found.AtLeast
	return found.Reached, err
}

// standings returns how far those of a list are that are open.
func (s *objectives) standings(ctx context.Context, c *Call, list []*opt.Objective) (map[string]opt.Standing, error) {
	var open []string
	for _, o := range list {
		if !o.Status.Ended() {
			open = append(open, o.ID)
		}
	}
	return s.read.journal.Standings(ctx, c.Tenant, open)
}
