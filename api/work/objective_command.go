package work

import (
	"context"

	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
)

// UpdateObjectiveParams are the params of objectives/update.
type UpdateObjectiveParams struct {
	ID     string `param:"id,needed"`
	Change opt.Change
	Status opt.ObjectiveStatus `param:"status"`    // "" to stay
	Seen   int64               `param:",revision"` // the revision that the client saw, 0 for any
}

// ReplanParams are the params of objectives/replan.
type ReplanParams struct {
	ID     string `param:"id,needed"`
	Reason string `param:"reason,text"`
	Seen   int64  `param:",revision"`
}

// Objectives changes objectives and plans for clients.
type Objectives struct{ *Commands }

// UpdateObjective changes an objective. The only change of an ended objective is
// a new attempt.
func (s Objectives) UpdateObjective(ctx context.Context, c *call.Call, p UpdateObjectiveParams) (read.ShownObjective, error) {
	if err := c.RequireScopes(call.ScopesOfChange(string(p.Status), !p.Change.Empty())...); err != nil {
		return read.ShownObjective{}, err
	}
	cmd := opt.Command{Kind: opt.UpdateObjective, ObjectiveID: p.ID, Seen: p.Seen, Status: string(p.Status)}
	if !p.Change.Empty() {
		cmd.Change = &p.Change
	}
	answer, err := s.perform(ctx, c, cmd)
	if err != nil {
		return read.ShownObjective{}, err
	}
	if p.Status.Ended() {
		if err := s.waitForEnd(ctx, c, p.ID, s.CancelWait); err != nil {
			return read.ShownObjective{}, err
		}
	}
	o, err := s.Read.Objective(ctx, c, p.ID)
	return read.ShownObjective{Objective: o, Plans: true, Tasks: true, Unconfirmed: answer.Waiting}, err
}

// Replan makes the planner replace the plans that have not ended. The answer shows
// the objective during the planning.
func (s Objectives) Replan(ctx context.Context, c *call.Call, p ReplanParams) (read.ShownObjective, error) {
	if err := c.RequireScopes(call.CreateRuns, call.CancelRuns); err != nil { // it also ends the open plans
		return read.ShownObjective{}, err
	}
	cmd := opt.Command{Kind: opt.Replan, ObjectiveID: p.ID, Seen: p.Seen, Text: p.Reason}
	answer, err := s.perform(ctx, c, cmd)
	if err != nil {
		return read.ShownObjective{}, err
	}
	o, err := s.Read.Objective(ctx, c, p.ID)
	if err == nil && o.Started && !o.Status.Ended() {
		o.Status = opt.ObjectivePlanning // planning may have ended already
	}
	return read.ShownObjective{Objective: o, Plans: true, Tasks: true, Unconfirmed: answer.Waiting}, err
}
