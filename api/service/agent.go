package service

import (
	"context"

	"longhaul/a2a"
	"longhaul/opt"
)

// An Agent decides what a message becomes.
type Agent interface {
	Decide(ctx context.Context, m a2a.Message) (Decision, error)
}

// A Decision is an answer, or a plan, or neither: then the work needs planning.
type Decision struct {
	Answer  *a2a.Message   // to be sent now; nothing is stored
	Plans   []opt.PlanSpec // known already
	Planner string         // which planner is to plan, or has
	Reason  string         // for people
}
