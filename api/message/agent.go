package message

import (
	"context"

	"longhaul/a2a"
	"longhaul/api/call"
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
	Accepts bool           // the plans have the acceptance of their result that the message asks for, if it does
}

// BadCriteria is the error for a message whose criteria, under [opt.KeyAccept], have a problem.
func BadCriteria(problem string) error {
	return call.InvalidField("message.metadata."+opt.KeyAccept, problem)
}

// checkCriteria refuses a message whose criteria the decision about it does not have. Without plans, a
// worker adds them.
func (d Decision) checkCriteria(m a2a.Message) error {
	if m.Metadata.Has(opt.KeyAccept) && !d.Accepts && (d.Answer != nil || len(d.Plans) > 0) {
		return BadCriteria("is not for what the agent of this server makes of the message")
	}
	return nil
}
