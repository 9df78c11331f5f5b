package workflows

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"

	"go.temporal.io/sdk/workflow"

	"longhaul/activities"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// contextEvents is how long a Context's history may get. It is well below
// Temporal's suggestion, since many signals can arrive before the run has ended.
const contextEvents = 3000

// Context gives the turn in a context to one objective at a time, for as long as
// more than one wants it.
func Context(ctx workflow.Context, in ContextInput) error {
	m := machine.NewContext(in.Tenant, in.ContextID, rulesOf(in.Rules))
	if in.State != nil {
		m.State = *in.State
	}
	checkRules(m.State.Rules)
	most := contextEvents
	if in.MaxEvents > 0 {
		most = min(in.MaxEvents, contextEvents)
	}
	h := newHost(ctx, m, &contextPart{m}, drive.Source{}, most)
	on(h, EnterSignal, func(in machine.Enter) machine.Input { return in })
	on(h, RequestSignal, func(in machine.TurnRequest) machine.Input { return in })
	if h.run() {
		m.State.Rules = machine.Rules
		in.State = &m.State
		return workflow.NewContinueAsNewError(h.ctx, Context, in)
	}
	return nil
}

// A contextPart carries out the wants of a context.
type contextPart struct{ m *machine.Context }

func (c *contextPart) activity(ctx workflow.Context, a machine.Activity, _ []opt.Batch, _ drive.Tries) (workflow.Future, outcome) {
	in := activities.Asking{Tenant: c.m.State.Tenant, ContextID: c.m.State.ContextID}
	f := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, readOptions("List the objectives in the context")), acts.FloorOf, in)
	return f, func(ctx workflow.Context, f workflow.Future) machine.Input {
		var floor activities.Floor
		err := f.Get(ctx, &floor)
		return machine.Listed{Key: a.Key, Begun: floor.Begun, Waiting: floor.Waiting, Failed: err != nil}
	}
}

func (c *contextPart) child(workflow.Context, machine.Child) workflow.ChildWorkflowFuture {
	panic("a context has no children")
}

func (c *contextPart) message(s machine.Signal) (workflowID, name string, arg any) {
	return s.To, TurnSignal, c.m.Message(s.To)
}

// contextWorkflowID returns the id of the workflow of a context. It holds a
// digest, since clients choose the ids of contexts freely, with any length.
func contextWorkflowID(tenant, contextID string) string {
	sum := sha256.Sum256([]byte(tenant + "\x00" + contextID))
	return "ctx-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
}
