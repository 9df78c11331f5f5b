package read

import (
	"context"
	"fmt"

	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// GetObjectiveParams are the params of objectives/get.
type GetObjectiveParams struct {
	ID    string `param:"id,needed"`
	Plans bool   `param:"includePlans,else true"`
	Tasks bool   `param:"includeTasks,else true"`
}

// ListObjectivesParams are the params of objectives/list.
type ListObjectivesParams struct {
	Filter    shown.ObjectiveSearch // without its cursor
	Tasks     bool                  `param:"includeTasks"`
	Standings bool                  // say how far the open ones are
	PageToken string                `param:"pageToken"`
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
	Found        []shown.TaskFound         // tasks, if the filter asks for them
	Standings    map[string]shown.Standing // of open objectives, by id; nil unless they were asked for
}

// An ObjectiveFinder finds objectives, and returns how far they are.
type ObjectiveFinder interface {
	Objectives(ctx context.Context, tenant string, f shown.ObjectiveFilter) ([]*opt.Objective, int, error)
	SearchObjectives(ctx context.Context, tenant string, f shown.ObjectiveSearch) (shown.ObjectivesFound, error)
	// Standings returns how far the given objectives are, as far as the tenant has them.
	Standings(ctx context.Context, tenant string, ids []string) (map[string]shown.Standing, error)
}

// Objectives reads objectives and plans.
type Objectives struct {
	Journal ObjectiveFinder
	Read    Reader
	Pages   *call.Pages

	Overviews *Overviews // say what waits for workers
	Events    *Events
}

// GetObjective returns an objective.
func (s *Objectives) GetObjective(ctx context.Context, c *call.Call, p GetObjectiveParams) (ShownObjective, error) {
	o, err := s.Read.Objective(ctx, c, p.ID)
	if err == nil && p.Plans && p.Tasks {
		err = s.Overviews.addWaits(ctx, c, s.Events, o.ID, o.Plans...)
	}
	return ShownObjective{Objective: o, Plans: p.Plans, Tasks: p.Tasks}, err
}

// ListObjectives returns a page of the objectives of the caller's tenant, in the order of
// the filter. A page of a search may have fewer of them than its size, or none, although there
// is a next page.
func (s *Objectives) ListObjectives(ctx context.Context, c *call.Call, p ListObjectivesParams) (ObjectivePage, error) {
	f := p.Filter
	page := ObjectivePage{Plans: f.Plans, Tasks: p.Tasks}
	list := call.PageOf{Kind: "objectives", Tenant: c.Tenant, Filter: []string{string(f.Status)}}
	if !f.Plain() {
		list.Filter = append(list.Filter, f.Text, f.ContextID, f.Planner, fmt.Sprint(f.Since.Millis(), f.Until.Millis()))
	}
	if f.Principal+f.Failure+string(f.Sort) != "" { // else the tokens of earlier builds stay valid
		list.Filter = append(list.Filter, f.Principal, f.Failure, string(f.Sort))
	}
	var err error
	if f.After, err = s.Pages.Cursor(ctx, list, p.PageToken); err != nil {
		return page, err
	}
	f.Limit++ // one more shows whether there is a next page
	next, err := s.find(ctx, c, f, &page)
	if err == nil && len(page.Objectives) == f.Limit {
		page.Objectives = page.Objectives[:f.Limit-1]
		last := page.Objectives[len(page.Objectives)-1]
		next = shown.Cursor{At: f.Sort.At(last), ID: last.ID}
	}
	if err == nil && next != (shown.Cursor{}) {
		page.Next, err = s.Pages.Token(ctx, list, next)
	}
	if err == nil && p.Standings {
		page.Standings, err = s.standings(ctx, c, page.Objectives)
	}
	return page, err
}

// find reads the objectives of a page. A search returns the position down to which it has
// looked, if there are older objectives.
func (s *Objectives) find(ctx context.Context, c *call.Call, f shown.ObjectiveSearch, page *ObjectivePage) (reached shown.Cursor, err error) {
	if f.Plain() {
		page.Objectives, page.Total, err = s.Journal.Objectives(ctx, c.Tenant, f.ObjectiveFilter)
		return reached, err
	}
	found, err := s.Journal.SearchObjectives(ctx, c.Tenant, f)
	page.Objectives, page.Total, page.AtLeast, page.Found = found.Objectives, found.Total, found.AtLeast, found.Tasks
	return found.Reached, err
}

// standings returns how far the open ones of a list are.
func (s *Objectives) standings(ctx context.Context, c *call.Call, list []*opt.Objective) (map[string]shown.Standing, error) {
	var open []string
	for _, o := range list {
		if !o.Status.Ended() {
			open = append(open, o.ID)
		}
	}
	return s.Journal.Standings(ctx, c.Tenant, open)
}

// GetPlanParams are the params of plans/get.
type GetPlanParams struct {
	ID    string `param:"id,needed"`
	Tasks bool   `param:"includeTasks,else true"`
}

// ShownPlan is a plan and how much of it to show.
type ShownPlan struct {
	*opt.Plan
	Tasks       bool
	Unconfirmed []string // plans that had not confirmed a change when it was answered
}

// A ShownTask is a plan task and, for a method that moves it, its plan and
// objective.
type ShownTask struct {
	Task      *opt.Task
	Plan      *opt.Plan
	Objective *opt.Objective
}

// GetPlan returns a plan.
func (s *Objectives) GetPlan(ctx context.Context, c *call.Call, p GetPlanParams) (ShownPlan, error) {
	o, plan, err := s.Read.Plan(ctx, c, p.ID)
	if err == nil && p.Tasks {
		err = s.Overviews.addWaits(ctx, c, s.Events, o.ID, plan)
	}
	return ShownPlan{Plan: plan, Tasks: p.Tasks}, err
}
