package activities

import (
	"context"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Planner turns a request into plans. Plan may be called again for the same
// request after a crash; only the first answer that Temporal records counts. An
// error is repeated; [ErrNoPlan] is final. The usage counts beside an error, too.
type Planner interface {
	Plan(ctx context.Context, r Request) (Planned, error)
}

// Planned is what a planner has made of a request.
type Planned struct {
	Plans   []opt.PlanSpec `json:"plans"`
	Planner string         `json:"planner,omitempty"` // who made them, such as "playbook research"
	Reason  string         `json:"reason,omitempty"`  // why it made these plans, for people
	Usage   *opt.Usage     `json:"usage,omitempty"`   // of the models that it has asked
}

// A Request is what a planner is asked to plan.
type Request struct {
	ObjectiveID string       `json:"objectiveId"`
	Tenant      string       `json:"tenant"`
	Name        string       `json:"name"`
	Description string       `json:"description,omitempty"`
	Message     *a2a.Message `json:"message,omitempty"` // untrusted
	Replan      bool         `json:"replan,omitempty"`  // the objective has plans, which the new ones replace; without new ones they continue
	Keep        bool         `json:"keep,omitempty"`    // with Replan: the plans stay unless the planner returns better ones
}
