package message

import (
	"context"

	"longhaul/a2a"
	"longhaul/opt"
)

// An Agent decides how a message is handled.
type Agent interface {
	// Decide starts nothing: the message may be sent later, again, or never.
	Decide(ctx context.Context, m a2a.Message) (Decision, error)
}

// A Decision is an answer, or plans. With neither, a worker plans the work.
type Decision struct {
	Answer  *a2a.Message   // to be sent now; nothing is stored
	Plans   []opt.PlanSpec // if they are already known
	Planner string         // the planner that made the plans or must make them
	Reason  string         // for people
	Refusal string         // why a worker will reject the work, for people; "" if it will not, or that is not known
}
